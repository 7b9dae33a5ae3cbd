"""No direction loses a field of an answer: case, lab, record."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.engine.scoring.answer_rows import (
    answer_of_record,
    answer_of_row,
    complete_row,
    recorded_answer,
)
from pytest_evalstudio.formats.dataset import Row

FULL = Answer(
    text="5 USD",
    context=("The fee is 5 USD.",),
    context_sources=("/lab/fees.md", "/else/rates.md"),
    context_scores=(0.75,),
    duration_s=1.5,
    first_token_s=0.5,
    cost_usd=0.01,
    usage={"input_tokens": 3},
    served_model="served",
    request_id="r1",
    retries=2,
    artifacts=("chart.png",),
    tool_calls=(ToolCall(name="search", arguments={"query": "fee"}, result="5 USD"),),
    error="late",
    stored_at=7.0,
)
OF_ASKING = {"not_asked", "access_refused"}
"""Fields that matter only while the answer is asked for."""


def test_the_answer_has_a_value_in_each_field() -> None:
    unset = {item.name for item in dataclasses.fields(Answer) if getattr(FULL, item.name) == item.default}
    assert unset == OF_ASKING, "give these fields a value above"


def test_a_record_keeps_every_field() -> None:
    recorded = recorded_answer(FULL, "/lab")
    assert recorded.context_sources == ("fees.md", "/else/rates.md")
    assert recorded.stored == "1970-01-01T00:00:07+00:00"
    expected = dataclasses.replace(FULL, context_sources=("fees.md", "/else/rates.md"), artifacts=())
    assert answer_of_record(recorded) == expected


def test_a_lab_keeps_every_field() -> None:
    row = Row(input="Fee?")
    complete_row(row, dataclasses.replace(FULL, error=""), "/lab")
    assert row.model_extra == {"retries": 2, "artifacts": ["chart.png"]}
    expected = dataclasses.replace(
        FULL, error="", context_sources=("fees.md", "/else/rates.md"), artifacts=(), retries=0
    )
    assert answer_of_row(row, error="") == expected


@pytest.mark.parametrize("error", ["", "HTTP 503"])
def test_an_answer_with_an_error_has_no_text(error: str) -> None:
    answer = answer_of_row(Row(input="Fee?", actual_output="INTERNAL ERROR"), error=error)
    assert (answer.text, answer.error) == ("" if error else "INTERNAL ERROR", error)


def test_a_record_is_masked() -> None:
    call = ToolCall(name="mail", arguments={"to": ["jane@bank.com"]}, result="to jane@bank.com")
    recorded = recorded_answer(
        Answer(text="jane@bank.com", context=("jane@bank.com",), tool_calls=(call,)), ""
    )
    assert "jane@bank.com" not in repr(recorded)
