"""The two sentences of a comparison, the same in every output: what happened, then what follows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pytest_evalstudio.analysis.comparison.changed_tests import changed_sentence
from pytest_evalstudio.analysis.comparison.results import (
    Comparison,
    ItemClass,
    MetricComparison,
    Quantity,
    SegmentComparison,
)
from pytest_evalstudio.analysis.comparison.sample_size import ALPHA
from pytest_evalstudio.analysis.wording import p_text
from pytest_evalstudio.core.text import short_key
from pytest_evalstudio.text.figures import counted, figure, interval, plural

_OTHERS: tuple[tuple[ItemClass, str], ...] = (
    ("error_now", "error now"),
    ("fixed", "fixed"),
    ("new", "new"),
    ("gone", "gone"),
)
_NAMES = 3
_NOTABLE: Mapping[Quantity, tuple[str, str]] = {
    "duration_s": ("seconds", " s"),
    "tokens": ("tokens", ""),
    "cached_share": ("cached share of the input tokens", ""),
    "cost_usd": ("cost", " USD"),
    "tool_calls": ("number of tool calls", ""),
}
_TOOLS = {"new": "new", "gone": "gone", "changed": "with other arguments"}
_UNPAIRED = "answers of the runs are not paired"


class Summary(NamedTuple):
    """A comparison in two sentences.

    Attributes:
        happened: which cases changed.
        follows: what that says about other questions.
    """

    happened: str
    follows: str

    def __str__(self) -> str:
        return f"{self.happened}. {self.follows[0].upper()}{self.follows[1:]}."


def summary_of(comparison: Comparison) -> Summary:
    """Return the two sentences of a comparison, cases first."""
    deciding = [metric for metric in comparison.metrics if metric.decides]
    return Summary(_happened(comparison), _follows(comparison, deciding))


def _happened(comparison: Comparison) -> str:
    items, total = comparison.items, comparison.matched
    changed = changed_sentence(comparison.changed_tests, comparison.moved_thresholds)
    scope = f" of {comparison.models} models" if comparison.models > 1 else ""
    others = [f"{items[kind]:,} {words}" for kind, words in _OTHERS if items[kind]]
    if items["regressed"]:
        first = f"{items['regressed']:,} of {cases(total)}{scope} regressed"
    elif items["error_now"] or items["fixed"] or any(metric.changed for metric in comparison.metrics):
        first = f"none of {cases(total)}{scope} regressed"
    elif total and comparison.answers.changed:
        answers = comparison.answers
        first = (
            f"no case changed its result, although {answers.changed:,} of {answers.compared:,} answers differ"
        )
    else:
        first = "no case was compared" if changed else _UNPAIRED
        if total:
            first = "no case changed"
    return "; ".join(
        filter(None, [first, *others, _worse_segment(comparison), changed, _unchecked(comparison)])
    )


def _worse_segment(comparison: Comparison) -> str:
    """Return the segment that got worse with the least p, "" for none."""
    worse = [each for each in comparison.segments if each.is_worse]
    if not worse:
        return ""
    more = f" and {counted(len(worse) - 1, 'more segment')}" if len(worse) > 1 else ""
    return f"segment {segment_text(worse[0])} got worse{more}"


def segment_text(segment: SegmentComparison) -> str:
    """Return a segment with its counts and the adjusted p."""
    model = f" of {segment.model}" if segment.model else ""
    fixed = f", {segment.fixed:,} fixed" if segment.fixed else ""
    counts = f"{segment.regressed:,} of {cases(segment.n)} regressed{fixed}"
    return f"{segment.name}{model} ({counts}, {p_text(segment.p_adjusted)} of all segments)"


def _unchecked(comparison: Comparison) -> str:
    """Return which evaluators no longer check cases that they checked in the base run, "" for none."""
    counts: dict[str, set[tuple[str, str]]] = {}
    for each in comparison.unchecked:
        counts.setdefault(each.evaluator, set()).update((each.model, key) for key in each.keys)
    parts = [f"{evaluator} for {cases(len(keys))}" for evaluator, keys in counts.items()]
    more = f" and {counted(len(parts) - _NAMES, 'more evaluator')}" if len(parts) > _NAMES else ""
    return f"no longer checked: {', '.join(parts[:_NAMES])}{more}" if parts else ""


def _follows(comparison: Comparison, deciding: list[MetricComparison]) -> str:
    if not deciding:
        return f"nothing follows for other questions: {comparison.why_no_metric}"
    # Where only a metric without any score is inconclusive, the others say nothing about it.
    metrics = [metric for metric in deciding if metric.verdict == comparison.verdict] or deciding
    if comparison.verdict == "worse":
        # All of these drops are proven: the largest one, in the unit of its metric, says most.
        first = max(metrics, key=lambda metric: abs(metric.difference) / (metric.unit or 1.0))
        more = f", and {len(metrics) - 1:,} more" if len(metrics) > 1 else ""
        name = f"{first.evaluator}.{first.metric} of {first.model}"
        return (
            f"the drop is more than chance: {name} by {figure(abs(first.difference))}"
            f" ({p_text(first.p_adjusted)}, {cases(first.n)}){more}"
        )
    widest = max(metrics, key=lambda metric: (metric.max_drop or 0.0) / (metric.unit or 1.0))
    if comparison.verdict == "not worse":
        limit = rounded_up(widest.max_drop or 0.0)
        return f"drops above {limit} are excluded for other questions ({cases(widest.n)})"
    if errors := max(metric.new_errors for metric in metrics):
        verb = "is an error" if errors == 1 else "are errors"
        return f"nothing can be said about other questions: {cases(errors)} {verb} now"
    if comparison.unchecked:
        count = cases(comparison.unchecked_cases)
        return f"nothing can be said about other questions: {count} lost a score that decided"
    changed = [metric for metric in metrics if metric.changed != 0]
    if not changed and widest.max_drop is not None:
        return unnoticed_drop(widest.max_drop, cases(widest.n))
    first = min(changed or metrics, key=lambda metric: metric.p_adjusted)
    count, verb = cases(first.n), plural(first.n, "is", "are")
    return f"{count} {verb} too few to tell whether other questions got worse ({p_text(first.p_adjusted)})"


def unnoticed_drop(drop: float, count: str) -> str:
    """Return the drop that unchanged cases do not exclude.

    Args:
        count: number of cases or pairs, with its noun.
    """
    return f"with {count}, a real drop of up to {rounded_up(drop)} could go unnoticed"


def notable_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what changed by more than chance though cases pass: a line per quantity, and one of tools."""
    for quantity, (name, unit) in _NOTABLE.items():
        changed = [each for each in comparison.operations if each.quantity == quantity and each.is_notable]
        if not changed:
            continue
        first = max(changed, key=lambda each: abs(each.difference) / (abs(each.base) or 1.0))
        more = f"; {counted(len(changed) - 1, 'more model')} changed" if len(changed) > 1 else ""
        of_model = f" of {first.model}" if first.model else ""
        yield (
            f"{name}{of_model}: {figure(first.base)} -> {figure(first.new)}{unit} per answer"
            f" ({p_text(first.p_adjusted or 0.0)}), most in {short_key(first.key)}{more}"
        )
    if comparison.tools:
        parts = [
            f"{each.tool} {_TOOLS[each.kind]} in {cases(len(each.keys))}"
            for each in comparison.tools[:_NAMES]
        ]
        more = f" and {len(comparison.tools) - _NAMES} more" if len(comparison.tools) > _NAMES else ""
        key = short_key(comparison.tools[0].keys[0])
        yield f"tool calls of passing cases: {', '.join(parts)}{more}, e.g. {key}"


