"""Sign-offs of a workflow by people: who concluded what, when, and on which basis."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import msgspec

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.engine.scoring.masking import masked
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.mrm.artifacts.fingerprints import Fingerprints, changes, fingerprints
from pytest_evalstudio.mrm.workflow.results import json_ready
from pytest_evalstudio.mrm.workflow.run import WorkflowRun
from pytest_evalstudio.mrm.workflow.states import SIGN_OFFS
from pytest_evalstudio.record.schema import SignOffEntry

VERSION = 1
Role = Literal["developer", "validator", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)
Decision = Literal["fit", "fit with limits", "not fit", "insufficient evidence"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOff:
    """A person's decision on a model.

    Attributes:
        decision: the person's, which may differ from the report's.
        conclusion: of the report when it was signed.
        date: ISO 8601 with time zone.
        basis: fingerprints of everything that the decision rests on.
    """

    role: Role
    name: str
    decision: Decision
    conclusion: str
    comment: str
    date: str
    basis: Fingerprints


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOffStatus:
    """A sign-off today.

    Attributes:
        void: what has changed since; empty for a valid one.
    """

    sign_off: SignOff
    void: tuple[str, ...]

    @property
    def entry(self) -> SignOffEntry:
        """Return the entry of a record, with personal data and secrets in texts masked."""
        signed = self.sign_off
        return SignOffEntry(
            role=signed.role,
            name=signed.name,
            decision=signed.decision,
            comment=masked(signed.comment),
            date=signed.date,
            void=tuple(map(masked, self.void)),
        )

    @property
    def is_valid(self) -> bool:
        """Report whether nothing that the sign-off rests on has changed."""
        return not self.void


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    version: int
    sign_offs: tuple[SignOff, ...]


def sign(
    run: WorkflowRun, *, role: Role, name: str, decision: Decision, conclusion: str, comment: str
) -> SignOff:
    """Store a sign-off with the workflow; earlier ones stay in the file.

    Args:
        run: of a workflow whose model is evaluated.
        role: of the person.
        name: of the person.
        decision: on the model.
        conclusion: of the report.
        comment: reasons and conditions.

    Raises:
        ConfigurationError: if the name is empty.
        DataError: if the file of sign-offs cannot be read, or another run is at work on the workflow.
    """
    if not name.strip():
        raise ConfigurationError("--name is empty; give the name of the person who signs")
    sign_off = SignOff(
        role=role,
        name=name.strip(),
        decision=decision,
        conclusion=conclusion,
        comment=comment.strip(),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        basis=fingerprints(run),
    )
    with run.locked():
        earlier_sign_offs = read_sign_offs(run.folder / SIGN_OFFS)
        write_json(
            run.folder / SIGN_OFFS,
            json_ready(_File(version=VERSION, sign_offs=(*earlier_sign_offs, sign_off))),
        )
    return sign_off


def sign_offs(run: WorkflowRun) -> tuple[SignOffStatus, ...]:
    """Return the last sign-off of each role, with what has changed since.

    Raises:
        DataError: if the file of sign-offs cannot be read.
    """
    return tuple(_statuses(read_sign_offs(run.folder / SIGN_OFFS), run))


def _statuses(earlier_sign_offs: tuple[SignOff, ...], run: WorkflowRun) -> Iterator[SignOffStatus]:
    if not earlier_sign_offs:
        return
    today = fingerprints(run)
    last = {signed.role: signed for signed in earlier_sign_offs}
    for role in ROLES:
        if role in last:
            yield SignOffStatus(sign_off=last[role], void=tuple(changes(last[role].basis, today)))


def read_sign_offs(path: Path) -> tuple[SignOff, ...]:
    """Return all sign-offs of a file, the oldest first; none without a file.

    Raises:
        DataError: if it cannot be read.
    """
    try:
        content = msgspec.json.decode(read_bytes(path), type=_File)
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.DecodeError) as exc:
        raise DataError(
            f"cannot be read: {exc}; correct the file, or remove it and sign again", source=str(path)
        ) from None
    if content.version != VERSION:
        raise DataError(
            f"has version {content.version}, and this version reads {VERSION}; sign again", source=str(path)
        )
    return content.sign_offs
