"""Items that did not pass, with reasons and diffs: as many as a page can show without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pytest_evalstudio.comparison.results import Comparison, ItemChange
from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.text import is_blank
from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.condition_terms import And, Condition, Not, Or
from pytest_evalstudio.record.schema import Item, ItemVerdict, Row, Run
from pytest_evalstudio.report.failures import worst_row
from pytest_evalstudio.report.highlight import Segment, segments
from pytest_evalstudio.report.worddiff import Stretch, changed_words, shared_words

Kind = Literal["failed", "error", "xfailed"]
LIMITS: Mapping[Kind, int] = {"failed": 60, "error": 30, "xfailed": 40}
"""Items of each kind that the page writes out; the others are in the matrix and in the files."""
TEXT_CHARS = 1_500
REASON_CHARS = 600
_TERMS = 24
_TERM_TIMEOUT_S = 0.2
_COMPARABLE = 0.25
"""Share of an answer that must be equal to the other text; less is marked as a whole, which says nothing."""


@dataclass(frozen=True, slots=True)
class TermResult:
    """A term of a condition, as its text, and whether the answer meets it."""

    text: str
    met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedEvaluator:
    """An evaluator that failed the item or could not judge it.

    Attributes:
        metric: name of the first metric that misses its threshold, "" for an error.
        fault: which of several kinds of failure it is, "" where the evaluator tells no kinds apart.
        part: "Retrieval: " where the retrieved context alone fails, else "".
        score: None without a score.
        threshold: in force for this case.
        sign: ≥ or ≤.
    """

    evaluator: str
    name: str
    metric: str = ""
    fault: str = ""
    part: str = ""
    score: float | None = None
    threshold: float | None = None
    sign: str = "≥"
    boolean: bool = False
    reason: str = ""

    @property
    def fact(self) -> str:
        """Return what an evaluator without a score did not do, as the end of a sentence."""
        is_of_judge = self.fault == OutcomeCode.JUDGE_FAILED
        return "got no reply of its judge" if is_of_judge else "could not score it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureTexts:
    """Beginnings of the texts of an item, with what differs.

    Attributes:
        segments: the answer with the stretches that the first evaluator scored; empty without any.
        base, base_actual: the answer in the baseline and the answer now, compared; empty without a baseline.
        left_out: characters of the answer that are not shown.
    """

    question: str = ""
    expected: tuple[Stretch, ...] = ()
    terms: tuple[TermResult, ...] = ()
    actual: tuple[Stretch, ...] = ()
    segments: tuple[Segment, ...] = ()
    base: tuple[Stretch, ...] = ()
    base_actual: tuple[Stretch, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedItem:
    """An item that did not pass.

    Attributes:
        change: class in the comparison with the baseline, "" without one.
        code: class of a failure that no evaluator decides or explains, e.g. "answer_empty", or "no_answer"
            where the host failed; "" for others.
        misses: the evaluators that failed it, those with an error last.
        reason: of the whole item.
        error: of the host, "" if there is an answer.
    """

    kind: Kind
    nodeid: str
    key: str
    model: str
    model_key: str
    change: str = ""
    flaky: bool = False
    code: str = ""
    misses: tuple[FailedEvaluator, ...] = ()
    reason: str = ""
    error: str = ""
    repeats: int = 1
    texts: FailureTexts = FailureTexts()

    @property
    def first(self) -> FailedEvaluator | None:
        """Return the evaluator that failed the item first, None where none or no evaluator alone did."""
        return self.misses[0] if self.misses and not self.code else None

    @property
    def further(self) -> tuple[FailedEvaluator, ...]:
        """Return the evaluators that are named after the reason."""
        if self.first is not None:
            return self.misses[1:]
        return tuple(miss for miss in self.misses if miss.fault != OutcomeCode.NO_ANSWER)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroup:
    """Items of one kind that fail by the same evaluator for the same kind of reason."""

    kind: Kind
    evaluator: str
    title: str
    items: tuple[FailedItem, ...]


class FailedItems:
    """Keeps the first items that did not pass, those that regressed before all others.

    Args:
        run: the record's header.
        evaluators: of the run.
        comparison: with a baseline, None without one.
    """

    def __init__(
        self, run: Run, evaluators: Mapping[str, EvaluatorInfo], comparison: Comparison | None = None
    ) -> None:
        self.total: dict[Kind, int] = dict.fromkeys(LIMITS, 0)
        self._run = run
        self._evaluators = evaluators
        self._changes = {change.nodeid: change for change in comparison.changes} if comparison else {}
        self._regressed: dict[Kind, list[FailedItem]] = {kind: [] for kind in LIMITS}
        self._others: dict[Kind, list[FailedItem]] = {kind: [] for kind in LIMITS}

    def add(self, item: Item) -> None:
        """Take one item of the record."""
        kind = _KINDS.get(item.verdict)
        if kind is None:
            return
        self.total[kind] += 1
        change = self._changes.get(item.nodeid)
        is_regressed = change is not None and change.item_class in ("regressed", "error_now")
        group = (self._regressed if is_regressed else self._others)[kind]
        if len(group) < LIMITS[kind]:
            group.append(self._failed(kind, item, change))

    def items(self, kind: Kind) -> list[FailedItem]:
        """Return the kept items of a kind, regressed ones first."""
        return [*self._regressed[kind], *self._others[kind]][: LIMITS[kind]]

    @property
    def first(self) -> FailedItem | None:
        """Return the item that a reader should see first, None if nothing failed unexpectedly."""
        return next(iter([*self.items("failed"), *self.items("error")]), None)

    def groups(self) -> list[FailureGroup]:
        """Return the kept items by kind, evaluator and reason; regressed items and large groups first."""
        return [group for kind in LIMITS for group in _grouped(kind, self.items(kind))]

    def left_out(self, kind: Kind) -> int:
        """Return the number of items of a kind that are not kept."""
        return self.total[kind] - len(self.items(kind))

    def _failed(self, kind: Kind, item: Item, change: ItemChange | None) -> FailedItem:
        misses = tuple(_misses(self._evaluators, item))
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
            error=_cut(row.error) if row is not None else "",
            repeats=len(item.rows),
            texts=_texts(row, misses, self._evaluators, change) if row is not None else FailureTexts(),
        )


def reason_of(item: FailedItem) -> str:
    """Return the reason of a failure in one sentence: evaluator, score and threshold, or the error."""
    miss = item.first
    if miss is None:
        return item.error or item.reason or "no reason was recorded"
    if not miss.metric:
        return f"{miss.name} {miss.fact}: {item.error or miss.reason}"
    score = "no score" if miss.score is None else f"{miss.score:.4g}"
    limit = "" if miss.threshold is None else f", threshold {miss.sign} {miss.threshold:.4g}"
    figures = "" if miss.boolean and miss.reason else f"{miss.metric} {score}{limit}"
    return f"{miss.part}{miss.name}: {'; '.join(filter(None, (figures, miss.reason)))}"


_TITLES: Mapping[str, str] = {
    ItemCode.ANSWER_EMPTY: "No answer",
    ItemCode.REFUSAL_MISSING: "No refusal where one is expected",
    ItemCode.UNEXPECTED_REFUSAL: "Unexpected refusal",
    OutcomeCode.NO_ANSWER: "The host did not answer",
}
"""Codes of failures that no evaluator decides or explains, and titles of their groups."""
_KINDS: Mapping[str, Kind] = {"failed": "failed", "xpassed": "failed", "error": "error", "xfailed": "xfailed"}


def _code(item: Item, misses: Sequence[FailedEvaluator]) -> str:
    """Return the class of a failure that no evaluator decides or explains, "" for others."""
    if item.code in _TITLES:
        return item.code
    is_of_host = bool(misses) and all(miss.fault == OutcomeCode.NO_ANSWER for miss in misses)
    return OutcomeCode.NO_ANSWER if is_of_host else ""


def _misses(evaluators: Mapping[str, EvaluatorInfo], item: Item) -> Iterator[FailedEvaluator]:
    failed = [(id, verdict) for id, verdict in item.verdicts.items() if verdict.passed is False]
    broken = [(id, verdict) for id, verdict in item.verdicts.items() if verdict.status == "error"]
    for id, verdict in (*failed, *broken):
        if id in evaluators:
            yield _miss(evaluators[id], verdict)


def _miss(info: EvaluatorInfo, verdict: ItemVerdict) -> FailedEvaluator:
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
        part="Retrieval: " if verdict.code == OutcomeCode.RETRIEVAL_FAILED else "",
        score=verdict.scores.get(metric.key),
        threshold=verdict.thresholds.get(metric.key, metric.threshold),
        sign="≥" if metric.better == "higher" else "≤",
        boolean=info.boolean,
        reason=_cut(verdict.reason),
    )


def _fault(info: EvaluatorInfo, verdict: ItemVerdict) -> str:
    """Return the kind of failure that a boolean evaluator tells apart, e.g. retrieval or generation."""
    if not info.boolean:
        return ""
    kinds = [metric for metric in info.metrics if not metric.primary and verdict.scores.get(metric.key)]
    return kinds[-1].name if kinds else ""


def _failing_row(
    item: Item, misses: Sequence[FailedEvaluator], evaluators: Mapping[str, EvaluatorInfo]
) -> Row:
    """Return the repeat that shows the failure: empty, with the worst score, or with an error."""
    if item.code == ItemCode.ANSWER_EMPTY:
        return next((row for row in item.rows if is_blank(row.actual_output)), item.rows[0])
    if misses:
        return worst_row(evaluators[misses[0].evaluator], item.rows)
    return next((row for row in item.rows if row.error), item.rows[0])


def _texts(
    row: Row,
    misses: tuple[FailedEvaluator, ...],
    evaluators: Mapping[str, EvaluatorInfo],
    change: ItemChange | None,
) -> FailureTexts:
    answer = "" if is_blank(row.actual_output) else row.actual_output[:TEXT_CHARS]
    expected, actual = changed_words(row.expected_output[:TEXT_CHARS], answer)
    if not row.expected_output or shared_words(actual) < _COMPARABLE:
        actual = [Stretch(answer)] if answer else []
    base: list[Stretch] = []
    base_actual: list[Stretch] = []
    if change is not None and change.base_answer and change.base_answer != change.answer:
        base, base_actual = changed_words(change.base_answer[:TEXT_CHARS], answer)
    return FailureTexts(
        question=_cut(row.input, TEXT_CHARS),
        expected=tuple(expected),
        terms=tuple(_terms(row.output_condition, row.actual_output)) if _is_judged(row) else (),
        actual=tuple(actual),
        segments=_marked(row, answer, misses, evaluators),
        base=tuple(base),
        base_actual=tuple(base_actual),
        left_out=max(0, len(row.actual_output) - TEXT_CHARS),
    )


def _marked(
    row: Row, answer: str, misses: Iterable[FailedEvaluator], evaluators: Mapping[str, EvaluatorInfo]
) -> tuple[Segment, ...]:
    """Return the answer with the stretches that the first evaluator with any marked as bad."""
    for miss in misses:
        outcome = row.outcomes.get(miss.evaluator)
        if outcome is not None and any(mark.part == "answer" for mark in outcome.fragments):
            return tuple(segments(answer, outcome.fragments, evaluators[miss.evaluator].sentence_metric))
    return ()


def _is_judged(row: Row) -> bool:
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
    except EvalStudioError:
        return


def _leaves(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, And | Or):
        for operand in condition.operands:
            yield from _leaves(operand)
    elif isinstance(condition, Not) and isinstance(condition.operand, And | Or):
        for leaf in _leaves(condition.operand):
            yield leaf.operand if isinstance(leaf, Not) else Not(leaf)
    else:
        yield condition


@dataclass(slots=True)
class _Group:
    title: str
    evaluator: str
    items: list[FailedItem] = field(default_factory=list)


def _grouped(kind: Kind, items: Iterable[FailedItem]) -> Iterator[FailureGroup]:
    groups: dict[tuple[str, str, str], _Group] = {}
    for item in items:
        miss = item.first
        key = (miss.evaluator, miss.metric, miss.fault) if miss is not None else ("", "", item.code)
        title = _TITLES.get(item.code) or _title(miss)
        groups.setdefault(key, _Group(title, key[0])).items.append(item)
    order = sorted(
        groups.values(),
        key=lambda group: (-sum(item.change == "regressed" for item in group.items), -len(group.items)),
    )
    for group in order:
        yield FailureGroup(kind=kind, evaluator=group.evaluator, title=group.title, items=tuple(group.items))


def _title(miss: FailedEvaluator | None) -> str:
    if miss is None:
        return "No evaluator gave a verdict"
    if not miss.metric:
        kind = f" ({_words(miss.fault)})" if miss.fault else ""
        is_of_judge = miss.fault == OutcomeCode.JUDGE_FAILED
        return f"{miss.name}: {'no reply of its judge' if is_of_judge else f'could not score{kind}'}"
    if miss.boolean:
        return f"{miss.name}{f': {_within_sentence(miss.fault)}' if miss.fault else ''}"
    return f"{miss.name}: {miss.metric} {'below' if miss.sign == '≥' else 'above'} the threshold"


def _within_sentence(text: str) -> str:
    """Return a name as it stands within a sentence; an abbreviation keeps its capitals."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _words(code: str) -> str:
    return code.replace("_", " ")


def _cut(text: str, limit: int = REASON_CHARS) -> str:
    return text if len(text) <= limit else text[:limit] + " …"
