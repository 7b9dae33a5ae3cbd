"""A comparison as Markdown, for pull requests and CI summaries."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.comparison.results import ITEM_CLASSES, Comparison
from pytest_evalstudio.comparison.sentences import interval_text, summary_of
from pytest_evalstudio.comparison.text import changed_lines, word_diff
from pytest_evalstudio.core.markdown import code, escaped

CHANGES_SHOWN = 10
METRICS_SHOWN = 30


def comparison_markdown(comparison: Comparison, *, level: int = 1) -> str:
    """Return the comparison: summary, counts, regressed items with word diffs, metrics with intervals.

    Args:
        level: of the heading.
    """
    lines = [f"{'#' * level} Compared with {escaped(str(comparison.base))}", ""]
    lines += [f"**{escaped(str(summary_of(comparison)))}**", ""]
    counts = [
        f"{comparison.items[name]} {name.replace('_', ' ')}"
        for name in ITEM_CLASSES
        if comparison.items[name]
    ]
    lines += [f"**Items**: {', '.join(counts)}. **Verdict**: {comparison.verdict}.", ""]
    first, *details = changed_lines(comparison)
    lines += [f"**Changed between the runs**: {first}.", ""]
    if details:
        lines += [*(f"- {escaped(line)}" for line in details), ""]
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
            f"{metric.difference:+.4f} {interval_text(metric)}",
            f"{metric.p_adjusted:.3g}",
            metric.verdict,
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
