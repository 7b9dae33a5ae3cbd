"""Answers completed by their spans: further attempts, cycles, orphans, and spans without sense."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.traces.answers import completed_answer
from pytest_evalstudio.traces.spans import Span

TRACE = "0123456789abcdef" * 2
FIRST, LAST = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"


def model(id: str, parent: str, tokens: int = 3, **attributes: Any) -> Span:
    values = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": tokens,
    }
    return Span(id=f"{id:0>16}", parent=f"{parent:0>16}", started_s=1.0, attributes={**values, **attributes})


def agent(id: str, parent: str) -> Span:
    values = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    return Span(id=f"{id:0>16}", parent=f"{parent:0>16}", started_s=1.0, attributes=values)


def completed(*spans: Span, answer: Answer | None = None, max_context_chars: int = 1000) -> Answer:
    return completed_answer(
        answer or Answer(text="5"),
        TRACE,
        spans,
        question="Fee?",
        parents=[FIRST, LAST],
        max_context_chars=max_context_chars,
    )


def test_the_spans_of_an_attempt_that_failed_do_not_count() -> None:
    answer = completed(agent("1", FIRST), model("2", "1", 100), agent("3", LAST), model("4", "3", 7))
    assert answer.usage == {"input_tokens": 7}
    assert [step.id for step in answer.steps] == [f"{3:0>16}", f"{4:0>16}"]
    assert answer.traceparent == f"00-{TRACE}-{3:0>16}-01"


def test_spans_whose_parents_are_missing_or_in_a_cycle_are_read() -> None:
    answer = completed(agent("1", "2"), agent("2", "1"), model("3", "3"), model("4", "9"), model("5", "1"))
    assert answer.usage == {"input_tokens": 9}
    assert len(answer.steps) == 5
    assert answer.traceparent == f"00-{TRACE}-{LAST}-01"


def test_ten_thousand_nested_spans_are_read() -> None:
    chain = [agent("1", LAST), *(Span(id=f"{n:016x}", parent=f"{n - 1:016x}") for n in range(2, 10_002))]
    answer = completed(*chain, model(f"{99_999:016x}", f"{10_001:016x}"))
    assert [step.parent for step in answer.steps] == ["", f"{1:0>16}"]


def test_a_context_that_is_too_long_is_left_out() -> None:
    documents = json.dumps([{"content": "x" * 1001}])
    values = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}
    retrieval = Span(id=f"{1:0>16}", parent=LAST, name="faq", attributes=values)
    answer = completed(retrieval, model("2", LAST))
    assert (answer.context, [step.documents for step in answer.steps]) == ((), [(), ()])
    assert completed(retrieval, max_context_chars=1001).steps[0].documents == (0,)


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.usage.input_tokens": -1},
        {"gen_ai.usage.cost": 1e400},
        {"gen_ai.input.messages": "[" * 100_000},
        {"gen_ai.output.messages": 7},
        {"gen_ai.operation.name": ["chat"]},
        {"gen_ai.request.model": {"a": 1}, "gen_ai.response.id": [1]},
    ],
)
def test_attributes_without_sense_leave_the_answer(attributes: dict[str, Any]) -> None:
    span = model("1", LAST, **attributes)
    assert completed(span).text == "5"
