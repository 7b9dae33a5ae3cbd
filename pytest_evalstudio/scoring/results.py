"""The result of one evaluated task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OF_RETRIEVAL, OutcomeCode
from pytest_evalstudio.core.flips import Confirmation, Flip
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.core.plugins.evaluator import WHATEVER_WAS_ASKED
from pytest_evalstudio.formats.config import UncheckedPolicy
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.responses import UNDECIDED, ResponseVerdict
from pytest_evalstudio.scoring.tasks import EvalTask


class Fault(NamedTuple):
    """Reason why an evaluator has no verdict.

    Attributes:
        evaluator: its id.
        code: of the outcome; tells faults of the host, of the judge and of the evaluator apart.
        reason: for people.
    """

    evaluator: str
    code: OutcomeCode
    reason: str


@dataclass(slots=True, eq=False)
class Result:
    """Result of evaluating one task.

    Attributes:
        answers: one answered case per repeat.
        outcomes: per repeat: evaluator to outcome.
        verdicts: evaluator to verdict over the repeats.
        response: verdict on the answers as such: empty, a refusal, an answer.
        unread: expectations of the case that no evaluator has compared the answer with.
        unchecked: treatment of the case if nothing has checked whether the answer is right, "" if something
            has.
        unchecked_reason: why nothing has, in words.
        origin: how a perturbed case was made; None for an original.
        compared_beside: evaluators that compared it with an original which is not part of this run, but was
            scored in addition.
        seconds: the task's share of the chunk's wall time.
        regressed: evaluators that fail the case and passed it in the baseline, where others failed it; its
            confirmation judges by these alone.
        confirmation: of a regressed case that was asked again; None for others.
        not_repeated: why a regressed case was not asked again, "" where it was, or nothing forbids it.
        explained: cause of its regression in one sentence, "" where none was looked for.
        not_run: why the model was not asked all its repeats, "" if it was; there are no verdicts then.
        access_refused: whether it was not asked since its service refused access to an earlier item.
    """

    task: EvalTask
    answers: tuple[Case, ...] = ()
    outcomes: list[dict[ConfiguredEvaluator, Outcome]] = field(default_factory=list)
    verdicts: dict[ConfiguredEvaluator, Verdict] = field(default_factory=dict)
    response: ResponseVerdict = UNDECIDED
    unread: tuple[str, ...] = ()
    unchecked: UncheckedPolicy | Literal[""] = ""
    unchecked_reason: str = ""
    flips: list[Flip] = field(default_factory=list)
    origin: Origin | None = None
    compared_beside: frozenset[str] = frozenset()
    seconds: float = 0.0
    not_run: str = ""
    access_refused: bool = False
    regressed: frozenset[ConfiguredEvaluator] = frozenset()
    confirmation: Confirmation | None = None
    not_repeated: str = ""
    explained: str = ""

    @property
    def errors(self) -> list[Fault]:
        """Return the faults that left evaluators without a verdict."""
        return [
            Fault(selected.id, reached.code, reached.reason)
            for selected, reached in self.verdicts.items()
            if reached.status == "error"
        ]

    @property
    def max_runs(self) -> int:
        """Return the maximum number of repeats of a sequential test, 0 without a test."""
        model = self.task.model
        return model.runs if model.stopping is not None and not self.task.answered else 0

    @property
    def expects_refusal(self) -> bool:
        """Return True if the case expects a refusal; a changed question does not."""
        return self.task.case.expects == "refusal" and (self.origin is None or self.origin.meaning_kept)

    @property
    def expects_refusal_of_turns(self) -> bool:
        """Return True if turns of the conversation expect refusals; changed questions do not."""
        plan = self.task.case.plan
        return (
            plan is not None
            and any(turn.expects == "refusal" for turn in plan.turns)
            and (self.origin is None or self.origin.meaning_kept)
        )

    @property
    def fails_by_content(self) -> bool:
        """Return True if an evaluator of content fails an answer for more than its context."""
        return not self.response.fails and any(
            reached.missed
            and reached.code not in OF_RETRIEVAL
            and selected.spec.problem_type not in WHATEVER_WAS_ASKED
            and self.decides(selected)
            for selected, reached in self.verdicts.items()
        )

    def decides(self, selected: ConfiguredEvaluator) -> bool:
        """Return True if an evaluator's verdict decides the item.

        If a perturbation changed the meaning, the original's expectations do not apply; only leaks and
        unfairness count then.
        """
        return (
            self.origin is None
            or self.origin.meaning_kept
            or selected.spec.problem_type in WHATEVER_WAS_ASKED
        )

    @property
    def applicable(self) -> bool:
        return self.response.passed is not None or any(
            each.status != "not_applicable" for each in self.verdicts.values()
        )
