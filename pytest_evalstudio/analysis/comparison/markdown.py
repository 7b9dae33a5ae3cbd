"""A comparison as Markdown, for pull requests and CI summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.analysis.comparison.results import ITEM_CLASSES, Comparison
from pytest_evalstudio.analysis.comparison.sentences import interval_text, notable_lines, summary_of
from pytest_evalstudio.analysis.comparison.text import changed_lines, segment_lines
from pytest_evalstudio.core.markdown import escaped
from pytest_evalstudio.text.figures import figure
from pytest_evalstudio.text.windows import Piece, change_windows

CHANGES_SHOWN = 10
ANSWER_CHARS = 1_200
"""Characters of the changes of one answer; a summary of CI jobs has a limit of its own."""
METRICS_SHOWN = 30
_FORMS = {"removed": "~~{}~~", "added": "**{}**", "same": "{}"}


def comparison_markdown(comparison: Comparison) -> str:
    """Return the comparison: summary, counts, regressed items with word diffs, metrics with intervals."""
    lines = [f"# Compared with {escaped(str(comparison.base))}", ""]
    lines += [f"**{escaped(str(summary_of(comparison)))}**", ""]
    if notable := [f"- {escaped(line)}" for line in notable_lines(comparison)]:
        lines += [*notable, ""]
    lines += [*_regressed(comparison), comparison_details(comparison)]
    return "\n".join(lines).rstrip() + "\n"


def comparison_details(comparison: Comparison) -> str:
    """Return what the summary of a comparison rests on: counts, what changed, metrics with intervals."""
    counts = [
        f"{comparison.items[name]} {name.replace('_', ' ')}"
        for name in ITEM_CLASSES
        if comparison.items[name]
    ]
    lines = [f"**Baseline**: {escaped(str(comparison.base))}.", ""]
    lines += [f"**Items**: {', '.join(counts)}. **Verdict**: {comparison.verdict}.", ""]
    first, *details = changed_lines(comparison)
    lines += [f"**Changed between the runs**: {first}.", ""]
    if details:
        lines += [*(f"- {escaped(line)}" for line in details), ""]
    if comparison.segments:
        lines += [*(f"- {escaped(line)}" for line in segment_lines(comparison)), ""]
    lines += _metrics(comparison)
    if comparison.budget is not None:
        lines.append(f"- {comparison.budget.sentence}")
    lines += [f"- {escaped(note)}" for note in comparison.notes]
    return "\n".join(lines).rstrip() + "\n"


def windows_markdown(pieces: Sequence[Piece]) -> str:
    """Return changes on one line: removed words struck out, added words in bold.

    >>> windows_markdown(change_windows("The fee is 5 EUR.", "The fee is 7 EUR."))
    'The fee is ~~5~~ **7** EUR.'
    """
    parts: list[str] = []
    remaining = ANSWER_CHARS
    for piece in pieces:
        if remaining <= 0:
            parts.append("…")
            break
        words = escaped(piece.text, remaining)
        remaining -= len(piece.text)
        # Marks need white space outside: within a word, Markdown takes them for text.
        is_apart = piece.kind != "same" or piece.text[:1].isspace()
        parts.append(" " if is_apart else "")
        if piece.kind == "gap":
            parts.append(f"*{piece.note}* ")
        elif words:
            parts.append(_FORMS[piece.kind].format(words))
        parts.append(" " if piece.text[-1:].isspace() else "")
    return " ".join("".join(parts).split())


def _regressed(comparison: Comparison) -> Iterator[str]:
    changes = [change for change in comparison.changes if change.item_class in ("regressed", "error_now")]
    for change in changes[:CHANGES_SHOWN]:
        flaky = " (flaky in the baseline)" if change.flaky else ""
        yield f"- **{change.item_class.replace('_', ' ')}** {escaped(change.label)}{flaky}"
        if change.reason:
            yield f"  {escaped(change.reason)}"
        if change.base_answer and change.base_answer != change.answer:
            yield f"  {windows_markdown(change_windows(change.base_answer, change.answer))}"
    if len(changes) > CHANGES_SHOWN:
        yield f"- … and {len(changes) - CHANGES_SHOWN} more"
    if changes:
        yield ""


def _metrics(comparison: Comparison) -> Iterator[str]:
    metrics = [metric for metric in comparison.metrics if metric.decides]
    if not metrics:
        return
    yield "| Metric | Model | Base | New | Difference (95 %) | p (Holm) | Verdict |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for metric in metrics[:METRICS_SHOWN]:
        cells = [
            escaped(f"{metric.evaluator}.{metric.metric}"),
            escaped(metric.model),
            figure(metric.base),
            figure(metric.new),
            f"{figure(metric.difference, sign=True)} {interval_text(metric)}",
            figure(metric.p_adjusted),
            metric.verdict,
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
