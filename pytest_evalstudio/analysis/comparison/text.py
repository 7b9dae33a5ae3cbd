"""A comparison as text: lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_evalstudio.analysis.comparison.results import (
    ITEM_CLASSES,
    Comparison,
    ItemChange,
    MetricComparison,
    OperationComparison,
    Quantity,
    RunLabel,
    ScoreChange,
)
from pytest_evalstudio.analysis.comparison.sample_size import ALPHA
from pytest_evalstudio.analysis.comparison.sentences import (
    interval_text,
    notable_lines,
    segment_text,
    summary_of,
    unnoticed_drop,
)
from pytest_evalstudio.core.plugins.evaluator import BOOLEAN_KEYS
from pytest_evalstudio.core.text import short_key
from pytest_evalstudio.text.figures import counted, figure, interval
from pytest_evalstudio.text.windows import change_windows, word_diff

CHANGES_SHOWN = 20
CHANGED_TESTS_SHOWN = 20
_QUANTITIES: Mapping[Quantity, tuple[str, str]] = {
    "answer_chars": ("length", "characters"),
    "tool_calls": ("tool calls", "calls"),
    "tokens": ("tokens", "tokens"),
    "cached_share": ("share of cached input tokens", ""),
    "duration_s": ("duration", "s"),
    "cost_usd": ("cost", "USD"),
}


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the comparison for a terminal: summary, counts, regressed items, metrics, what else changed."""
    yield f"compared with {comparison.base}"
    yield str(summary_of(comparison))
    yield from notable_lines(comparison)
    counts = [
        f"{comparison.items[name]} {name.replace('_', ' ')}"
        for name in ITEM_CLASSES
        if comparison.items[name]
    ]
    if counts:
        yield f"items: {', '.join(counts)}"
    worse = [change for change in comparison.changes if change.item_class in ("regressed", "error_now")]
    for change in worse[:CHANGES_SHOWN]:
        yield from _change_lines(change)
    hidden = comparison.items["regressed"] + comparison.items["error_now"] - CHANGES_SHOWN
    if hidden > 0:
        yield f"  ... and {hidden} more"
    yield f"verdict: {comparison.verdict}"
    if comparison.budget is not None:
        yield f"  {comparison.budget.sentence}"
    deciding = [metric for metric in comparison.metrics if metric.decides]
    for metric in deciding:
        if metric.verdict != "not worse":
            yield f"  {metric_line(metric)}"
    fine = [metric for metric in deciding if metric.verdict == "not worse"]
    if fine:
        changed = sum(metric.difference != 0 for metric in fine)
        yield f"  not worse: {len(fine)} of {len(deciding)} metrics, of which {changed} changed"
    yield from (f"  {line}" for line in segment_lines(comparison))
    yield from _rescored_lines(comparison)
    first, *details = changed_lines(comparison)
    yield f"changed: {first}"
    for line in details:
        yield f"  {line}"
    for note in comparison.notes:
        yield f"note: {note}"


def _change_lines(change: ItemChange) -> Iterator[str]:
    """Yield a regressed item: question, scores, and what changed in the answer."""
    yield f"  {change.item_class.replace('_', ' ')}: {change.label}{_scores(change)}"
    if change.base_answer and change.base_answer != change.answer:
        yield f"    {word_diff(change_windows(change.base_answer, change.answer))}"


def changed_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what differs between the runs besides the scores: a list, then a line for each kind of change."""
    has_other_times = any(
        operation.changed for operation in comparison.operations if operation.quantity == "duration_s"
    )
    nothing = "nothing but the seconds per answer" if has_other_times else "nothing recorded"
    yield ", ".join(comparison.changed) or nothing
    for name, items in (
        ("answers", comparison.answers),
        ("contexts", comparison.contexts),
        ("order of contexts", comparison.context_order),
        ("tool calls", comparison.calls),
    ):
        if items.changed:
            yield f"{name}: {items.changed:,} of {items.compared:,} ({_listed(items.keys)})"
    for prompt in comparison.prompts:
        diff = word_diff(change_windows(prompt.base, prompt.new))
        yield f"prompt of {prompt.model} ({prompt.files}): {diff}"
    for operation in comparison.operations:
        if operation.changed:
            yield _operation_line(operation)
    for each in comparison.changed_tests[:CHANGED_TESTS_SHOWN]:
        yield f"changed test, left out: {each.label}: {', '.join(each.parts)}"
    if (hidden := len(comparison.changed_tests) - CHANGED_TESTS_SHOWN) > 0:
        yield f"{counted(hidden, 'more changed test')}"
    for metric in comparison.unchecked:
        count = counted(len(metric.keys), "case")
        name = f"{metric.evaluator}.{metric.metric} of {metric.model}"
        yield f"no longer checked: {name} for {count} ({_listed(metric.keys)})"
    if comparison.changed_cases:
        yield f"cases: {_listed(comparison.changed_cases)}"
    if comparison.changed_attachments:
        yield f"images or files: {_listed(comparison.changed_attachments)}"
    if comparison.changed_documents:
        yield f"documents: {_listed(comparison.changed_documents)}"
        yield f"cases that use them: {_listed(comparison.document_cases)}"
    for earlier, path in comparison.renamed_files.items():
        yield f"file {earlier} is now {path}; its cases are matched"


def segment_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the segments that got worse with their cases, and how many were tested."""
    for segment in comparison.segments:
        if segment.is_worse:
            yield f"segment {segment_text(segment)}: {_listed(segment.keys)}"
    if comparison.segments:
        yield f"{counted(len(comparison.segments), 'segment')} tested at a level of {ALPHA:g} for all of them"


