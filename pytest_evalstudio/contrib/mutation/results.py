"""Result of mutation testing: how many damaged answers a suite fails, and how many right ones."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, json

FILE = "mutation.json"
AdviceCode = Literal["condition", "strict_condition", "threshold", "evaluator", "expectation"]
FindingCode = Literal[
    "condition_always_met", "condition_too_strict", "threshold_never_missed", "case_notices_nothing"
]


class Share(Struct, frozen=True, kw_only=True):
    """Changed answers that fail, of those that were judged: damaged ones, or right ones in another form.

    Attributes:
        name: of the kind, evaluator or case.
        low, high: 95 % interval, clustered by case; None without any.
    """

    name: str
    failed: int
    total: int
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        """Return the share, 0.0 to 1.0; None without any. Of damaged answers higher is better."""
        return self.failed / self.total if self.total else None


class Advice(Struct, frozen=True, kw_only=True):
    """Smallest change of the suite that fails a damaged answer, and not the original."""

    code: AdviceCode
    text: str


class ChangedAnswer(Struct, frozen=True, kw_only=True):
    """Changed answer of a case.

    Attributes:
        kind: of the change.
        original, text: of the answer.
    """

    file: str
    key: str
    model: str
    question: str
    kind: str
    original: str
    text: str


class Survivor(ChangedAnswer, frozen=True, kw_only=True):
    """Damaged answer that passes.

    Attributes:
        removed, added: words that differ; "" where the whole answer does. Of damaged calls, what was done to
            them is `added`.
        passing: ids of the evaluators that pass it.
        advice: None where no rule of this package knows one.
    """

    removed: str = ""
    added: str = ""
    passing: tuple[str, ...] = ()
    advice: Advice | None = None


class FalseAlarm(ChangedAnswer, frozen=True, kw_only=True):
    """Right answer in another form that fails.

    Attributes:
        failing: ids of the evaluators that fail it.
    """

    failing: tuple[str, ...] = ()


class MutationFinding(Struct, frozen=True, kw_only=True):
    """Part of a suite that says nothing, or that fails right answers.

    Attributes:
        subject: condition, metric or case.
        keys: of the cases.
    """

    code: FindingCode
    subject: str
    text: str
    keys: tuple[str, ...] = ()


class MutationResult(Struct, frozen=True, kw_only=True):
    """All that a mutation test says.

    Attributes:
        source: the run, lab or suite.
        score: of all kinds of damage.
        answers: passing answers that were damaged.
        cases: distinct test cases.
        failing: answers that fail undamaged, which were left out.
        not_judged: answers that were left out since no evaluator judges what they say.
        false_alarms: right answers in another form that fail, of all kinds of form; lower is better.
        harmless: the same by kind of form.
        alarms_by_case: the same by case.
        alarms: right answers in another form that fail.
        unjudged: damaged answers without a verdict, by kind.
        evaluators: share of the damaged answers with a verdict of the evaluator that it fails.
        not_asked: evaluators that were left out, and why.
        survivors: damaged answers that pass; those with advice first.
        seed: of everything random.
    """

    source: str
    score: Share
    answers: int
    cases: int
    failing: int
    not_judged: int = 0
    kinds: tuple[Share, ...]
    evaluators: tuple[Share, ...]
    by_case: tuple[Share, ...]
    false_alarms: Share
    harmless: tuple[Share, ...]
    alarms_by_case: tuple[Share, ...] = ()
    alarms: tuple[FalseAlarm, ...] = ()
    survivors: tuple[Survivor, ...]
    findings: tuple[MutationFinding, ...] = ()
    unjudged: dict[str, int] = {}
    not_asked: dict[str, str] = {}
    seed: int = 0


def as_json(result: MutationResult) -> str:
    """Return the result as JSON, indented."""
    return json.format(json.encode(result), indent=2).decode()
