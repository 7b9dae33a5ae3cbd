"""Items that did not pass, with reasons and diffs: as many as a page can show without scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_evalstudio.analysis.comparison.results import Comparison, ItemChange
from pytest_evalstudio.core.codes import OF_RETRIEVAL, UNANSWERED, ItemCode
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.core.text import is_blank
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.condition_terms import And, Condition, Not, Or
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, RecordRow, Run
from pytest_evalstudio.report.assessment import is_safety
from pytest_evalstudio.report.failure_groups import TITLES, FailureGroup, GroupKey, group_key, grouped
from pytest_evalstudio.report.failure_types import FailedEvaluator, FailedItem, FailureTexts, Kind, TermResult
from pytest_evalstudio.report.failures import worst_row
from pytest_evalstudio.report.highlight import Segment, segments, snippet
from pytest_evalstudio.report.worddiff import Stretch, changed_words, shared_words

if TYPE_CHECKING:
    from pytest_evalstudio.report.failing_copies import FailingCopies
    from pytest_evalstudio.text.windows import Piece

LIMITS: Mapping[Kind, int] = {"failed": 60, "error": 30, "xfailed": 40}
"""Items of each kind that the page writes out; the others are in the matrix and in the files."""
TEXT_CHARS = 1_500
REASON_CHARS = 600
_TERMS = 24
_TERM_TIMEOUT_S = 0.2
_COMPARABLE = 0.25
"""Share of an answer that must be equal to the other text; less is marked as a whole, which says nothing."""


class FailedItems:
    """Keeps the first items that did not pass, those that regressed before all others.

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
        self._same: Counter[tuple[GroupKey, int]] = Counter()
        self._answers: dict[str, tuple[GroupKey, int]] = {}
        self.total: dict[Kind, int] = dict.fromkeys(LIMITS, 0)
        self._totals: Counter[GroupKey] = Counter()
        self._run = run
        self._evaluators = evaluators
        self._changes = {change.nodeid: change for change in comparison.changes} if comparison else {}
        self._regressed: dict[Kind, list[FailedItem]] = {kind: [] for kind in LIMITS}
        self._others: dict[Kind, list[FailedItem]] = {kind: [] for kind in LIMITS}
        self._unsafe: FailedItem | None = None

    @cached_property
    def _copies(self) -> FailingCopies:
        from pytest_evalstudio.report.failing_copies import FailingCopies

        return FailingCopies()

    def add(self, item: Item) -> None:
        """Take one item of the record."""
        kind = _KINDS.get(item.verdict)
        if kind is None:
            return
        self.total[kind] += 1
        misses = tuple(_misses(self._evaluators, item))
        group_of = group_key(kind, misses, _code(item, misses))
        self._totals[group_of] += 1
        if self._folds_answers and item.rows:
            answer = group_of, hash(item.rows[0].answer.text)
            self._same[answer] += 1
            if self._same[answer] > 1:
                return
            self._answers[item.nodeid] = answer
        change = self._changes.get(item.nodeid)
        if self._copies.folds(item, group_of, change.item_class if change is not None else ""):
            return
        is_regressed = change is not None and change.item_class in ("regressed", "error_now")
        group = (self._regressed if is_regressed else self._others)[kind]
        is_unsafe = kind == "failed" and any(is_safety(self._evaluators[miss.evaluator]) for miss in misses)
        if len(group) < LIMITS[kind] or (is_unsafe and self._unsafe is None):
            failed = self._failed(kind, item, misses, change)
            if is_unsafe:
                self._unsafe = self._unsafe or failed
            if len(group) < LIMITS[kind]:
                group.append(failed)

    def items(self, kind: Kind) -> list[FailedItem]:
        """Return the kept items of a kind, regressed ones first."""
        failed = [*self._regressed[kind], *self._others[kind]]
        selection = self._copies.folded(failed)[: LIMITS[kind]] if failed else []
        return [
            replace(item, equal_answers=self._same[self._answers[item.nodeid]] - 1)
            if item.nodeid in self._answers
            else item
            for item in selection
        ]

    @property
    def first(self) -> FailedItem | None:
        """Return the item that a reader should see first: regressed, else unsafe, else the first one.

        None if nothing failed unexpectedly.
        """
        unsafe = [self._unsafe] if self._unsafe is not None else []
        order = [*self._regressed["failed"], *unsafe, *self._others["failed"], *self.items("error")]
        return next(iter(order), None)

    def groups(self) -> list[FailureGroup]:
        """Return the kept items by kind, evaluator and reason; regressed items and large groups first."""
        return [group for kind in LIMITS for group in grouped(kind, self.items(kind), self._totals)]

    def left_out(self, kind: Kind) -> int:
        """Return the number of items of a kind that are not kept."""
        items = self.items(kind)
        return self.total[kind] - len(items) - sum(item.equal_answers + item.copy_count for item in items)

    def _failed(
        self, kind: Kind, item: Item, misses: tuple[FailedEvaluator, ...], change: ItemChange | None
    ) -> FailedItem:
        row = _failing_row(item, misses, self._evaluators) if item.rows else None
        return FailedItem(
            kind=kind,
            nodeid=item.nodeid,
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


_KINDS: Mapping[str, Kind] = {"failed": "failed", "xpassed": "failed", "error": "error", "xfailed": "xfailed"}


def _code(item: Item, misses: Sequence[FailedEvaluator]) -> str:
    """Return the class of a failure that no evaluator decides or explains, "" for others."""
    if item.code in TITLES:
        return item.code
    faults = {miss.fault for miss in misses}
    return next((code for code in UNANSWERED if faults == {code}), "")


def _misses(evaluators: Mapping[str, EvaluatorEntry], item: Item) -> Iterator[FailedEvaluator]:
    """Yield the evaluators that failed an item, those of safety first, then those with an error.

    An error that decides the item comes first.
    """
    failed = [(id, verdict) for id, verdict in item.verdicts.items() if verdict.passed is False]
    failed.sort(key=lambda entry: entry[0] not in evaluators or not is_safety(evaluators[entry[0]]))
    broken = [(id, verdict) for id, verdict in item.verdicts.items() if verdict.status == "error"]
    for id, verdict in (*broken, *failed) if item.verdict == "error" else (*failed, *broken):
        if id in evaluators:
            yield _miss(evaluators[id], verdict)


def _miss(info: EvaluatorEntry, verdict: Verdict) -> FailedEvaluator:
    if verdict.status == "error":
        return FailedEvaluator(
            evaluator=info.id, name=info.name, reason=_cut(verdict.reason), fault=verdict.code
        )
    key = verdict.missed[0] if verdict.missed else info.primary.key
    metric = next((metric for metric in info.metrics if metric.key == key), info.primary)
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
    marked = _marked(row, row.answer.text, misses, evaluators)
    if not reference or shared_words(actual) < _COMPARABLE:
        actual = [Stretch(answer)] if answer else []
    return FailureTexts(
        question=_cut(row.question, TEXT_CHARS),
        expected=tuple(expected),
        terms=tuple(_terms(row.condition, row.answer.text)) if _is_judged(row) else (),
        actual=tuple(actual),
        segments=_marked(row, answer, misses, evaluators),
        snippet=tuple(snippet(marked)),
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
    row: RecordRow, answer: str, misses: Iterable[FailedEvaluator], evaluators: Mapping[str, EvaluatorEntry]
) -> tuple[Segment, ...]:
    """Return the answer with the stretches that the first evaluator with any marked as bad."""
    for miss in misses:
        outcome = row.outcomes.get(miss.evaluator)
        if outcome is not None and any(mark.part == "answer" for mark in outcome.fragments):
            return tuple(segments(answer, outcome.fragments, evaluators[miss.evaluator].sentence_metric))
    return ()


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
