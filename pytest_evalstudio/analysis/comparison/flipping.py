"""Test cases over several runs: how often the outcome of a case changes though its test does not."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pytest_evalstudio.analysis.comparison.changed_tests import changed_parts
from pytest_evalstudio.analysis.comparison.sides import Identity, Side

_DECIDED = ("passed", "failed", "error")


class CaseTrend(Struct, frozen=True, kw_only=True):
    """Outcomes of a test case of one model over all runs.

    Attributes:
        part: 0, or the number of a part of the case.
        outcomes: "passed", "failed", "error", "skipped" or "not_run" in each run; "" where it is not there.
        changed: numbers of the runs, from 1, whose test is not that of the run before that has the case.
        flips: how often it changed between passing and not passing in runs of the same test. An outcome of
            a run that did not decide it is left out.
    """

    file: str
    key: str
    model: str
    part: int = 0
    outcomes: tuple[str, ...]
    changed: tuple[int, ...] = ()
    flips: int = 0


def flipping_cases(sides: Sequence[Side]) -> tuple[CaseTrend, ...]:
    """Return the cases that flip at least once, the most frequent first, then in the order of the runs."""
    identities = dict.fromkeys(identity for side in sides for identity in side.items)
    trends = [_trend(sides, identity) for identity in identities]
    return tuple(sorted((trend for trend in trends if trend.flips), key=lambda trend: -trend.flips))


def _trend(sides: Sequence[Side], identity: Identity) -> CaseTrend:
    """Return the outcomes of a case in each run."""
    outcomes: list[str] = []
    changed: list[int] = []
    flips = 0
    digest, passed = b"", None
    for number, side in enumerate(sides, 1):
        item = side.items.get(identity)
        outcomes.append("" if item is None else item.outcome)
        if item is None:
            continue
        if changed_parts(digest, item.digest):
            changed.append(number)
            passed = None
        digest = item.digest or digest
        if item.outcome in _DECIDED:
            flips += passed is not None and passed != (item.outcome == "passed")
            passed = item.outcome == "passed"
    file, key, model, part = identity
    return CaseTrend(
        file=file,
        key=key,
        model=model,
        part=part,
        outcomes=tuple(outcomes),
        changed=tuple(changed),
        flips=flips,
    )
