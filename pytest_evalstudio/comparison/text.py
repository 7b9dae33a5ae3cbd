"""A comparison as text: lines for a terminal, and the difference of two answers word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from pytest_evalstudio.comparison.results import (
    ITEM_CLASSES,
    Comparison,
    ItemChange,
    MetricComparison,
    RunLabel,
)

CHANGES_SHOWN = 20
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_MAX_WORDS = 1_500
"""Words of a diff on each side; its time is quadratic in the worst case."""
_KEPT_WORDS = 8
"""Equal words that are shown on each side of a change."""


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the comparison for a terminal: verdict, counts, regressed items, metrics, what else changed."""
    yield f"compared with {comparison.base}: {comparison.verdict}"
    counts = [
        f"{comparison.items[name]} {name.replace('_', ' ')}"
        for name in ITEM_CLASSES
        if comparison.items[name]
    ]
    yield f"items: {', '.join(counts)}"
    for change in comparison.changes[:CHANGES_SHOWN]:
        if change.item_class in ("regressed", "error_now"):
            yield f"  {change.item_class.replace('_', ' ')}: {change.nodeid}{_scores(change)}"
    left = comparison.items["regressed"] + comparison.items["error_now"] - CHANGES_SHOWN
    if left > 0:
        yield f"  ... and {left} more"
    deciding = [metric for metric in comparison.metrics if metric.decides]
    for metric in deciding:
        if metric.verdict != "not worse":
            yield f"  {metric_line(metric)}"
    fine = [metric for metric in deciding if metric.verdict == "not worse"]
    if fine:
        moved = sum(metric.difference != 0 for metric in fine)
        yield f"  not worse: {len(fine)} of {len(deciding)} metrics, of which {moved} changed"
    for operation in comparison.operations:
        if not operation.difference:
            continue
        unit = "s" if operation.quantity == "duration_s" else "USD"
        interval = _interval(operation.low, operation.high)
        yield (
            f"  {operation.quantity.partition('_')[0]} of {operation.model}: {operation.base:.4g} ->"
            f" {operation.new:.4g} {unit}{interval}"
        )
    yield from _rescored_lines(comparison)
    yield f"changed: {', '.join(comparison.changed) or 'nothing that the records show'}"
    if comparison.changed_cases:
        yield f"  cases: {_listed(comparison.changed_cases)}"
    if comparison.changed_contexts:
        yield f"  contexts: {_listed(comparison.changed_contexts)}"
    if comparison.changed_documents:
        yield f"  documents: {_listed(comparison.changed_documents)}"
        yield f"  cases that use them: {_listed(comparison.document_cases)}"
    for note in comparison.notes:
        yield f"note: {note}"


def _rescored_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the drift of each metric on unchanged answers, and the change of the model beside it."""
    of_model = {(each.evaluator, each.metric, each.model): each.difference for each in comparison.model}
    for metric in comparison.measure:
        change = of_model.get((metric.evaluator, metric.metric, metric.model), 0.0)
        interval = _interval(metric.low, metric.high)
        yield (
            f"  {metric.evaluator}.{metric.metric} of {metric.model}: the measure moved by"
            f" {metric.difference:+.4f}{interval} on unchanged answers; model:"
            f" {f'{change:+.4f}' if change else 'no change'}"
        )


def metric_line(metric: MetricComparison) -> str:
    """Return a metric in one line: verdict, means, difference with interval, p, what would be found."""
    text = (
        f"{metric.verdict}: {metric.evaluator}.{metric.metric} of {metric.model}: {metric.base:.4f} ->"
        f" {metric.new:.4f}, difference {metric.difference:+.4f}{_interval(metric.low, metric.high)},"
        f" p {metric.p_adjusted:.3g}, {metric.n} pairs"
    )
    if metric.verdict != "inconclusive":
        return text
    if metric.smallest_detectable is not None:
        text += f"; smallest detectable drop {metric.smallest_detectable:.3g}"
    if metric.cases_needed is not None:
        text += f"; about {metric.cases_needed:,} cases would settle it"
    return text


def regression_headline(change: ItemChange, base: RunLabel) -> str:
    """Return the first line of a regressed item's failure.

    >>> label = RunLabel(run_id="4f0f77", created="2026-11-20T10:00:00", commit="abc1234", items=1, has_answers=True)
    >>> change = ItemChange(item_class="regressed", nodeid="s.json::k", file="s.json", key="k", model="m")
    >>> regression_headline(change, label)
    'regressed since baseline 4f0f (2026-11-20, commit abc1234)'
    """  # noqa: E501
    return f"regressed since baseline {base}{_scores(change)}"


def word_diff(base: str, new: str) -> str:
    """Return the difference of two texts by words: [-removed-] and {+added+}, as `git diff --word-diff`.

    Equal words far from a change are left out; texts beyond 1,500 words are compared up to there.

    >>> word_diff("The fee is 5 EUR.", "The fee is 7 EUR.")
    'The fee is [-5-]{+7+} EUR.'
    """
    first, second = _WORD.findall(base)[: 2 * _MAX_WORDS], _WORD.findall(new)[: 2 * _MAX_WORDS]
    parts = []
    for tag, start, end, other_start, other_end in SequenceMatcher(
        None, first, second, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            parts.append(_shortened(first[start:end], at_start=start == 0, at_end=end == len(first)))
            continue
        removed, added = "".join(first[start:end]), "".join(second[other_start:other_end])
        parts.append((f"[-{removed}-]" if removed else "") + (f"{{+{added}+}}" if added else ""))
    return "".join(parts)


def _shortened(words: Sequence[str], *, at_start: bool, at_end: bool) -> str:
    kept = 2 * _KEPT_WORDS
    if len(words) <= 2 * kept or (at_start and at_end):
        return "".join(words)
    head = [] if at_start else words[:kept]
    tail = [] if at_end else words[-kept:]
    return "".join([*head, " … ", *tail])


def _scores(change: ItemChange) -> str:
    moved = [
        f"{score.evaluator}: {score.metric} {_number(score.base)} -> {_number(score.new)}"
        for score in change.scores
    ]
    return f": {', '.join(moved)}" if moved else ""


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{low:+.4f}, {high:+.4f}]"


def _listed(names: Sequence[str], limit: int = 10) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
