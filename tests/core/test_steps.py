"""Steps of an answer, read from what applications and files say."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.core.steps import Step, read_steps
from pytest_evalstudio.core.tool_calls import ToolCall


def test_calls_are_read_from_the_steps_of_tools() -> None:
    steps, calls = read_steps(
        [
            {"kind": "model", "name": "small", "usage": {"input_tokens": 7}, "duration_s": 0.5},
            {"kind": "tool", "name": "find", "arguments": {"code": "E1"}, "result": "12A", "id": "t1"},
            {"kind": "handover", "name": "billing", "agent": "desk"},
            {"kind": "tool", "name": "cancel", "agent": "billing"},
        ]
    )
    assert [(step.kind, step.name, step.call) for step in steps] == [
        ("model", "small", None),
        ("tool", "find", 0),
        ("handover", "billing", None),
        ("tool", "cancel", 1),
    ]
    assert calls == (
        ToolCall(name="find", arguments={"code": "E1"}, result="12A", id="t1"),
        ToolCall(name="cancel", agent="billing"),
    )


def test_what_was_read_is_read_again() -> None:
    steps, calls = read_steps([{"kind": "tool", "name": "find"}, {"kind": "message", "text": "Done."}])
    second_reading = read_steps([step.to_dict() for step in steps], calls)
    assert second_reading == (steps, calls)
    retrieval = Step(kind="retrieval", name="faq", text="seat", documents=(1, 0))
    assert read_steps([retrieval.to_dict()], chunks=2) == ((retrieval,), ())
    assert read_steps(steps, calls) == (steps, calls)


def test_the_output_of_a_tool_is_the_result_of_its_call() -> None:
    steps, calls = read_steps([{"kind": "tool", "name": "find", "output": "12A"}])
    assert (steps[0].output, calls[0].result) == ("", "12A")


def test_no_steps_leave_the_calls() -> None:
    assert read_steps(None, [ToolCall(name="find")]) == ((), (ToolCall(name="find"),))


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"kind": "model"}, "expected a list of steps"),
        (["find"], "step 0: expected an object with the kind of the step"),
        ([{"kind": "modell"}], "step 0: expected the kind model, tool, .* or message, found 'modell'"),
        ([{"kind": "model", "tokens": 3}], "step 0: 'tokens' is not a key of a step"),
        ([{"kind": "model", "call": 0}], "step 0: call: expected the index of a call"),
        ([{"kind": "model"}, {"kind": "tool", "call": 1}], "step 1: there is no call 1; the answer has 0"),
        ([{"kind": "tool"}], "step 0: the name of the tool is missing"),
        ([{"kind": "model", "name": 3}], "step 0: name: expected a text"),
        ([{"kind": "model", "duration_s": -1}], "step 0: duration_s: expected a number from 0"),
        ([{"kind": "model", "cost_usd": float("nan")}], "step 0: cost_usd: expected a number from 0"),
        ([{"kind": "model", "usage": {"input_tokens": "9"}}], "must be a whole number"),
        ([{"kind": "model", "usage": 3}], "step 0: usage: expected tokens by kind"),
        ([{"kind": "retrieval", "documents": [True]}], "step 0: documents: expected a list of indices"),
        ([{"kind": "retrieval", "documents": [-1]}], "step 0: documents: expected a list of indices"),
        ([{"kind": "retrieval", "documents": [0]}], "step 0: there is no chunk 0; the answer has 0"),
    ],
)
def test_a_faulty_step_is_named(values: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_steps(values)


def test_a_step_of_a_tool_beside_calls_names_its_call() -> None:
    calls = [ToolCall(name="find")]
    assert read_steps([{"kind": "tool", "call": 0}], calls)[0] == (Step(kind="tool", call=0),)
    with pytest.raises(ValueError, match="step 0: it names no call; write its index in tool_calls"):
        read_steps([{"kind": "tool", "name": "find"}], calls)
