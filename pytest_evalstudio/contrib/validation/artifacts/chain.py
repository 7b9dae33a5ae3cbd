"""Chain of hashes: each link covers a sign-off, its evidence, its report and the link before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from pytest_evalstudio.contrib.validation.artifacts.evidence import SECTIONS, Digests
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.reading import read_bytes

VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StepException:
    """An open step that a sign-off accepts.

    Attributes:
        step: id.
        reason: of the person who signs.
    """

    step: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFinding:
    """An open finding that an override of the conclusion accepts.

    Attributes:
        id: in the register, or code of a gap of evidence.
        reason: of the person who signs.
    """

    id: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOff:
    """A person's decision on a model.

    Attributes:
        decision: the person's, which may differ from the report's.
        conclusion: of the report when it was signed.
        comment: reasons and conditions; never empty where the decision differs from the conclusion.
        date: ISO 8601 with time zone.
        exceptions: steps that were not completed.
        accepted: open findings that the person accepts against the conclusion.
        is_signed: True if a detached signature of the head belongs to it.
    """

    role: str
    name: str
    decision: str
    conclusion: str
    comment: str
    date: str
    exceptions: tuple[StepException, ...] = ()
    accepted: tuple[AcceptedFinding, ...] = ()
    is_signed: bool = False

    @property
    def overridden(self) -> str:
        """Return the conclusion of the report if the person decided otherwise, else ""."""
        return "" if self.decision == self.conclusion else self.conclusion

    @property
    def exception_text(self) -> str:
        """Return the exception from the computed conclusion in words; "" for none."""
        if not self.overridden:
            return ""
        reasons = "".join(f"; {each.id}: {each.reason}" for each in self.accepted)
        return (
            f"EXCEPTION: {self.name} ({self.role}) decides {self.decision!r} against the computed conclusion"
            f" {self.overridden!r}: {self.comment}{reasons}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """A link of the chain.

    Attributes:
        previous: head of the link before, "" for the first.
        sign_off: that it covers.
        digests: of the evidence and of the report.
        head: of the chain with this link.
    """

    previous: str
    sign_off: SignOff
    digests: Digests
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    version: int
    links: tuple[ChainLink, ...]


def link(previous: str, sign_off: SignOff, digests: Digests) -> ChainLink:
    """Return the link of a sign-off."""
    return ChainLink(
        previous=previous, sign_off=sign_off, digests=digests, head=head_of(previous, sign_off, digests)
    )


def head_of(previous: str, sign_off: SignOff, digests: Digests) -> str:
    """Return the head of the chain with a link: SHA-256, hexadecimal.

    The sections are hashed in their order, each together with the hash so far. So the head commits to all
    bytes of the evidence, to the sign-off, and to all earlier links.

    >>> fit = {"decision": "fit", "conclusion": "fit"}
    >>> signed = SignOff(role="validator", name="A", comment="", date="2026", **fit)
    >>> head_of("", signed, {"documents": {"a.md": "1"}}) == head_of("", signed, {"documents": {"a.md": "2"}})
    False
    """
    head = _hashed(previous, "sign_off", msgspec.to_builtins(sign_off))
    for section in SECTIONS:
        head = _hashed(head, section, dict(digests.get(section, {})))
    return head


def _hashed(previous: str, name: str, content: Mapping[str, Any]) -> str:
    # Sorted and without spaces, so that equal contents have the same hash everywhere.
    text = json.dumps([previous, name, content], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def encoded_links(links: Sequence[ChainLink]) -> bytes:
    """Return the file of a chain; equal links have equal bytes."""
    content = msgspec.to_builtins(_File(version=VERSION, links=tuple(links)))
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def read_links(path: Path) -> tuple[ChainLink, ...]:
    """Return the links of a file, the oldest first; none without a file.

    Raises:
        DataError: if it cannot be read.
    """
    try:
        return decoded_links(read_bytes(path), str(path))
    except FileNotFoundError:
        return ()
    except OSError as exc:
        raise DataError(f"cannot be read: {exc.strerror}", source=str(path)) from None


def decoded_links(content: bytes, source: str) -> tuple[ChainLink, ...]:
    """Return the links of a file's content.

    Raises:
        DataError: if it is no file of sign-offs.
    """
    try:
        version = msgspec.json.decode(content, type=dict[str, Any]).get("version")
        if version != VERSION:
            raise DataError(
                f"has version {version}, and this version reads {VERSION}; remove it and sign again",
                source=source,
            )
        return msgspec.json.decode(content, type=_File).links
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as exc:
        raise DataError(
            f"cannot be read: {exc}; correct the file, or remove it and sign again", source=source
        ) from None


def broken_links(links: Sequence[ChainLink]) -> Iterator[str]:
    """Yield the links whose content does not have their head, or that do not follow the one before."""
    previous = ""
    for item in links:
        name = f"sign-off of {item.sign_off.name} ({item.sign_off.role}, {item.sign_off.date})"
        if item.head != head_of(item.previous, item.sign_off, item.digests):
            yield f"{name} was changed: its content does not have the head {item.head[:16]}…"
        if item.previous != previous:
            yield f"{name} does not follow the sign-off before it: one was removed, added or moved"
        previous = item.head
