"""Section of the page: mutation test of the run's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

if TYPE_CHECKING:
    from pytest_evalstudio.contrib.mutation.results import MutationResult, Share, Survivor
    from pytest_evalstudio.text.windows import Piece

CASES_SHOWN = 100
SURVIVORS_SHOWN = 6
"""Survivors of each kind of damage: enough to see what the suite misses."""


class SurvivorGroup(Struct, frozen=True, kw_only=True):
    """Damaged answers of one kind that pass.

    Attributes:
        shown: the first of them, each with its change.
    """

    kind: str
    total: int
    shown: Sequence[tuple[Survivor, Sequence[Piece]]]


@section("mutation", title="Mutation test of the suite", order=5, tab="evaluators")
def mutation(content: Content) -> Mapping[str, object] | None:
    """Show the mutation score by kind, evaluator and case, and damaged answers that pass."""
    # Most reports have nothing attached, and need not load the results of mutation tests.
    if not content.attached:
        return None
    from pytest_evalstudio.contrib.mutation.results import MutationResult

    result = content.part(MutationResult)
    if result is None:
        return None
    return {
        "result": result,
        "tables": [
            ("Kind of damage", _lowest_first(result.kinds)),
            ("Evaluator", _lowest_first(result.evaluators)),
            ("Case", _lowest_first(result.by_case)[:CASES_SHOWN]),
        ],
        "harmless": [share for share in result.harmless if share.failed],
        "survivors": _survivor_groups(result),
    }


def _survivor_groups(result: MutationResult) -> list[SurvivorGroup]:
    """Return the survivors by kind of damage, most survivors first."""
    from pytest_evalstudio.text.windows import change_windows

    by_kind: defaultdict[str, list[Survivor]] = defaultdict(list)
    for survivor in result.survivors:
        by_kind[survivor.kind].append(survivor)
    totals = {share.name: share.total - share.failed for share in result.kinds}
    return [
        SurvivorGroup(
            kind=kind,
            total=totals.get(kind, len(by_kind[kind])),
            shown=[
                (survivor, change_windows(survivor.original, survivor.text))
                for survivor in by_kind[kind][:SURVIVORS_SHOWN]
            ],
        )
        for kind in sorted(by_kind, key=lambda kind: (-totals.get(kind, 0), kind))
    ]


def _lowest_first(shares: Sequence[Share]) -> list[Share]:
    return sorted(shares, key=lambda share: (share.value or 0.0, share.name))