def cases(count: int) -> str:
    """Return a number of cases in words.

    >>> cases(1), cases(1200)
    ('1 case', '1,200 cases')
    """
    return counted(count, "case")


def rounded_up(limit: float) -> str:
    """Return a limit in two digits that is not below it.

    >>> rounded_up(0.0496), rounded_up(0.4627), rounded_up(0.0), rounded_up(1.0)
    ('0.05', '0.47', '0', '1')
    """
    if limit <= 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(limit)) - 1)
    # Without the tolerance 0.56 would become 0.57: 0.56 / 0.01 is 56.00000000000001.
    return f"{math.ceil(limit / step - 1e-9) * step:.2g}"


def interval_text(metric: MetricComparison) -> str:
    """Return the interval of a metric's difference, "" without one; an end at 0 is open where it is excluded.

    >>> metric = MetricComparison(
    ...     evaluator="e", metric="m", model="a", n=20, base=1.0, new=0.75, difference=-0.25, low=-0.5,
    ...     high=0.0, p=0.03, p_adjusted=0.03, smallest_detectable=None, verdict="worse",
    ... )  # fmt: skip
    >>> interval_text(metric)
    '[-0.5, 0)'
    """
    if metric.low is None or metric.high is None:
        return ""
    is_drop = metric.p_adjusted <= ALPHA
    low, _, high = interval(metric.low, metric.high, sign=True).partition(", ")
    low = "(0" if is_drop and metric.low == 0 and metric.better == "lower" else low
    high = "0)" if is_drop and metric.high == 0 and metric.better == "higher" else high
    return f"{low}, {high}"
