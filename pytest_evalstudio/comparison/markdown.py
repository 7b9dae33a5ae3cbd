"""A comparison as Markdown, for pull requests and CI summaries."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.comparison.results import ITEM_CLASSES, Comparison, MetricComparison
from pytest_evalstudio.comparison.text import word_diff
from pytest_evalstudio.core.markdown import code, escaped

CHANGES_SHOWN = 10
METRICS_SHOWN = 30


def comparison_markdown(comparison: Comparison, *, level: int = 1) -> str:
    """Return the comparison: verdict, counts, regressed items with word diffs, metrics with intervals.

    Args:
        level: of the heading.
    """
    lines = [f"{'#' * level} Compared with {escaped(str(comparison.base))}: {comparison.verdict}", ""]
    counts = [
        f"{comparison.items[name]} {name.replace('_', ' ')}"
        for name in ITEM_CLASSES
        if comparison.items[name]
    ]
    lines += [f"**Items**: {', '.join(counts)}.", ""]
    changed = ", ".join(comparison.changed) or "nothing that the records show"
    lines += [f"**Changed between the runs**: {changed}.", ""]
    if comparison.changed_documents:
        names, cases = comparison.changed_documents, comparison.document_cases
        lines += [
            f"Changed documents: {escaped(', '.join(names))}; cases that use them:"
            f" {escaped(', '.join(cases))}.",
            "",
        ]
    lines += _regressed(comparison)
    lines += _metrics(comparison)
    lines += [f"- {escaped(note)}" for note in comparison.notes]
    return "\n".join(lines).rstrip() + "\n"


def _regressed(comparison: Comparison) -> Iterator[str]:
    changes = [change for change in comparison.changes if change.item_class in ("regressed", "error_now")]
    for change in changes[:CHANGES_SHOWN]:
        flaky = " (flaky in the baseline)" if change.flaky else ""
        yield f"- **{change.item_class.replace('_', ' ')}** {escaped(change.nodeid)}{flaky}"
        if change.reason:
            yield f"  {escaped(change.reason)}"
        if change.base_answer != change.answer:
            yield f"  {code(' '.join(word_diff(change.base_answer, change.answer).split())[:800])}"
    if len(changes) > CHANGES_SHOWN:
        yield f"- … and {len(changes) - CHANGES_SHOWN} more"
    if changes:
        yield ""


def _metrics(comparison: Comparison) -> Iterator[str]:
    metrics = [metric for metric in comparison.metrics if metric.decides]
    if not metrics:
        return
    yield "| Metric | Model | Base | New | Difference (95 %) | p | Verdict |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for metric in metrics[:METRICS_SHOWN]:
        cells = [
            escaped(f"{metric.evaluator}.{metric.metric}"),
            escaped(metric.model),
            f"{metric.base:.4f}",
            f"{metric.new:.4f}",
            f"{metric.difference:+.4f}{_interval(metric)}",
            f"{metric.p_adjusted:.3g}",
            metric.verdict,
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _interval(metric: MetricComparison) -> str:
    return "" if metric.low is None or metric.high is None else f" ({metric.low:+.4f} to {metric.high:+.4f})"
