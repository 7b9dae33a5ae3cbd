"""Imports of traces: what a span says of questions, answers and calls is used, or named with its number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.lab import TestLab
from support.traces import AGENT, assistant, batch, chat, span, tool, user, write_lines

INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
USAGE = {"gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 2}
FIND = {"id": "c1", "name": "find", "arguments": {"q": "fee"}}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "30 USD"}]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported(*spans: dict[str, Any]) -> list[Row]:
    assert main(["import", "traces", write_lines("t.jsonl", batch(spans)), "-o", "lab.json"]) == 0
    return TestLab.load("lab.json").dataset.inputs


def row_of(*spans: dict[str, Any]) -> Row:
    [row] = imported(*spans)
    return row


def model(question: list[Any], answer: dict[str, Any], **attributes: object) -> dict[str, object]:
    messages = {INPUT: json.dumps(question), OUTPUT: json.dumps([answer])}
    return {**chat("", ""), **messages, **{key.replace("__", "."): each for key, each in attributes.items()}}


class TestModelInsideAModel:
    OUTER: ClassVar = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m1"}
    FIRST = model([user("Fee?")], assistant("", FIND))
    SECOND = model([user("Fee?"), assistant("", FIND), RESULT], assistant("It is 30 USD."))

    @pytest.mark.parametrize(
        "outer", [OUTER, {**OUTER, **USAGE}, {**OUTER, INPUT: json.dumps([user("Fee?")])}]
    )
    def test_the_inner_one_is_read_where_the_outer_one_says_less(self, outer: dict[str, object]) -> None:
        row = row_of(span(1, outer), span(2, chat("Fee?", "30 USD"), parent=1))
        assert (row.input, row.actual_output) == ("Fee?", "30 USD")
        assert row.usage == {"input_tokens": 3, "output_tokens": 2}
        assert [step.kind for step in row.steps] == ["model"]

    def test_an_outer_one_of_several_requests_counts_as_none_of_them(self) -> None:
        outer = {
            **chat("Fee?", "It is 30 USD."),
            "gen_ai.usage.input_tokens": 6,
            "gen_ai.usage.output_tokens": 4,
        }
        spans = [span(2, self.FIRST, parent=1), span(3, self.SECOND, parent=1, start_s=2)]
        for attributes in (outer, self.OUTER):
            row = row_of(span(1, attributes, seconds=9), *spans)
            assert (row.input, row.actual_output) == ("Fee?", "It is 30 USD.")
            assert [(call.name, call.result) for call in row.tool_calls] == [("find", "30 USD")]
            assert row.usage == {"input_tokens": 6, "output_tokens": 4}
            assert [step.kind for step in row.steps] == ["model", "model"]

    def test_what_only_the_inner_one_says_is_added(self) -> None:
        messages = {
            **self.OUTER,
            INPUT: json.dumps([user("Fee?")]),
            OUTPUT: json.dumps([assistant("30 USD")]),
        }
        counts = {**self.OUTER, **USAGE, "gen_ai.response.model": "m1-2024", "gen_ai.response.id": "r1"}
        counts["gen_ai.response.finish_reasons"] = ["content_filter"]
        row = row_of(span(1, messages), span(2, counts, parent=1))
        assert (row.actual_output, row.served_model, row.request_id) == ("30 USD", "m1-2024", "r1")
        assert (row.usage, len(row.steps)) == ({"input_tokens": 3, "output_tokens": 2}, 1)
        assert row.finish_reason == "content_filter"

    def test_a_tool_below_a_model_keeps_its_model_calls(self) -> None:
        spans = [
            span(1, {**self.FIRST, **USAGE}, seconds=9),
            span(2, tool("find", id="c1"), parent=1, start_s=1, seconds=3),
            span(3, chat("Summarize.", "A summary."), parent=2, start_s=2),
        ]
        row = row_of(*spans)
        assert row.usage == {"input_tokens": 6, "output_tokens": 4}
        assert [step.kind for step in row.steps] == ["model", "tool", "model"]


def test_the_tokens_of_an_agent_count_where_its_models_have_none() -> None:
    bare = {INPUT: json.dumps([user("Fee?")]), OUTPUT: json.dumps([assistant("30 USD")])}
    row = row_of(
        span(1, {**AGENT, **USAGE}, seconds=5), span(2, {"gen_ai.operation.name": "chat", **bare}, parent=1)
    )
    assert row.usage == {"input_tokens": 3, "output_tokens": 2}


class TestToolSpans:
    WRAPPED: ClassVar = {
        "input_str": "{'q': 'fee'}",
        "tags": ["seq:step:1"],
        "metadata": {"langgraph_node": "tools"},
        "inputs": {"q": "fee"},
        "kwargs": {"color": "green", "name": None, "tool_call_id": "c1"},
    }
    OUTPUT: ClassVar = {
        "output": {"kwargs": {"content": "30 USD", "type": "tool", "tool_call_id": "c1"}},
        "kwargs": {},
    }
    MODEL = span(2, model([user("Fee?")], assistant("", FIND)), parent=1)

    @pytest.mark.parametrize(
        "names",
        [
            ("traceloop.entity.input", "traceloop.entity.output"),
            ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
        ],
    )
    def test_of_langchain_belong_to_their_calls(self, names: tuple[str, str]) -> None:
        values = dict(zip(names, map(json.dumps, (self.WRAPPED, self.OUTPUT)), strict=True))
        attributes = {"traceloop.span.kind": "tool", "traceloop.entity.name": "find", **values}
        row = row_of(span(1, AGENT, seconds=9), self.MODEL, span(3, attributes, parent=1, start_s=2))
        [call] = row.tool_calls
        assert (call.name, call.arguments, call.id, call.result) == ("find", {"q": "fee"}, "c1", "30 USD")

    def test_arguments_of_these_names_are_arguments_elsewhere(self) -> None:
        arguments = {"inputs": {"a": 1}, "tags": ["b"]}
        attributes = tool("label", arguments=json.dumps(arguments), result="done")
        row = row_of(span(1, chat("Fee?", "30 USD")), span(2, attributes, parent=1))
        assert [call.arguments for call in row.tool_calls] == [arguments]

    def test_whose_names_begin_as_a_handover_are_calls(self) -> None:
        kind = {"openinference.span.kind": "TOOL"}
        agent = {"openinference.span.kind": "AGENT", "input.value": "Fee?", "output.value": "30 USD"}
        ticket = {**kind, "tool.name": "handoff_ticket", "input.value": '{"id": 7}', "output.value": "done"}
        row = row_of(
            span(1, agent, seconds=9),
            span(2, ticket, parent=1, name="handoff_ticket"),
            span(3, {**kind, "input.value": "{}"}, parent=1, name="handoff to human", start_s=1),
            span(4, kind, parent=1, name="handoff to Clerk", start_s=2),
        )
        assert [(call.name, call.arguments) for call in row.tool_calls] == [
            ("handoff_ticket", {"id": 7}),
            ("handoff to human", {}),
        ]
        assert [(step.kind, step.name) for step in row.steps if step.kind == "handover"] == [
            ("handover", "handoff to Clerk")
        ]

    @pytest.mark.parametrize("id", [{"id": "c1"}, {}])
    def test_of_a_retry_have_their_own_results(self, id: dict[str, str]) -> None:
        failed = {"status": {"code": 2, "message": "timeout"}}
        arguments = {"arguments": json.dumps(FIND["arguments"])}
        row = row_of(
            span(1, AGENT, seconds=9),
            self.MODEL,
            span(3, tool("find", **id, **arguments), parent=1, start_s=2, **failed),
            span(4, tool("find", **id, **arguments), parent=1, start_s=4),
            span(
                5, model([user("Fee?"), assistant("", FIND), RESULT], assistant("Ok.")), parent=1, start_s=6
            ),
        )
        assert [(call.error, call.result) for call in row.tool_calls] == [("timeout", None), ("", "30 USD")]


def test_a_call_that_the_next_request_repeats_with_another_id_is_one() -> None:
    repeat = [user("Fee?"), assistant("", {**FIND, "id": "fc_1"}), RESULT]
    row = row_of(
        span(1, AGENT, seconds=9),
        span(2, model([user("Fee?")], assistant("", FIND)), parent=1),
        span(3, model(repeat, assistant("Ok.")), parent=1, start_s=6),
    )
    assert [(call.id, call.result) for call in row.tool_calls] == [("c1", "30 USD")]


class TestParts:
    def test_calls_of_the_server_are_calls(self) -> None:
        call = {"type": "server_tool_call", "id": "s1", "name": "web_search"}
        call["server_tool_call"] = {"type": "web_search", "query": "fee"}
        response = {"type": "server_tool_call_response", "id": "s1"}
        response["server_tool_call_response"] = {"type": "web_search", "results": ["30 USD"]}
        text = {"type": "text", "content": "30 USD"}
        answer = {"role": "assistant", "parts": [call, response, text]}
        row = row_of(span(1, model([user("Fee?")], answer)))
        [tool_call] = row.tool_calls
        assert (row.actual_output, tool_call.name, tool_call.id) == ("30 USD", "web_search", "s1")
        assert (tool_call.arguments, json.loads(tool_call.result or "")) == (
            {"query": "fee"},
            {"results": ["30 USD"]},
        )

    @pytest.mark.parametrize(
        ("part", "name"),
        [
            ({"type": "blob", "mime_type": "image/png", "content": "aGk="}, "blob"),
            ({"type": "text", "content": {"lines": ["30 USD"]}}, "text"),
            ({"type": "tool_call", "arguments": {}}, "tool_call"),
            ({"content": "30 USD"}, "without a type"),
        ],
    )
    def test_that_cannot_be_read_are_named(
        self, part: dict[str, Any], name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answer = {"role": "assistant", "parts": [part, {"type": "tool_call", **FIND}]}
        row = row_of(span(1, model([user("Fee?")], answer)))
        assert [call.name for call in row.tool_calls] == ["find"]
        assert f"not imported: part {name!r} of a message (1 time): " in capsys.readouterr().out

    def test_a_faulty_call_does_not_take_the_text_with_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        answer = {"role": "assistant", "content": "30 USD", "tool_calls": [{"function": {}}, FIND]}
        row = row_of(span(1, model([user("Fee?")], answer)))
        assert (row.actual_output, [call.name for call in row.tool_calls]) == ("30 USD", ["find"])
        assert "not imported: part 'tool_calls' of a message (1 time): " in capsys.readouterr().out

    @pytest.mark.parametrize("part", [{"type": "refusal", "refusal": "I cannot."}, None])
    def test_a_refusal_is_an_answer(self, part: dict[str, str] | None) -> None:
        answer = {"role": "assistant", "content": [part] if part else None, "refusal": "I cannot."}
        assert row_of(span(1, model([user("Fee?")], answer))).actual_output == "I cannot."

    def test_thoughts_are_no_loss(self, capsys: pytest.CaptureFixture[str]) -> None:
        parts = [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "30 USD"}]
        row = row_of(span(1, model([user("Fee?")], {"role": "assistant", "parts": parts})))
        assert row.actual_output == "30 USD"
        assert "part" not in capsys.readouterr().out


class TestGuardrails:
    CHECK = chat("Is this safe: 30 USD?", "safe")

    @pytest.mark.parametrize(
        "attributes",
        [
            {"openinference.span.kind": "GUARDRAIL"},
            {"openinference.span.kind": "EVALUATOR"},
            {"mlflow.spanType": '"GUARDRAIL"'},
            {"traceloop.span.kind": "guardrail"},
            {"gen_ai.operation.name": "apply_guardrail"},
        ],
    )
    def test_do_not_answer(self, attributes: dict[str, object]) -> None:
        row = row_of(
            span(1, AGENT, seconds=9),
            span(2, attributes, parent=1),
            span(3, chat("Is this safe: Fee?", "safe"), parent=2),
            span(4, chat("Fee?", "30 USD"), parent=1, start_s=2),
            span(5, attributes, parent=1, start_s=4),
            span(6, AGENT, parent=5, start_s=4),
            span(7, self.CHECK, parent=6, start_s=4),
        )
        assert (row.input, row.actual_output) == ("Fee?", "30 USD")
        assert row.usage == {"input_tokens": 9, "output_tokens": 6}

    def test_an_answer_of_this_word_is_one(self) -> None:
        assert row_of(span(1, chat("Is it safe?", "safe"))).actual_output == "safe"


class TestAgentsOfARequest:
    CLASS = "The question is about fees."

    def spans(self, first: tuple[str, str], second: tuple[str, str]) -> list[dict[str, Any]]:
        session = {"gen_ai.conversation.id": "s1"}
        return [
            span(1, {"http.route": "/ask"}, seconds=9),
            span(2, {**AGENT, **session}, parent=1, seconds=3),
            span(3, chat(*first), parent=2),
            span(4, {**AGENT, **session}, parent=1, start_s=4, seconds=3),
            span(5, chat(*second), parent=4, start_s=4),
        ]

    @pytest.mark.parametrize("second", ["Fee?", CLASS, f"The router says: {CLASS}"])
    def test_are_one_turn_of_the_user(self, second: str) -> None:
        row = row_of(*self.spans(("Fee?", self.CLASS), (second, "30 USD")))
        assert (row.input, row.actual_output, row.turns) == ("Fee?", "30 USD", [])
        assert row.usage == {"input_tokens": 6, "output_tokens": 4}
        assert [step.kind for step in row.steps] == ["agent", "model"] * 2

    def test_two_questions_of_the_user_are_two_turns(self) -> None:
        row = row_of(*self.spans(("Fee?", "30 USD"), ("And abroad?", "50 USD")))
        assert [turn.prompt for turn in row.turns] == ["Fee?", "And abroad?"]

    def test_the_calls_and_chunks_of_both_are_kept_with_their_steps(self) -> None:
        retrievals = [
            span(
                10 + number,
                {
                    "gen_ai.operation.name": "retrieval",
                    "gen_ai.retrieval.documents": json.dumps(
                        [{"content": f"{number} USD", "id": f"d{number}"}]
                    ),
                },
                parent=parent,
                start_s=parent,
            )
            for number, parent in ((1, 2), (2, 4))
        ]
        used = [
            span(
                20 + parent, tool(f"find{parent}", arguments="{}", result="Ok"), parent=parent, start_s=parent
            )
            for parent in (2, 4)
        ]
        row = row_of(*self.spans(("Fee?", "fees"), ("Fee?", "30 USD")), *retrievals, *used)
        assert (row.context, row.context_sources) == (["1 USD", "2 USD"], ["d1", "d2"])
        assert [step.documents for step in row.steps if step.kind == "retrieval"] == [(0,), (1,)]
        assert [row.tool_calls[step.call or 0].name for step in row.steps if step.kind == "tool"] == [
            "find2",
            "find4",
        ]


class TestQuestions:
    MESSAGES: ClassVar = {
        "inputs": {"messages": [{"role": "user", "content": "Fee?"}]},
        "tags": [],
        "kwargs": {"name": "x"},
    }

    @pytest.mark.parametrize(
        "value", [MESSAGES, {"inputs": {"input": "Fee?"}, "tags": []}, {"input": {"question": "Fee?"}}]
    )
    def test_are_found_in_the_inputs_of_a_function(self, value: dict[str, Any]) -> None:
        attributes = {"traceloop.span.kind": "workflow", "traceloop.entity.input": json.dumps(value)}
        output = {"traceloop.entity.output": json.dumps({"outputs": {"answer": "30 USD"}, "kwargs": {}})}
        row = row_of(span(1, {**attributes, **output}))
        assert (row.input, row.actual_output) == ("Fee?", "30 USD")

    def test_that_are_json_are_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        value = json.dumps({"topic": "fees", "country": "France"})
        row = row_of(span(1, {"traceloop.span.kind": "workflow", "traceloop.entity.input": value}))
        assert json.loads(row.input) == {"topic": "fees", "country": "France"}
        assert "not imported: text of a question that is JSON (1 time): " in capsys.readouterr().out

    def test_that_are_cut_off_are_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        fragment = json.dumps([user("Fee? " + "x" * 100)])[:60]
        spans = [
            span(1, {**chat("", "30 USD"), INPUT: fragment}),
            span(2, chat("Fee?", "5"), trace="ab" * 16),
        ]
        row = row_of(*spans)
        assert row.input == "Fee?"
        output = capsys.readouterr().out
        assert f"not imported: value of {INPUT!r} (1 time): " in output
        assert "row without a question (1 time)" in output


class TestLoneSurrogates:
    @pytest.mark.parametrize("place", [INPUT, OUTPUT])
    def test_in_the_json_of_an_attribute_cost_one_character(self, place: str) -> None:
        values = {INPUT: [user("Fee?\ud83d")], OUTPUT: [assistant("30 USD\ud83d", FIND)]}
        attributes = {name: json.dumps(value) for name, value in values.items()}
        row = row_of(span(1, {**chat("", ""), **attributes}))
        assert (row.input, row.actual_output) == ("Fee?\ufffd", "30 USD\ufffd")
        assert [call.name for call in row.tool_calls] == ["find"]

    @pytest.mark.parametrize("broken_text", ['"\\ud83d"', "\ud83d"])
    def test_in_a_line_cost_one_character(self, broken_text: str) -> None:
        first = json.dumps(batch([span(1, chat("Fee?", "30 USD"), name="X")]))
        second = json.dumps(batch([span(2, chat("Fee 2?", "5"), trace="ab" * 16)]))
        line = first.replace('"X"', broken_text if broken_text[0] == '"' else f'"{broken_text}"')
        Path("t.jsonl").write_bytes(f"{line}\n{second}\n".encode("utf-8", "surrogatepass"))
        assert main(["import", "traces", "t.jsonl", "-o", "lab.json"]) == 0
        assert [row.input for row in TestLab.load("lab.json").dataset.inputs] == ["Fee?", "Fee 2?"]
