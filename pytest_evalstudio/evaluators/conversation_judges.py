"""Judges of agents and conversations: grades from 1 to 5, with the step or turn that decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import number, record, text
from pytest_evalstudio.core.tool_calls import ToolCall, call_text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._assessments import REASON_CHARS, expected_texts
from pytest_evalstudio.evaluators._judged import fault_outcome, judge_keywords, judged
from pytest_evalstudio.metrics.quoting import one_line

_STEP_CHARS = 2_000
_MAX_STEPS = 200
"""Steps that a judge sees; of longer runs the first and the last ones."""
_BEST = 5


def _grade(key: str, name: str, description: str) -> Metric:
    return Metric(key, name, range=(1.0, float(_BEST)), threshold=4.0, primary=True, description=description)


@dataclass(frozen=True)
class GradingJudge:
    """Judge that grades a whole run of an agent or a conversation with one question.

    Class attributes:
        metrics: the declared metric.
        prompts: name of the prompt.
        criteria_by_default: what the judge looks at where no criteria are configured.
    """

    applies_without_text: ClassVar[bool] = True
    applies_to_refusals: ClassVar[bool] = True
    judges_conversations: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]]
    prompts: ClassVar[tuple[str, ...]]
    criteria_by_default: ClassVar[tuple[str, ...]]
    criteria: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.criteria, str) or not all(
            isinstance(line, str) and line.strip() for line in self.criteria
        ):
            raise ConfigurationError('criteria: expected a list of texts, e.g. ["The goal is reached."]')
        # A list could not be hashed, and the class is frozen.
        object.__setattr__(self, "criteria", tuple(self.criteria))

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        steps = list(_steps(case))
        reply = record(
            rationale=text(
                "The evidence, in one to three sentences. Name the step that is most to blame, if any."
            ),
            step=number(
                "Number of the step that is most to blame, 0 for none.", least=0, most=len(steps), whole=True
            ),
            grade=number("The grade.", least=1, most=_BEST, whole=True),
        )
        [answer] = yield [
            Question(
                prompt=self.prompts[0],
                texts={"step": _shortened(steps), **expected_texts(case)},
                settings={"criteria": self.criteria or self.criteria_by_default},
                reply=reply,
                consistency=_contradiction,
            )
        ]
        if answer.fault is not None:
            return fault_outcome(answer.fault)
        step, rationale = int(answer["step"]), one_line(answer["rationale"], REASON_CHARS)
        return Outcome.score(
            {self.metrics[0].key: float(answer["grade"])},
            reason=f"step {step}: {rationale}" if step else rationale,
            details={"grade": answer["grade"], "step": step, "rationale": answer["rationale"]},
        )


def _contradiction(reply: Mapping[str, Any]) -> str:
    """Return how a reply contradicts itself: the best grade blames no step."""
    blames = int(reply["step"]) > 0 and int(reply["grade"]) == _BEST
    return "a step decides, but the grade is the best one" if blames else ""


def _steps(case: Case) -> Iterator[str]:
    """Yield messages and calls in the order in which they happened."""
    # A conversation that was run has its earlier turns in the answer, with the calls between them.
    for turn in case.conversation if not case.answer.turns else ():
        yield f"{turn.role}: {turn.content}"
    if not case.answer.turns:
        yield f"user: {case.question}"
        yield from _of_answer(case.actual_output, case.tool_calls)
    for exchange in case.answer.turns:
        yield f"user: {exchange.prompt}"
        yield from _of_answer(exchange.answer.text, exchange.answer.tool_calls)


def _of_answer(answer: str, calls: Sequence[ToolCall]) -> Iterator[str]:
    for call in calls:
        result = f" returned {call.result}" if call.result else ""
        if call.error:
            result = f" failed: {call.error}"
        yield f"call: {call_text(call.name, call.arguments, call.arguments_text)}{result}"
    if answer:
        yield f"assistant: {answer}"


def _shortened(steps: Sequence[str]) -> list[str]:
    """Return at most `_MAX_STEPS` steps with their numbers, each of bounded length."""
    numbered = [f"{index}. {one_line(step, _STEP_CHARS)}" for index, step in enumerate(steps, 1)]
    left_out = len(numbered) - _MAX_STEPS
    if left_out <= 0:
        return numbered
    # The task is at the beginning and its result at the end.
    half = _MAX_STEPS // 2
    return [*numbered[:half], f"... {left_out} steps are left out ...", *numbered[-half:]]


@evaluator(
    "task_completion",
    name="Task completion",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class TaskCompletion(GradingJudge):
    """Grade of how far the user has, in the end, what was asked for.

    Criteria of your own replace the default ones by `criteria`, a list of sentences.

    Source: own rubric; the idea is that of DeepEval's task completion and of Vertex AI's agent metrics.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        _grade("task_completion", "Task completion", "1: nothing of the task is done; 5: all of it."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("graded_run",)
    criteria_by_default: ClassVar[tuple[str, ...]] = (
        "Everything that the user asks for is done or answered, and nothing else that matters to the user.",
        "What the assistant says it did agrees with its calls and their results.",
        "A request that the assistant must not meet is declined with a reason; this counts as done.",
    )


@evaluator(
    "trajectory_judge",
    name="Trajectory judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class TrajectoryJudge(GradingJudge):
    """Grade of the way to the answer: each call has a reason, and none is missing.

    Criteria of your own, e.g. the policy of the application, replace the default ones by `criteria`.

    Source: own rubric; the idea is that of LangChain's agentevals (trajectory as a judge sees it).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        _grade("trajectory", "Trajectory", "1: the steps harm or miss the goal; 5: each step is needed."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("graded_run",)
    criteria_by_default: ClassVar[tuple[str, ...]] = (
        "Every call follows from what the user wants or from the result of an earlier step.",
        "No call is repeated without a reason, and none that is needed is missing.",
        "Arguments are those that the user or earlier results name; none is invented.",
        "Steps that change something happen after what they depend on is known, and with the user's consent.",
    )


@evaluator(
    "conversation_judge",
    name="Conversation judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class ConversationJudge(GradingJudge):
    """Grade of the assistant's part in a conversation: facts remembered, role kept, every turn answered.

    Criteria of your own replace the default ones by `criteria`, a list of sentences.

    Source: own rubric; the ideas are those of DeepEval's knowledge retention and role adherence.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        _grade("conversation", "Conversation", "1: the conversation fails the user; 5: no fault."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("graded_run",)
    criteria_by_default: ClassVar[tuple[str, ...]] = (
        "Each message of the user is answered by the assistant's next message.",
        "What the user said before is neither asked for again nor contradicted.",
        "The assistant keeps its role, and contradicts none of its own statements.",
        "It does not turn the user away without a reason or a next step.",
    )
