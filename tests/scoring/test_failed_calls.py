"""The first wrong call of a failing answer: its step, the expected call and the actual one."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Answer, Exchange
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.failed_calls import failed_call_lines
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

CALLS = Plan(Registry(), configuration({"evaluators": []})).get("tool_calls")
FIND, MAIL = {"name": "find", "arguments": {"id": 1}}, {"name": "mail", "arguments": {}}


def lines(
    calls: list[dict[str, Any]], expected: list[dict[str, Any]] | None, *, passed: bool = False, **fields: Any
) -> list[str]:
    case = make_case("q", "a", tool_calls=calls, expected_tool_calls=expected)
    task = EvalTask(name="k", model=ModelInfo(key="m", label="m"), case=case)
    verdicts = {CALLS: Verdict(status="score", passed=passed)}
    return list(failed_call_lines(Result(task=task, verdicts=verdicts, **fields), case))


def test_a_missing_first_call_is_before_all_others() -> None:
    assert lines([], [FIND]) == [
        "failed step: before the first call: missing",
        "  expected: find(id=1)",
        "  actual:   no call",
    ]


def test_a_missing_later_call_is_after_the_last_one_that_was_right() -> None:
    assert lines([FIND], [FIND, MAIL])[0] == "failed step: after call 1 of 1: missing"


def test_a_call_with_its_result_is_shown() -> None:
    search = {**FIND, "arguments": {"id": 2}, "result": "nothing\nfound"}
    output = lines([MAIL, search], [MAIL, FIND])
    assert output[0].startswith("failed step: call 2 of 2: ")
    assert output[1:] == ["  expected: find(id=1)", "  actual:   find(id=2)", "  returned: nothing found"]
    failed = lines([MAIL, {**search, "error": "down"}], [MAIL, FIND])
    assert failed[-1] == "  returned: down"


def test_a_call_that_is_not_expected_has_no_counterpart() -> None:
    assert lines([FIND], [])[1:] == ["  expected: no call", "  actual:   find(id=1)"]


def test_right_calls_passing_verdicts_and_cases_without_expectation_have_no_line() -> None:
    assert lines([FIND], [FIND]) == []
    assert lines([], [FIND], passed=True) == []
    assert lines([FIND], None) == []
    assert lines([], [FIND], origin=Origin(by=("antonym:HIGH",), meaning_kept=False)) == []


def test_personal_data_in_calls_is_masked() -> None:
    output = "\n".join(lines([{"name": "mail", "arguments": {"to": "jane.roe@bank-mail.net"}}], [FIND]))
    assert "jane.roe" not in output


@pytest.mark.parametrize(("wrong", "turn"), [(1, "turn 1, "), (2, "turn 2, ")])
def test_the_turn_of_a_conversation_is_named(wrong: int, turn: str) -> None:
    expected = (ExpectedToolCall(name="find", arguments={"id": 1}),)
    call = ToolCall(name="find", arguments={"id": 1})
    turns = tuple(
        Exchange(prompt="q", answer=Answer(text="a", tool_calls=() if number == wrong else (call,)))
        for number in (1, 2)
    )
    plan = ConversationPlan(turns=(PlannedTurn(prompt="q", expected_tool_calls=expected),) * 2)
    case = make_case("q", "a", plan=plan, turns=turns)
    task = EvalTask(name="k", model=ModelInfo(key="m", label="m"), case=case)
    result = Result(task=task, verdicts={CALLS: Verdict(status="score", passed=False)})
    assert next(failed_call_lines(result, case)) == f"failed step: {turn}before the first call: missing"
