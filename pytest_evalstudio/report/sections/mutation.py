"""Mutation test of the run's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.comparison.windows import change_windows
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

if TYPE_CHECKING:
    from pytest_evalstudio.mutation.results import Share

SURVIVORS_SHOWN = 100


@section("mutation", title="Mutation test of the suite", order=5, tab="evaluators")
def mutation(content: Content) -> Mapping[str, object] | None:
    """Show the mutation score by kind, evaluator and case, and damaged answers that pass."""
    result = content.mutation
    if result is None:
        return None
    survivors = result.survivors[:SURVIVORS_SHOWN]
    return {
        "result": result,
        "tables": [
            ("Kind of damage", _lowest_first(result.kinds)),
            ("Evaluator", _lowest_first(result.evaluators)),
            ("Case", _lowest_first(result.by_case)[:SURVIVORS_SHOWN]),
        ],
        "harmless": [share for share in result.harmless if share.failed],
        "survivors": [(survivor, change_windows(survivor.original, survivor.text)) for survivor in survivors],
        "left_out": result.score.total - result.score.failed - len(survivors),
    }


def _lowest_first(shares: Sequence[Share]) -> list[Share]:
    return sorted(shares, key=lambda share: (share.value or 0.0, share.name))
