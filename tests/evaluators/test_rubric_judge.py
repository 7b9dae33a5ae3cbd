"""Grades by a rubric of the user's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer, Case, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.rubric_judge import RubricJudge
from support.judging import SaidByTest, panel_of

GRADES = {"1": "It insults the customer.", "3": "It is neutral.", "5": "It thanks or greets the customer."}
CASE = Case(key="k", question="What does it cost?", answer=Answer(text="Dear Jo, 5 USD.", context=("5 USD",)))


def judged(reply: Any, case: Case = CASE, **options: Any) -> tuple[Outcome, Prompt]:
    prompts: list[Prompt] = []

    def say(prompt: Prompt) -> Any:
        prompts.append(prompt)
        return reply

    tools = Tools(judge=panel_of(SaidByTest(say)), split_sentences=str.splitlines)
    judge = RubricJudge(**{"criterion": "Politeness", "grades": GRADES, **options})
    [outcome] = judge.score([case], tools)
    return outcome, prompts[0] if prompts else Prompt(text="")


def test_the_grade_is_the_score_without_probabilities() -> None:
    outcome, prompt = judged({"evidence": "'Dear Jo'", "grade": "5"})
    assert outcome.scores == {"grade": 5.0}
    assert outcome.reason == "Politeness 5: 'Dear Jo'"
    assert outcome.details == {"grade": 5, "evidence": "'Dear Jo'"}
    lines = [f"- {grade}: {anchor}" for grade, anchor in reversed(GRADES.items())]
    assert "\n".join(lines) in prompt.text
    assert "by one criterion: Politeness" in prompt.text
    assert prompt.graded == "grade"
    assert prompt.reply_schema is not None
    assert prompt.reply_schema["properties"]["grade"]["enum"] == ["5", "3", "1"]


def test_the_expectation_over_the_grades_is_the_score() -> None:
    """(5 × 0.6 + 3 × 0.2) / 0.8: a grade that is not on the scale does not count."""
    reply = Answer(text=json.dumps({"evidence": "e", "grade": "5"}), grades={"5": 0.6, "3": 0.2, "4": 0.2})
    outcome, _ = judged(reply)
    assert outcome.scores["grade"] == pytest.approx(4.5)
    assert outcome.details["probabilities"] == {"3": 0.2, "5": 0.6}
    assert outcome.reason == "Politeness 4.5: e"


def test_reference_and_documents_are_shown_on_request() -> None:
    reply = {"evidence": "e", "grade": "3"}
    _, plain = judged(reply)
    assert "Reference answer" not in plain.text
    assert "Documents" not in plain.text
    case = Case(
        **{**{f: getattr(CASE, f) for f in ("key", "question", "answer")}, "expected_output": "Five."}
    )
    _, full = judged(reply, case, with_reference=True, with_context=True)
    assert "Five." in full.text
    assert "Documents that the answer is based on" in full.text


@pytest.mark.parametrize(
    ("options", "needs"),
    [
        ({}, ("question", "actual_output")),
        ({"with_reference": True}, ("question", "actual_output", "expected_output")),
        ({"with_context": True}, ("question", "actual_output", "context")),
    ],
)
def test_it_needs_what_it_shows(options: dict[str, Any], needs: tuple[str, ...]) -> None:
    assert RubricJudge(criterion="c", grades=GRADES, **options).needs == needs


@pytest.mark.parametrize(
    "reply", [{"evidence": "e", "grade": "2"}, {"grade": "5"}, "5 or 3", {"evidence": "e", "grade": 9}]
)
def test_a_reply_that_gives_no_grade_of_the_scale_is_an_error(reply: Any) -> None:
    outcome, _ = judged(reply)
    assert outcome.status == "error"
    assert outcome.code == "judge_unreadable"


@pytest.mark.parametrize(
    ("grades", "fault"),
    [
        ({"5": "a"}, "two or more different grades"),
        ({"5": "a", "05": "b"}, "two or more different grades"),
        ({"good": "a", "1": "b"}, "whole numbers from 0 to 10, found 'good'"),
        ({"-1": "a", "1": "b"}, "found '-1'"),
        ({"11": "a", "1": "b"}, "found '11'"),
        ({"1": " ", "2": "b"}, "grades.1: expected a description"),
    ],
)
def test_a_wrong_scale_is_refused(grades: dict[str, str], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        RubricJudge(criterion="c", grades=grades)
