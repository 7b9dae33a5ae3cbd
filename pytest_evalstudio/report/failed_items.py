"""Items that did not pass, with reasons and diffs: as many as a page can show without scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_evalstudio.analysis.causes import (
    KINDS,
    Cause,
    CauseKey,
    Kind,
    deciding_verdicts,
    missed_metric,
)
from pytest_evalstudio.analysis.comparison.results import Comparison, ItemChange
from pytest_evalstudio.core.codes import OF_RETRIEVAL, UNANSWERED, ItemCode
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.core.text import is_blank
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.condition_terms import And, Condition, Not, Or
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, RecordRow, Run
from pytest_evalstudio.report.failure_groups import FailureGroup, grouped
from pytest_evalstudio.report.failure_types import FailedEvaluator, FailedItem, FailureTexts, TermResult
from pytest_evalstudio.report.failures import worst_row
from pytest_evalstudio.report.highlight import Segment, segments, snippet
from pytest_evalstudio.report.worddiff import Stretch, changed_words, shared_words

if TYPE_CHECKING:
    from pytest_evalstudio.report.failing_copies import FailingCopies
    from pytest_evalstudio.text.windows import Piece

LIMITS: Mapping[Kind, int] = {"failed": 60, "error": 30, "xfailed": 40, "xpassed": 20}
"""Items of each kind that the page writes out; the others are in the matrix and in the files."""
OF_EACH_CAUSE = 3
"""Items of a cause that are written out, however many the causes before it have."""
TEXT_CHARS = 1_500
REASON_CHARS = 600
_TERMS = 24
_TERM_TIMEOUT_S = 0.2
_COMPARABLE = 0.25
"""Share of an answer that must be equal to the other text; less is marked as a whole, which says nothing."""


class FailedItems:
    """Keeps the first items of each cause of a failure, those that regressed before all others.

    Args:
        run: the record's header.
        evaluators: of the run.
        comparison: with a baseline, None without one.
        folds_answers: whether equal answers that fail alike are kept once. The worst rows of a large table
            are often one sentence to a hundred questions.
    """

    def __init__(
        self,
        run: Run,
        evaluators: Mapping[str, EvaluatorEntry],
        comparison: Comparison | None = None,
        *,
        folds_answers: bool = False,
    ) -> None:
        self._folds_answers = folds_answers
        self._same: Counter[tuple[CauseKey, int]] = Counter()
        self._answers: dict[str, tuple[CauseKey, int]] = {}
        self.total: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        self._run = run
        self._evaluators = evaluators
        self._changes = {change.nodeid: change for change in comparison.changes} if comparison else {}
        self._regressed: dict[CauseKey, list[FailedItem]] = {}
        self._others: dict[CauseKey, list[FailedItem]] = {}
        self._kept: Counter[Kind] = Counter()

    @cached_property
    def _copies(self) -> FailingCopies:
        from pytest_evalstudio.report.failing_copies import FailingCopies

        return FailingCopies()

    def add(self, item: Item, cause: CauseKey) -> None:
        """Take one item of the record that did not end as expected, with its cause."""
        kind = cause.kind
        self.total[kind] += 1
        if self._folds_answers and item.rows:
            answer = cause, hash(item.rows[0].answer.text)
            self._same[answer] += 1
            if self._same[answer] > 1:
                return
            self._answers[item.nodeid] = answer
        change = self._changes.get(item.nodeid)
        if self._copies.folds(item, cause, change.item_class if change is not None else ""):
            return
        is_regressed = change is not None and change.item_class in ("regressed", "error_now")
        kept = (self._regressed if is_regressed else self._others).setdefault(cause, [])
        # Many causes must not fill the memory, and each of them needs an example.
        limit = LIMITS[kind] if self._kept[kind] < 4 * LIMITS[kind] else OF_EACH_CAUSE
        if len(kept) < limit:
            self._kept[kind] += 1
            kept.append(self._failed(cause, item, tuple(_misses(self._evaluators, item)), change))

    def groups(self, causes: Sequence[Cause]) -> list[FailureGroup]:
        """Return the kept items by cause; regressed items and large causes come first.

        Args:
            causes: of the run.
        """
        items: dict[CauseKey, list[FailedItem]] = {}
        for kind in KINDS:
            of_kind = [cause.identity for cause in causes if cause.kind == kind]
            items |= self._of_kind(of_kind, LIMITS[kind])
        return grouped(causes, items)

    def _of_kind(self, causes: Sequence[CauseKey], limit: int) -> dict[CauseKey, list[FailedItem]]:
        """Return the items of causes: some of each, and more of the first ones up to the limit."""
        kept = {cause: self._items(cause) for cause in causes}
        counts = {cause: min(len(items), OF_EACH_CAUSE) for cause, items in kept.items()}
        for cause, items in kept.items():
            counts[cause] += max(0, min(len(items) - counts[cause], limit - sum(counts.values())))
        return {cause: items[: counts[cause]] for cause, items in kept.items()}

    def _items(self, cause: CauseKey) -> list[FailedItem]:
        failed = [*self._regressed.get(cause, ()), *self._others.get(cause, ())]
        selection = self._copies.folded(failed) if failed else []
        return [
            replace(item, equal_answers=self._same[self._answers[item.nodeid]] - 1)
            if item.nodeid in self._answers
            else item
            for item in selection
        ]

    def _failed(
        self, cause: CauseKey, item: Item, misses: tuple[FailedEvaluator, ...], change: ItemChange | None
    ) -> FailedItem:
        row = _failing_row(item, misses, self._evaluators) if item.rows else None
        return FailedItem(
            kind=cause.kind,
            cause=cause,
            nodeid=item.nodeid,
            file=item.file,
            key=item.key,
            model=self._run.model_name(item.model_key),
            model_key=item.model_key,
            change=change.item_class if change is not None else "",
            flaky=change is not None and change.flaky,
            code=_code(item, misses),
            misses=misses,
            reason=_cut(item.reason),
            error=_cut(row.answer.error) if row is not None else "",
            repeats=len(item.rows),
            texts=_texts(row, misses, self._evaluators, change) if row is not None else FailureTexts(),
        )


_UNEXPLAINED = frozenset(
    {
        ItemCode.ANSWER_EMPTY,
        ItemCode.REFUSAL_MISSING,
        ItemCode.UNEXPECTED_REFUSAL,
    }
)
"""Codes of items whose failure no evaluator explains, whatever thresholds it misses."""


def _code(item: Item, misses: Sequence[FailedEvaluator]) -> str:
    """Return the class of a failure that no evaluator decides or explains, "" for others."""
    if item.code in _UNEXPLAINED:
        return item.code
    faults = {miss.fault for miss in misses}
    return next((code for code in UNANSWERED if faults == {code}), "")


def _misses(evaluators: Mapping[str, EvaluatorEntry], item: Item) -> Iterator[FailedEvaluator]:
    """Yield the evaluators that failed an item; see `deciding_verdicts`."""
    return (_miss(info, verdict) for info, verdict in deciding_verdicts(item, evaluators))


def _miss(info: EvaluatorEntry, verdict: Verdict) -> FailedEvaluator:
    if verdict.status == "error":
        return FailedEvaluator(
            evaluator=info.id, name=info.name, reason=_cut(verdict.reason), fault=verdict.code
        )
    metric = missed_metric(info, verdict)
    return FailedEvaluator(
        evaluator=info.id,
        name=info.name,
        metric=metric.name,
        fault=_fault(info, verdict),
        part="Retrieval: " if verdict.code in OF_RETRIEVAL else "",
        score=verdict.scores.get(metric.key),
        threshold=verdict.thresholds.get(metric.key, metric.threshold),
        sign="≥" if metric.better == "higher" else "≤",
        boolean=info.boolean,
        reason=_cut(verdict.reason),
    )


def answer_and_reference(item: Item, evaluators: Mapping[str, EvaluatorEntry]) -> tuple[str, str]:
    """Return the answer that shows why an item fails, and the expected one; "" for what there is not."""
    if not item.rows:
        return "", ""
    misses = tuple(_misses(evaluators, item))
    row = _failing_row(item, misses, evaluators)
    answer = "" if is_blank(row.answer.text) else _beginning(row.answer.text)
    return answer, _beginning(row.expected_by(misses[0].evaluator if misses else ""))


def has_common_words(reference: str, answer: str) -> bool:
    """Return whether two texts have enough in common for their difference to say something."""
    _, actual = changed_words(reference, answer)
    return bool(reference) and shared_words(actual) >= _COMPARABLE


def _fault(info: EvaluatorEntry, verdict: Verdict) -> str:
    """Return the kind of failure that a boolean evaluator tells apart, e.g. retrieval or generation."""
    if not info.boolean:
        return ""
    kinds = [metric for metric in info.metrics if not metric.primary and verdict.scores.get(metric.key)]
    return kinds[-1].name if kinds else ""


def _failing_row(
    item: Item, misses: Sequence[FailedEvaluator], evaluators: Mapping[str, EvaluatorEntry]
) -> RecordRow:
    """Return the repeat that shows the failure: empty, with the worst score, or with an error."""
    if item.code == ItemCode.ANSWER_EMPTY:
        return next((row for row in item.rows if is_blank(row.answer.text)), item.rows[0])
    if misses:
        return worst_row(evaluators[misses[0].evaluator], item.rows)
    return next((row for row in item.rows if row.answer.error), item.rows[0])


def _texts(
    row: RecordRow,
    misses: tuple[FailedEvaluator, ...],
    evaluators: Mapping[str, EvaluatorEntry],
    change: ItemChange | None,
) -> FailureTexts:
    answer = "" if is_blank(row.answer.text) else _beginning(row.answer.text)
    reference = row.expected_by(misses[0].evaluator if misses else "")
    expected, actual = changed_words(_beginning(reference), answer)
    marked, snippet_of = _marked(row, row.answer.text, misses, evaluators), "Answer"
    if not marked:
        marked, snippet_of = _marked_chunk(row, misses, evaluators)
    if not reference or shared_words(actual) < _COMPARABLE:
        actual = [Stretch(answer)] if answer else []
    return FailureTexts(
        question=_cut(row.question, TEXT_CHARS),
        expected=tuple(expected),
        terms=tuple(_terms(row.condition, row.answer.text)) if _is_judged(row) else (),
        actual=tuple(actual),
        segments=_marked(row, answer, misses, evaluators),
        snippet=tuple(snippet(marked)),
        snippet_of=snippet_of,
        changes=_changes(change) if change is not None else (),
        left_out=len(row.answer.text) - len(answer) if answer else 0,
    )


def _changes(change: ItemChange) -> tuple[Piece, ...]:
    """Return the changes of an answer since the baseline."""
    if not change.base_answer or change.base_answer == change.answer:
        return ()
    from pytest_evalstudio.text.windows import change_windows

    return change_windows(change.base_answer, change.answer)


def _marked(
    row: RecordRow, answer: str, misses: Sequence[FailedEvaluator], evaluators: Mapping[str, EvaluatorEntry]
) -> tuple[Segment, ...]:
    """Return the answer with the stretches that the deciding evaluator marked; () without any.

    Marks of another evaluator would not show why the item fails.
    """
    for miss in misses[:1]:
        outcome = row.outcomes.get(miss.evaluator)
        if outcome is not None and any(mark.part == "answer" for mark in outcome.fragments):
            return tuple(segments(answer, outcome.fragments, evaluators[miss.evaluator].sentence_metric))
    return ()


def _marked_chunk(
    row: RecordRow, misses: Sequence[FailedEvaluator], evaluators: Mapping[str, EvaluatorEntry]
) -> tuple[tuple[Segment, ...], str]:
    """Return the first chunk that the deciding evaluator marked, and its name."""
    for miss in misses[:1]:
        outcome = row.outcomes.get(miss.evaluator)
        for number, chunk in enumerate(row.answer.context):
            part = f"context:{number}"
            if outcome is not None and any(mark.part == part for mark in outcome.fragments):
                metric = evaluators[miss.evaluator].sentence_metric
                return tuple(segments(chunk, outcome.fragments, metric, part)), f"Context {number + 1}"
    return (), "Answer"


def _beginning(text: str) -> str:
    """Return as much of a text as is shown, cut between words."""
    if len(text) <= TEXT_CHARS:
        return text
    shown, _, _ = text[:TEXT_CHARS].rpartition(" ")
    return shown or text[:TEXT_CHARS]


def _is_judged(row: RecordRow) -> bool:
    """Return True if the answer has a score, so that the terms of its condition say something."""
    is_scored = any(outcome.status == "score" for outcome in row.outcomes.values())
    return is_scored and row.condition_on != "context"


def _terms(text: str, answer: str) -> Iterator[TermResult]:
    """Yield the terms of a condition and whether the answer meets them.

    Yields nothing for a malformed condition, or without an answer.
    """
    if not text.strip() or is_blank(answer):
        return
    try:
        leaves = list(_leaves(parse_condition(text)))[:_TERMS]
        for leaf in leaves:
            yield TermResult(str(leaf), leaf.holds(answer, _TERM_TIMEOUT_S))
    except EvalStudioError:  # the evaluator has reported the fault of the condition
        return


def _leaves(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, And | Or):
        for operand in condition.operands:
            yield from _leaves(operand)
    # De Morgan: the negated terms together say the same as the negated whole.
    elif isinstance(condition, Not) and isinstance(condition.operand, And | Or):
        for leaf in _leaves(condition.operand):
            yield leaf.operand if isinstance(leaf, Not) else Not(leaf)
    else:
        yield condition


def _cut(text: str, limit: int = REASON_CHARS) -> str:
    return text if len(text) <= limit else text[:limit] + " …"
