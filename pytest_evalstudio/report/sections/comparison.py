"""Comparison of the run with its baseline."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.comparison.results import ITEM_CLASSES, VERDICTS, ItemChange
from pytest_evalstudio.comparison.sentences import interval_text, summary_of
from pytest_evalstudio.comparison.text import changed_lines
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section
from pytest_evalstudio.report.worddiff import Stretch, changed_words

CHANGES_SHOWN = 100
ANSWER_CHARS = 600
_SHOWN = ("regressed", "error_now", "fixed", "new", "gone")


@section("comparison", title="Comparison with the baseline", order=10, tab="compare")
def comparison(content: Content) -> Mapping[str, object] | None:
    """Show summary, counts, changed items and metrics; nothing without a baseline."""
    result = content.comparison
    if result is None:
        return None
    deciding = [metric for metric in result.metrics if metric.decides]
    changes = [change for change in result.changes if change.item_class in _SHOWN]
    changed, *details = changed_lines(result)
    return {
        "comparison": result,
        "summary": str(summary_of(result)),
        "changed": changed,
        "details": details,
        "counts": [
            f"{result.items[name]:,} {name.replace('_', ' ')}" for name in ITEM_CLASSES if result.items[name]
        ],
        "changes": [(change, *_answers(change)) for change in changes[:CHANGES_SHOWN]],
        "names": {id: info.name for id, info in content.analysis.evaluators.items()},
        "left_out": max(0, len(changes) - CHANGES_SHOWN),
        "metrics": [
            (metric, interval_text(metric))
            for metric in sorted(deciding, key=lambda metric: VERDICTS.index(metric.verdict))
            if metric.difference
        ],
        "unchanged": sum(not metric.difference for metric in deciding),
    }


def _answers(change: ItemChange) -> tuple[list[Stretch], list[Stretch]]:
    """Return both answers with the words that differ; nothing without the answer of the baseline."""
    if not change.base_answer:
        return [], []
    return changed_words(change.base_answer[:ANSWER_CHARS], change.answer[:ANSWER_CHARS])
