"""Values of the section that compares a run with its baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from pytest_evalstudio.analysis.comparison.calls import CallChange, ChangeKind, align
from pytest_evalstudio.analysis.comparison.results import (
    ITEM_CLASSES,
    VERDICTS,
    Comparison,
    ItemChange,
    ItemClass,
)
from pytest_evalstudio.analysis.comparison.sentences import interval_text, summary_of
from pytest_evalstudio.analysis.comparison.sides import MAX_ANSWER_CHARS
from pytest_evalstudio.analysis.comparison.text import changed_lines, segment_lines
from pytest_evalstudio.report.worddiff import Stretch, changed_words
from pytest_evalstudio.text.windows import Piece, change_windows

CHANGES_SHOWN = 100
LINES_SHOWN = 200
"""Items of the other classes, a line each."""
_IN_FULL = ("regressed", "error_now")
_IN_LINES: Mapping[ItemClass, str] = {
    "still_failing": "Still failing",
    "still_error": "Still an error",
    "fixed": "Fixed",
    "error_then": "An error before",
    "new": "New",
    "gone": "Gone",
}


class ShownCalls(Struct, frozen=True, kw_only=True):
    """A call of a tool that differs from the baseline, with the words that do."""

    kind: ChangeKind
    base: Sequence[Stretch] = ()
    new: Sequence[Stretch] = ()


class ShownChange(Struct, frozen=True, kw_only=True):
    """A regressed item with the changes of its answer.

    Attributes:
        windows: around each change; empty without the answer of the baseline.
        whole: both answers with all their words; empty where the windows have all of them.
        is_cut: whether the comparison holds only the beginning of an answer.
        calls: of tools that differ; `same_calls` is the number of the others.
    """

    change: ItemChange
    windows: tuple[Piece, ...] = ()
    whole: tuple[Piece, ...] = ()
    is_cut: bool = False
    calls: tuple[ShownCalls, ...] = ()
    same_calls: int = 0


class ChangeList(Struct, frozen=True, kw_only=True):
    """Items of one class, a line each.

    Attributes:
        total: number of all of them.
    """

    title: str
    changes: Sequence[ItemChange]
    total: int


def comparison_view(result: Comparison, names: Mapping[str, str]) -> dict[str, object]:
    """Return summary, counts, regressed items with their changes, and metrics.

    Args:
        names: of the evaluators, by id.
    """
    deciding = [metric for metric in result.metrics if metric.decides]
    regressed = [change for change in result.changes if change.item_class in _IN_FULL]
    changed, *details = changed_lines(result)
    return {
        "comparison": result,
        "summary": str(summary_of(result)),
        "changed": changed,
        "details": details,
        "segments": list(segment_lines(result)),
        "prompts": [(prompt, change_windows(prompt.base, prompt.new)) for prompt in result.prompts],
        "counts": [
            f"{result.items[name]:,} {name.replace('_', ' ')}" for name in ITEM_CLASSES if result.items[name]
        ],
        "regressed": [_shown(change) for change in regressed[:CHANGES_SHOWN]],
        "lists": _lists(result),
        "names": names,
        "left_out": max(0, len(regressed) - CHANGES_SHOWN),
        "answer_chars": MAX_ANSWER_CHARS,
        "metrics": [
            (metric, interval_text(metric))
            for metric in sorted(deciding, key=lambda metric: VERDICTS.index(metric.verdict))
            if metric.difference
        ],
        "unchanged": sum(not metric.difference for metric in deciding),
    }


def _shown(change: ItemChange) -> ShownChange:
    aligned = align(change.base_calls, change.calls)
    calls = tuple(map(_shown_calls, (each for each in aligned if each.kind != "same")))
    same_calls = len(aligned) - len(calls)
    if not change.base_answer:
        return ShownChange(change=change, calls=calls, same_calls=same_calls)
    windows = change_windows(change.base_answer, change.answer)
    has_gap = any(piece.kind == "gap" for piece in windows)
    return ShownChange(
        change=change,
        windows=windows,
        whole=change_windows(change.base_answer, change.answer, chars=0) if has_gap else (),
        is_cut=max(len(change.base_answer), len(change.answer)) >= MAX_ANSWER_CHARS,
        calls=calls,
        same_calls=same_calls,
    )


def _shown_calls(change: CallChange) -> ShownCalls:
    if change.kind == "changed":
        base, new = changed_words(change.base, change.new)
        return ShownCalls(kind=change.kind, base=base, new=new)
    base, new = ([Stretch(text, changed=True)] if text else [] for text in change[1:])
    return ShownCalls(kind=change.kind, base=base, new=new)


def _lists(result: Comparison) -> list[ChangeList]:
    lists = []
    for item_class, title in _IN_LINES.items():
        changes = [change for change in result.changes if change.item_class == item_class]
        if changes:
            total = max(len(changes), result.items[item_class])
            lists.append(ChangeList(title=title, changes=changes[:LINES_SHOWN], total=total))
    return lists
