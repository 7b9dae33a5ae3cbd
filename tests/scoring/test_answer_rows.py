"""No direction loses a field of an answer: case, lab, record."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from pytest_evalstudio.asking.dialogues import joined_answer
from pytest_evalstudio.core.cases import Answer, Exchange
from pytest_evalstudio.core.states import ApplicationState
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.formats.conversations import AnsweredTurn
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.scoring.answer_rows import answer_of_row, complete_row
from pytest_evalstudio.scoring.masking import masked_items, masked_texts
from pytest_evalstudio.scoring.recorded import recorded
from support.processor_time import assert_linear

FULL = Answer(
    text="5 USD",
    thoughts="Perhaps 15 USD?",
    context=("The fee is 5 USD.",),
    context_sources=("/lab/fees.md", "/else/rates.md"),
    context_scores=(0.75,),
    duration_s=1.5,
    first_token_s=0.5,
    cost_usd=0.01,
    usage={"input_tokens": 3},
    served_model="served",
    request_id="r1",
    finish_reason="length",
    traceparent="00-5b8efff798038103d269b633813fc60c-eee19b7ec3c1b174-01",
    spans="incomplete",
    retries=2,
    artifacts=("chart.png",),
    tool_calls=(ToolCall(name="search", arguments={"query": "fee"}, result="5 USD"),),
    steps=(
        Step(kind="model", name="m", agent="desk", id="s1", usage={"input_tokens": 3}, duration_s=0.5),
        Step(
            kind="retrieval", name="faq", parent="s1", text="fee", documents=(0,), cost_usd=0.1, error="late"
        ),
        Step(kind="agent", name="desk", output="5 USD", started_s=1.0),
        Step(kind="tool", call=0),
    ),
    error="late",
    stored_at=7.0,
    session="s1",
    state=ApplicationState(after='{"a": 1}', before="{}"),
    ended_by="max_turns",
    closing_messages=("Thanks!",),
)
"""Answer to a single question, with the field of a conversation's end."""
OF_CONVERSATIONS = {"turns"}
"""The turns of a conversation have a test of their own."""
OF_ASKING = {"not_supported", "not_asked", "access_refused", "retrieves", "error_cause"}
"""Fields that matter only while the answer is asked for."""


def test_the_answer_has_a_value_in_each_field() -> None:
    unset = {item.name for item in structs.fields(Answer) if getattr(FULL, item.name) == item.default}
    assert unset == OF_ASKING | OF_CONVERSATIONS, "give these fields a value above"


def test_a_record_keeps_every_field() -> None:
    answer = recorded(FULL, "/lab")
    assert answer.context_sources == ("fees.md", "/else/rates.md")
    expected = structs.replace(FULL, context_sources=("fees.md", "/else/rates.md"), artifacts=())
    assert answer == expected


def test_a_lab_keeps_every_field() -> None:
    row = Row(input="Fee?")
    complete_row(row, structs.replace(FULL, error=""), "/lab")
    assert row.model_extra == {"retries": 2, "artifacts": ["chart.png"]}
    expected = structs.replace(
        FULL,
        error="",
        context_sources=("fees.md", "/else/rates.md"),
        artifacts=(),
        retries=0,
        stored_at=None,
        ended_by="",
        spans="",
    )
    assert answer_of_row(row, error="") == expected


def test_record_and_lab_keep_the_turns_of_a_conversation() -> None:
    first = structs.replace(
        FULL,
        error="",
        artifacts=(),
        retries=0,
        ended_by="",
        closing_messages=(),
        spans="",
        stored_at=None,
        context_sources=("fees.md", ""),
    )
    last = structs.replace(first, text="Bye", usage={"input_tokens": 4}, cost_usd=0.02)
    answer = joined_answer(
        (Exchange(prompt="Fee?", answer=first), Exchange(prompt="Thanks", answer=last)), ended_by="max_turns"
    )
    assert (answer.text, answer.usage, answer.cost_usd, len(answer.tool_calls)) == (
        "Bye",
        {"input_tokens": 7},
        0.03,
        2,
    )
    assert [step.call for step in answer.steps] == [None, None, None, 0, None, None, None, 1]
    assert [step.documents for step in answer.steps if step.kind == "retrieval"] == [(), (0,)]
    assert recorded(answer, "/lab") == answer
    row = Row(
        input="Fee?", turns=[AnsweredTurn(prompt="Fee?", condition='"5"'), AnsweredTurn(prompt="Thanks")]
    )
    complete_row(row, answer, "/lab")
    read = Row.model_validate(row.to_dict())
    assert answer_of_row(read, error="") == answer
    assert [turn.condition for turn in read.turns] == ['"5"', ""]


@pytest.mark.parametrize("error", ["", "HTTP 503"])
def test_an_answer_with_an_error_has_no_text(error: str) -> None:
    answer = answer_of_row(Row(input="Fee?", actual_output="INTERNAL ERROR"), error=error)
    assert (answer.text, answer.error) == ("" if error else "INTERNAL ERROR", error)


def test_a_record_is_masked() -> None:
    call = ToolCall(name="mail", arguments={"to": ["jane@bank.com"]}, result="to jane@bank.com")
    answer = recorded(Answer(text="jane@bank.com", context=("jane@bank.com",), tool_calls=(call,)), "")
    assert "jane@bank.com" not in repr(answer)


def test_personal_data_in_the_name_of_a_tool_is_masked_in_a_record() -> None:
    calls = (ToolCall(name="jane.roe@bank-mail.net"), ToolCall(name="search", arguments={"query": "fee"}))
    masked, plain = recorded(Answer(text="a", tool_calls=calls), "/").tool_calls
    assert "jane" not in masked.name
    assert plain == calls[1]


def test_keys_of_arguments_are_masked_at_any_depth() -> None:
    arguments = {"balances": {"zz@acme.com": 5, "yy@acme.com": 6}, "jane@acme.com": 1}
    call = ToolCall(name="f", arguments=arguments)
    answer = recorded(Answer(tool_calls=(call,)), "/lab")
    assert "acme.com" not in str(answer)
    assert list(answer.tool_calls[0].arguments["balances"].values()) == [5, 6]


def test_kinds_of_tokens_are_masked() -> None:
    step = Step(kind="model", usage={"jane@acme.com": 3})
    answer = recorded(Answer(text="a", usage={"input": 3, "jane@acme.com": 5}, steps=(step,)), "/")
    assert "acme.com" not in str(answer)
    assert list(answer.usage.values()) == [3, 5]


def test_a_secret_at_the_end_of_a_long_result_is_masked_before_it_is_cut() -> None:
    result = "x " * 9_990 + "jane.doe@acmebank.com" + " y" * 100
    [call] = recorded(Answer(tool_calls=(ToolCall(name="f", result=result),)), "/").tool_calls
    assert call.result is not None
    assert "jane" not in call.result
    assert call.result.endswith(f"… ({len(result):,} characters)")


def test_many_keys_that_become_equal_take_linear_time() -> None:
    def prepare(count: int) -> Callable[[], object]:
        keys = {f"a{count}-{number:06d}@acme.com": number for number in range(count)}

        def mask() -> None:
            assert list(masked_items(keys, masked_texts).values()) == list(range(count))

        return mask

    assert_linear(prepare, 1_000)