def _operation_line(operation: OperationComparison) -> str:
    name, unit = _QUANTITIES[operation.quantity]
    return (
        f"{name} of {operation.model}: {figure(operation.base)} -> {figure(operation.new)} {unit} per answer"
        f"{_interval(operation.low, operation.high)}, {operation.changed:,} of {operation.n:,} differ"
    )


def _rescored_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the drift of each metric on unchanged answers, and the change of the model beside it."""
    of_model = {(each.evaluator, each.metric, each.model): each.difference for each in comparison.model}
    for metric in comparison.measure:
        change = of_model.get((metric.evaluator, metric.metric, metric.model), 0.0)
        yield (
            f"  {metric.evaluator}.{metric.metric} of {metric.model}: the measure moved by"
            f" {figure(metric.difference, sign=True)} {interval_text(metric)} on unchanged answers; model:"
            f" {figure(change, sign=True) if change else 'no change'}"
        )


def metric_line(metric: MetricComparison) -> str:
    """Return a metric in one line: verdict, means, difference with interval, p, what would be found."""
    name = f"{metric.verdict}: {metric.evaluator}.{metric.metric} of {metric.model}"
    if metric.changed == 0 and metric.max_drop is not None:
        text = f"{name}: no case changed; {unnoticed_drop(metric.max_drop, counted(metric.n, 'pair'))}"
    else:
        bounds = f" {interval_text(metric)}" if metric.low is not None else ""
        difference = f"{figure(metric.difference, sign=True)}{bounds}"
        text = (
            f"{name}: {figure(metric.base)} -> {figure(metric.new)}, difference {difference},"
            f" p {figure(metric.p_adjusted)}, {counted(metric.n, 'pair')}"
        )
    if metric.verdict != "inconclusive":
        return text
    if metric.new_errors:
        return f"{text}; {counted(metric.new_errors, 'new error')} may hide a drop"
    if metric.unchecked:
        return f"{text}; {counted(metric.unchecked, 'case')} without a score may hide a drop"
    if metric.smallest_detectable is not None and metric.changed != 0:
        text += f"; smallest detectable drop {figure(metric.smallest_detectable)}"
    if metric.cases_needed is not None:
        text += f"; about {counted(metric.cases_needed, 'case')} would be enough"
    return text


def regression_headline(change: ItemChange, base: RunLabel) -> str:
    """Return the first line of a regressed item's failure.

    >>> label = RunLabel(run_id="4f0f77", created="2026-11-20T10:00:00", commit="abc1234", items=1, has_answers=True)
    >>> change = ItemChange(item_class="regressed", nodeid="s.json::k", file="s.json", key="k", model="m")
    >>> regression_headline(change, label)
    'regressed since baseline run 4f0f (2026-11-20, commit abc1234)'
    """  # noqa: E501
    return f"regressed since baseline {base}{_scores(change)}"


def _scores(change: ItemChange) -> str:
    changed = [f"{score.evaluator}: {_score(score)}" for score in change.scores]
    return f": {', '.join(changed)}" if changed else ""


def _score(score: ScoreChange) -> str:
    """Return the change of a score; of a plain yes or no in words."""
    if score.metric == BOOLEAN_KEYS[0] and {score.base, score.new} == {0.0, 1.0}:
        return "passed -> failed" if score.base else "failed -> passed"
    return f"{score.metric} {_number(score.base)} -> {_number(score.new)}"


def _number(value: float | None) -> str:
    return "none" if value is None else figure(value)


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" {interval(low, high, sign=True)}"


def _listed(names: Sequence[str], limit: int = 10) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(map(short_key, names[:limit])) + more
