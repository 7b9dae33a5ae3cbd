"""Causes of failures: what went wrong, decided by codes; each failure belongs to exactly one cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Literal, NamedTuple

from msgspec import Struct, field

from pytest_evalstudio.core.codes import OF_RETRIEVAL, UNANSWERED, ItemCode, OutcomeCode
from pytest_evalstudio.core.outcomes import Metric, Verdict
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, Run, VerdictWord

Kind = Literal["failed", "error", "xfailed", "xpassed"]
KINDS: tuple[Kind, ...] = ("failed", "error", "xfailed", "xpassed")
KIND_OF: Mapping[VerdictWord, Kind] = {
    "failed": "failed",
    "error": "error",
    "xfailed": "xfailed",
    "xpassed": "xpassed",
}
"""Verdicts of items that did not end as expected, by kind."""
SAFETY = frozenset({"privacy", "security", "fairness"})
"""Types of problems for which one bad answer is too many: their metrics are judged by the worst case."""
LEAKS = frozenset({"privacy", "security"})
"""Types of problems whose findings are always of high severity."""
REASON_CHARS = 160
MAX_REASONS = 200
"""Reasons of services that are counted: one with an id of each request in it must not fill the memory."""


class CauseCode(StrEnum):
    """Kinds of failures, in the words of a tester."""

    NOT_ANSWERED = "not_answered"
    """The service did not answer."""
    NOT_SUPPORTED = "not_supported"
    """The service takes no such image or file."""
    EMPTY = "empty"
    INCOMPLETE = "incomplete"
    """The answer was cut or filtered."""
    REFUSED = "refused"
    """The model refused a question that it is to answer."""
    REFUSAL_MISSING = "refusal_missing"
    CONVERSATION = "conversation"
    """The condition that ends a conversation was never met."""
    NOT_RETRIEVED = "not_retrieved"
    """The context lacks what the test case expects."""
    NOT_USED = "not_used"
    """The context has what the test case expects, and the answer does not say it."""
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    """The answer says what its context does not."""
    CONDITION = "condition"
    """The answer does not meet the condition of the test case."""
    CONTEXT = "context"
    """The retrieved context alone does not meet the condition."""
    WRONG_CALL = "wrong_call"
    FORBIDDEN_CALL = "forbidden_call"
    MISLED = "misled"
    LEAK_IN_ANSWER = "leak_in_answer"
    LEAK_IN_CONTEXT = "leak_in_context"
    FLIPPED = "flipped"
    """A metric passes for the original question and fails for its perturbation."""
    THRESHOLD = "threshold"
    """Any other metric misses its threshold."""
    UNCHECKED = "unchecked"
    JUDGE = "judge"
    """A judge did not answer, or its reply cannot be read."""
    NOT_SCORED = "not_scored"
    """An evaluator could not score the answer."""
    UNEXPECTED_PASS = "unexpected_pass"
    OTHER = "other"
    """No evaluator decided it, e.g. a fixture or a timeout did."""


_OF_ITEMS: Mapping[str, CauseCode] = {
    ItemCode.ANSWER_EMPTY: CauseCode.EMPTY,
    ItemCode.ANSWER_INCOMPLETE: CauseCode.INCOMPLETE,
    ItemCode.UNEXPECTED_REFUSAL: CauseCode.REFUSED,
    ItemCode.REFUSAL_MISSING: CauseCode.REFUSAL_MISSING,
    ItemCode.CONVERSATION_NOT_ENDED: CauseCode.CONVERSATION,
    ItemCode.NOT_RETRIEVED: CauseCode.NOT_RETRIEVED,
    ItemCode.UNCHECKED: CauseCode.UNCHECKED,
}
_OF_OUTCOMES: Mapping[str, CauseCode] = {
    OutcomeCode.NO_ANSWER: CauseCode.NOT_ANSWERED,
    OutcomeCode.NOT_SUPPORTED: CauseCode.NOT_SUPPORTED,
    OutcomeCode.NOT_RETRIEVED: CauseCode.NOT_RETRIEVED,
    OutcomeCode.CALLS_DIFFER: CauseCode.WRONG_CALL,
    OutcomeCode.CALL_FORBIDDEN: CauseCode.FORBIDDEN_CALL,
    OutcomeCode.JUDGE_FAILED: CauseCode.JUDGE,
    OutcomeCode.JUDGE_UNREADABLE: CauseCode.JUDGE,
    OutcomeCode.JUDGE_CONTRADICTORY: CauseCode.JUDGE,
}
_OF_STAGES: Mapping[str, CauseCode] = {
    "not_retrieved": CauseCode.NOT_RETRIEVED,
    "not_used": CauseCode.NOT_USED,
    "contradicted": CauseCode.CONTRADICTED,
}
_WORDS: Mapping[CauseCode, str] = {
    CauseCode.NOT_ANSWERED: "Not answered",
    CauseCode.NOT_SUPPORTED: "Not answered: the service takes no such image or file",
    CauseCode.EMPTY: "Empty answer",
    CauseCode.INCOMPLETE: "Incomplete answer: cut or filtered",
    CauseCode.REFUSED: "Refused: the answer declines the question",
    CauseCode.REFUSAL_MISSING: "Not refused, although a refusal is expected",
    CauseCode.CONVERSATION: "Conversation not ended",
    CauseCode.NOT_RETRIEVED: "Not in the context: it lacks what is expected",
    CauseCode.NOT_USED: "Retrieved and not used: only the context has it",
    CauseCode.CONTRADICTED: "Contradicted: the answer says the opposite of its context",
    CauseCode.UNSUPPORTED: "Unsupported by the context",
    CauseCode.CONDITION: "Condition not met",
    CauseCode.CONTEXT: "Condition not met by the context",
    CauseCode.WRONG_CALL: "Wrong call of a tool",
    CauseCode.FORBIDDEN_CALL: "Forbidden call of a tool",
    CauseCode.MISLED: "Misled by broken or poisoned tools",
    CauseCode.LEAK_IN_ANSWER: "Leak in the answer",
    CauseCode.LEAK_IN_CONTEXT: "Leak in the context",
    CauseCode.FLIPPED: "Passes as asked originally, fails when perturbed",
    CauseCode.UNCHECKED: "Unchecked: no evaluator judged the answer",
    CauseCode.JUDGE: "No verdict of the judge",
    CauseCode.NOT_SCORED: "Could not be scored",
    CauseCode.UNEXPECTED_PASS: "Passed, although a failure is expected",
    CauseCode.OTHER: "Stopped by something else than an evaluator",
}
_ACTIONS: Mapping[CauseCode, str] = {
    CauseCode.NOT_ANSWERED: "Check the service, its key and its limits, then run again.",
    CauseCode.NOT_SUPPORTED: "Take another model, or leave the files out of the question.",
    CauseCode.EMPTY: "Look at the limit of tokens and at the filters of the service.",
    CauseCode.INCOMPLETE: "Raise the limit of tokens, or look at the filters of the service.",
    CauseCode.REFUSED: "Look at the system prompt and the guardrails, or expect the refusal.",
    CauseCode.REFUSAL_MISSING: "Look at the guardrails: these questions are to be refused.",
    CauseCode.CONVERSATION: "Read the last turns: what does the application still ask for?",
    CauseCode.NOT_RETRIEVED: "See whether the documents have it; then look at the chunks, and at the search.",
    CauseCode.NOT_USED: "Look at the prompt, at the order and number of the chunks, and at the model.",
    CauseCode.CONTRADICTED: "Look at the model and its temperature.",
    CauseCode.UNSUPPORTED: "Read the marked sentences: are they invented, or is a chunk missing?",
    CauseCode.CONDITION: "Compare answers and conditions: which of them is wrong?",
    CauseCode.CONTEXT: "Look at the chunks, at the search and at the number of its results.",
    CauseCode.WRONG_CALL: "Compare the calls with the expected ones; look at the descriptions of the tools.",
    CauseCode.FORBIDDEN_CALL: "State the rule in the system prompt, or enforce it in code.",
    CauseCode.MISLED: "Treat results of tools as data, limit retries in code, let the agent say what failed.",
    CauseCode.LEAK_IN_ANSWER: "Filter the answers, and keep such data out of prompt and context.",
    CauseCode.LEAK_IN_CONTEXT: "Remove the data from the documents, or filter what is retrieved.",
    CauseCode.FLIPPED: "Compare the answers to the original and to the perturbed question.",
    CauseCode.THRESHOLD: "Read the answers with the lowest scores: are they bad, or is the threshold wrong?",
    CauseCode.UNCHECKED: "Add an evaluator that reads the expectations, or an expectation.",
    CauseCode.JUDGE: "Read the replies of the judge; take a stronger one, or raise its limit of tokens.",
    CauseCode.NOT_SCORED: "Read the reason, correct it, and run the cases again.",
    CauseCode.UNEXPECTED_PASS: "Remove the mark that expects the failure.",
    CauseCode.OTHER: "Read pytest's own report of these tests.",
}
"""The next step for each cause."""
_NAMES_EVALUATOR = frozenset(
    {
        CauseCode.UNSUPPORTED,
        CauseCode.LEAK_IN_ANSWER,
        CauseCode.LEAK_IN_CONTEXT,
        CauseCode.JUDGE,
        CauseCode.NOT_SCORED,
    }
)
"""Causes whose title needs the evaluator; those of other causes are clear from the words."""


class CauseKey(NamedTuple):
    """Identity of a cause: failures with equal keys have the same cause.

    Attributes:
        evaluator: id of the evaluator that decided, "" where none did.
        metric: key of the metric, "" where the code says all.
    """

    kind: Kind
    code: CauseCode
    evaluator: str = ""
    metric: str = ""


class Example(Struct, frozen=True, kw_only=True):
    """The first failure of a cause.

    Attributes:
        question, reason: their beginnings on one line.
    """

    nodeid: str
    key: str
    model: str
    question: str = ""
    reason: str = ""


class Cause(Struct, frozen=True, kw_only=True):
    """Failures of one cause.

    Attributes:
        number: place among the causes of the run, from 1.
        evaluator: id, "" where no evaluator decided.
        metric: key, "" where the code says all.
        title: the cause in words, e.g. "Condition not met".
        action: the next step.
        total: number of the items.
        models: model key to number of its items, the most first.
        example: the first of them.
    """

    number: int
    kind: Kind
    code: CauseCode
    evaluator: str
    metric: str
    title: str
    action: str
    total: int
    models: Mapping[str, int]
    example: Example

    @property
    def identity(self) -> CauseKey:
        return CauseKey(self.kind, self.code, self.evaluator, self.metric)


def deciding_verdicts(
    item: Item, evaluators: Mapping[str, EvaluatorEntry]
) -> Iterator[tuple[EvaluatorEntry, Verdict]]:
    """Yield the verdicts that failed an item, those of safety first, then those with an error.

    Errors come first where an error decides the item.
    """
    verdicts = [(evaluators[id], verdict) for id, verdict in item.verdicts.items() if id in evaluators]
    failed = [(info, verdict) for info, verdict in verdicts if verdict.passed is False]
    failed.sort(key=lambda entry: not is_safety(entry[0]))
    errors = [(info, verdict) for info, verdict in verdicts if verdict.status == "error"]
    yield from (*errors, *failed) if item.verdict == "error" else (*failed, *errors)


def is_safety(info: EvaluatorEntry) -> bool:
    """Return whether an evaluator is judged by its worst case."""
    return info.problem_type in SAFETY or info.domain in SAFETY


def missed_metric(info: EvaluatorEntry, verdict: Verdict) -> Metric:
    """Return the first metric that misses its threshold, else the primary one."""
    key = verdict.missed[0] if verdict.missed else info.primary.key
    return next((metric for metric in info.metrics if metric.key == key), info.primary)


def cause_of(item: Item, evaluators: Mapping[str, EvaluatorEntry], stage: str = "") -> CauseKey | None:
    """Return the cause of an item's failure, None for an item that did not fail.

    Args:
        stage: of retrieval and generation at which a failing answer went wrong, "" where that is not known.
    """
    kind = KIND_OF.get(item.verdict)
    if kind is None:
        return None
    if item.verdict == "xpassed":
        return CauseKey(kind, CauseCode.UNEXPECTED_PASS)
    # What fails because of the change of the question is no fault of the answer to the question itself.
    if kind == "failed" and any(flip.fails for flip in item.flips):
        return CauseKey(kind, CauseCode.FLIPPED)
    if item.code in _OF_ITEMS:
        return CauseKey(kind, _OF_ITEMS[item.code])
    deciding = list(deciding_verdicts(item, evaluators))
    codes = {verdict.code for _, verdict in deciding}
    # One missing answer is an error of each evaluator, and none of them is its cause.
    if deciding and all(verdict.status == "error" for _, verdict in deciding) and codes <= set(UNANSWERED):
        return CauseKey(kind, _OF_OUTCOMES[min(codes)])
    if deciding:
        return _of_verdict(kind, *deciding[0], stage)
    return CauseKey(kind, CauseCode.OTHER)


def _of_verdict(kind: Kind, info: EvaluatorEntry, verdict: Verdict, stage: str) -> CauseKey:
    if verdict.status == "error":
        return CauseKey(kind, _OF_OUTCOMES.get(verdict.code, CauseCode.NOT_SCORED), info.id)
    is_of_context = verdict.code in OF_RETRIEVAL
    if verdict.code == OutcomeCode.MISLED:
        return CauseKey(kind, CauseCode.MISLED)
    if info.problem_type in LEAKS:
        return CauseKey(
            kind, CauseCode.LEAK_IN_CONTEXT if is_of_context else CauseCode.LEAK_IN_ANSWER, info.id
        )
    if verdict.code in _OF_OUTCOMES:
        return CauseKey(kind, _OF_OUTCOMES[verdict.code])
    if stage and _judges_content(info):
        return CauseKey(kind, _OF_STAGES[stage])
    if info.boolean and _judges_content(info):
        return CauseKey(kind, CauseCode.CONTEXT if is_of_context else CauseCode.CONDITION, info.id)
    if _judges_support(info):
        return CauseKey(kind, CauseCode.UNSUPPORTED, info.id)
    return CauseKey(kind, CauseCode.THRESHOLD, info.id, missed_metric(info, verdict).key)


def _judges_content(info: EvaluatorEntry) -> bool:
    """Return whether an evaluator compares the answer with what the test case expects."""
    return info.domain not in ("retrieval", *SAFETY) and (
        "expected_output" in info.needs or "condition" in info.needs
    )


def _judges_support(info: EvaluatorEntry) -> bool:
    """Return whether an evaluator compares the answer with its context alone."""
    return info.domain == "generation" and "context" in info.needs and "expected_output" not in info.needs


def cause_title(key: CauseKey, evaluators: Mapping[str, EvaluatorEntry], reason: str = "") -> str:
    """Return a cause in words.

    Args:
        reason: most frequent reason of a service that did not answer, "" for none.
    """
    info = evaluators.get(key.evaluator)
    if key.code == CauseCode.THRESHOLD and info is not None:
        metric = next((metric for metric in info.metrics if metric.key == key.metric), info.primary)
        if info.boolean:
            return f"{info.name}: not passed"
        name = "" if metric.name == info.name else f"{metric.name} "
        return f"{info.name}: {name}{'below' if metric.better == 'higher' else 'above'} the threshold"
    words = _WORDS[key.code]
    if key.code == CauseCode.NOT_ANSWERED and reason:
        return f"{words}: {reason}"
    if info is not None and key.code in _NAMES_EVALUATOR:
        return f"{info.name}: {words[0].lower()}{words[1:]}"
    return words


class _Count(Struct):
    total: int = 0
    models: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    example: Example | None = None


class CauseCounter:
    """Counts the causes of a run's failures, item by item."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._evaluators: Mapping[str, EvaluatorEntry] = run.evaluators
        self._counts: dict[CauseKey, _Count] = {}

    def add(self, item: Item, stage: str = "") -> CauseKey | None:
        """Take one item of the record and return its cause; see `cause_of`."""
        key = cause_of(item, self._evaluators, stage)
        if key is None:
            return None
        count = self._counts.setdefault(key, _Count())
        count.total += 1
        count.models[item.model_key] += 1
        if key.code == CauseCode.NOT_ANSWERED:
            reason = self._service_reason(item)
            if reason in count.reasons or len(count.reasons) < MAX_REASONS:
                count.reasons[reason] += 1
        if count.example is None:
            count.example = _example(item, self._evaluators)
        return key

    def _service_reason(self, item: Item) -> str:
        errors = (row.answer.error for row in item.rows if row.answer.error)
        # The cause names its models; that of one answer would be said twice.
        model = f"model {self._run.model_name(item.model_key)!r}: "
        return excerpt(next(errors, item.reason).removeprefix(model), REASON_CHARS)

    def result(self) -> tuple[Cause, ...]:
        """Return the causes, the largest first; those of expected failures come last."""
        order = sorted(
            self._counts.items(),
            key=lambda entry: (entry[0].kind not in ("failed", "error"), -entry[1].total),
        )
        return tuple(self._cause(number, *entry) for number, entry in enumerate(order, 1))

    def _cause(self, number: int, key: CauseKey, count: _Count) -> Cause:
        assert count.example is not None  # set with the first item
        reason = max(count.reasons, key=count.reasons.__getitem__, default="")
        return Cause(
            number=number,
            kind=key.kind,
            code=key.code,
            evaluator=key.evaluator,
            metric=key.metric,
            title=cause_title(key, self._evaluators, reason),
            action=_ACTIONS[key.code],
            total=count.total,
            models=dict(count.models.most_common()),
            example=count.example,
        )


def _example(item: Item, evaluators: Mapping[str, EvaluatorEntry]) -> Example:
    reasons: Iterable[str] = (verdict.reason for _, verdict in deciding_verdicts(item, evaluators))
    return Example(
        nodeid=item.nodeid,
        key=item.key,
        model=item.model_key,
        question=excerpt(item.rows[0].question, REASON_CHARS) if item.rows else "",
        reason=excerpt(next(filter(None, reasons), item.reason), REASON_CHARS),
    )
