"""Judges of agents and conversations: what they see, and what follows from their grades."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.asking.dialogues import joined_answer
from pytest_evalstudio.core.cases import Answer, Case, Exchange
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.conversation_judges import (
    ConversationJudge,
    TaskCompletion,
    TrajectoryJudge,
)
from support.judging import SaidByTest, panel_of
from support.scored_cases import outcomes_of

CALLS = (
    ToolCall(name="find", arguments={"code": "E1"}, result="open"),
    ToolCall(name="cancel", arguments={"code": "E1"}, error="locked"),
)


JUDGES = (TaskCompletion(), TrajectoryJudge(), ConversationJudge())


def outcome_and_prompt(judge: Any, case: Case, reply: dict[str, Any]) -> tuple[Any, str]:
    model = SaidByTest(lambda prompt: reply)
    tools = Tools(judge=panel_of(model), split_sentences=str.splitlines)
    [outcome] = outcomes_of(judge, [case], tools)
    return outcome, model.asked[0]


@pytest.mark.parametrize("judge", JUDGES)
def test_the_grade_is_the_score_and_the_step_is_named(judge: Any) -> None:
    case = Case(key="k", question="Cancel E1", answer=Answer(text="Done.", tool_calls=CALLS))
    outcome, prompt = outcome_and_prompt(judge, case, {"rationale": "It was locked.", "step": 3, "grade": 2})
    [metric] = judge.metrics
    assert outcome.scores == {metric.key: 2.0}
    assert not metric.passes(2.0)
    assert metric.passes(4.0)
    assert outcome.reason == "step 3: It was locked."
    assert outcome.details["step"] == 3
    for line in ("1. user: Cancel E1", '2. call: find(code="E1") returned open', "4. assistant: Done."):
        assert line in prompt
    assert '3. call: cancel(code="E1") failed: locked' in prompt
    assert all(criterion in prompt for criterion in judge.criteria_by_default)


@pytest.mark.parametrize("judge", JUDGES)
def test_a_run_that_ends_with_a_call_and_no_text_is_graded(judge: Any) -> None:
    case = Case(key="k", question="Cancel E1", answer=Answer(tool_calls=CALLS[:1]))
    outcome, prompt = outcome_and_prompt(judge, case, {"rationale": "It is done.", "step": 0, "grade": 5})
    assert list(outcome.scores.values()) == [5.0]
    assert "2. call: find" in prompt


def test_all_turns_of_a_conversation_are_seen_in_order() -> None:
    turns = (
        Exchange(prompt="Hi", answer=Answer(text="Which?")),
        Exchange(prompt="E1", answer=Answer(text="Bye", tool_calls=CALLS[:1])),
    )
    case = Case(key="k", question="E1", answer=joined_answer(turns), expected_output="Cancelled")
    _, prompt = outcome_and_prompt(ConversationJudge(), case, {"rationale": "r", "step": 0, "grade": 5})
    lines = ["1. user: Hi", "2. assistant: Which?", "3. user: E1", "4. call: find", "5. assistant: Bye"]
    positions = [prompt.index(line) for line in lines]
    assert positions == sorted(positions)
    assert "Cancelled" in prompt


def test_long_runs_are_cut_in_the_middle_and_the_judge_is_told() -> None:
    calls = tuple(ToolCall(name=f"f{number}") for number in range(10_000))
    case = Case(key="k", question="q", answer=Answer(text="a", tool_calls=calls))
    _, prompt = outcome_and_prompt(TrajectoryJudge(), case, {"rationale": "r", "step": 0, "grade": 5})
    assert "... 9802 steps are left out ..." in prompt
    assert "10002. assistant: a" in prompt
    assert len(prompt) < 25_000


def test_criteria_of_the_configuration_replace_those_by_default() -> None:
    judge = TaskCompletion(criteria=["It is polite."])
    _, prompt = outcome_and_prompt(
        judge, Case(key="k", question="q", answer=Answer(text="a")), {"rationale": "r", "step": 0, "grade": 5}
    )
    assert "It is polite." in prompt
    assert TaskCompletion.criteria_by_default[0] not in prompt
    with pytest.raises(ConfigurationError, match="criteria: expected a list"):
        TaskCompletion(criteria="polite")


def test_the_best_grade_that_blames_a_step_is_an_error() -> None:
    case = Case(key="k", question="q", answer=Answer(text="a"))
    outcome, _ = outcome_and_prompt(TaskCompletion(), case, {"rationale": "r", "step": 1, "grade": 5})
    assert (outcome.status, outcome.code) == ("error", "judge_contradictory")
