"""Test cases that are not the same in two runs: what they ask and expect, or the rules that judge them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from pytest_evalstudio.analysis.comparison.results import ChangedTest, MovedThreshold
from pytest_evalstudio.record.schema import CaseDigest
from pytest_evalstudio.text.figures import counted

_RULES = ("thresholds of ", "options of ")
PARTS_SHOWN = 3
"""Kinds of changes that a sentence names."""


def digest_bytes(digest: CaseDigest | msgspec.Raw | None) -> bytes:
    """Return the digest of a case as bytes, which are equal for equal cases; b"" for none."""
    if isinstance(digest, CaseDigest):
        return msgspec.json.encode(digest)
    text = bytes(digest) if digest else b""
    return b"" if text == b"null" else text


def changed_parts(base: bytes, new: bytes) -> tuple[str, ...]:
    """Return what differs between two digests of a case; () where one of them is not known.

    Rules of an evaluator that only one run has are not compared.

    >>> first = CaseDigest(parts={"question": "a1", "condition": "b2"}, thresholds={"rouge": "c3"})
    >>> second = CaseDigest(parts={"question": "a1", "expects": "d4"}, thresholds={"bleu": "e5"})
    >>> changed_parts(digest_bytes(first), digest_bytes(second))
    ('condition', 'expects')
    """
    if base == new or not base or not new:
        return ()
    first, second = (msgspec.json.decode(each, type=CaseDigest) for each in (base, new))
    return tuple(_changed(first, second))


def _changed(base: CaseDigest, new: CaseDigest) -> Iterator[str]:
    for name in dict.fromkeys([*base.parts, *new.parts]):
        if base.parts.get(name) != new.parts.get(name):
            yield name
    for id in sorted(base.thresholds.keys() & new.thresholds.keys()):
        if base.thresholds[id] != new.thresholds[id]:
            yield f"{_RULES[0]}{id}"
        if base.options.get(id) != new.options.get(id):
            yield f"{_RULES[1]}{id}"


def is_rule(part: str) -> bool:
    """Return whether a part of a test is a rule of an evaluator."""
    return part.startswith(_RULES)


def parts_of(changed: Collection[ChangedTest]) -> tuple[str, ...]:
    """Return what differs in some changed tests, the most frequent first."""
    counts: dict[str, int] = {}
    for each in changed:
        for part in each.parts:
            counts[part] = counts.get(part, 0) + 1
    return tuple(sorted(counts, key=lambda part: -counts[part]))


def changed_sentence(changed: Sequence[ChangedTest], moved: Sequence[MovedThreshold] = ()) -> str:
    """Return how many tests changed and in what, "" for none.

    Args:
        moved: thresholds of the whole run, which are named with their values.

    >>> test = ChangedTest(file="s.json", key="k", model="m", nodeid="s.json::k", parts=("condition",))
    >>> changed_sentence([test])
    '1 changed test left out (condition)'
    """
    if not changed:
        return ""
    values: dict[str, list[str]] = {}
    for each in moved:
        values.setdefault(f"{_RULES[0]}{each.metric.partition('.')[0]}", []).append(str(each))
    names = [", ".join(values.get(part, [part])) for part in parts_of(changed)]
    more = f" and {len(names) - PARTS_SHOWN} more" if len(names) > PARTS_SHOWN else ""
    return f"{counted(len(changed), 'changed test')} left out ({', '.join(names[:PARTS_SHOWN])}{more})"
