"""`evalstudio import traces`: rows of real and hand-written traces in all formats."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.lab import TestLab
from support.traces import (
    AGENT,
    START_NS,
    TRACE,
    assistant,
    batch,
    chat,
    log_record,
    logs,
    span,
    tool,
    user,
    write_lines,
)

FILES = Path(__file__).parents[1] / "data" / "traces"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported(*names: str | Path, status: int = 0) -> list[Row]:
    assert main(["import", "traces", *map(str, names), "-o", "lab.json"]) == status
    return TestLab.load("lab.json").dataset.inputs


def row_of(*values: object) -> Row:
    [row] = imported(write_lines("t.jsonl", *values))
    return row


@pytest.mark.parametrize(
    ("name", "model", "timed"),
    [
        ("openinference_openai.jsonl", "gpt-4o-2024", False),
        ("openinference_openai_agents.jsonl", "gpt-4o-2024", True),
        ("openinference_langchain.jsonl", "gpt-4o-2024", True),
        ("mlflow.jsonl", "gpt-4o-2024", True),
        ("phoenix_frame.jsonl", "gpt-4o-2024", True),
        ("phoenix_spans.json", "gpt-4o-2024", True),
        ("genai_pydantic_ai.jsonl", "gpt-4o", True),
        ("genai_openai_v2.jsonl", "gpt-4o", False),
    ],
)
def test_all_that_the_service_saw_is_imported(name: str, model: str, timed: bool) -> None:
    rows = imported(FILES / name)
    row = rows[-1]
    assert (row.input, row.actual_output, row.model_key) == (
        "What is the fee in France?",
        "The fee is 30 USD.",
        model,
    )
    [call] = row.tool_calls
    assert (call.name, call.arguments, call.result) == ("get_fee", {"country": "FR"}, "30 USD")
    assert (call.duration_s is not None) == timed
    tokens = {"input_tokens": 0, "output_tokens": 0}
    for other in rows:
        for kind in tokens:
            tokens[kind] += other.usage[kind]
    assert tokens == {"input_tokens": 32, "output_tokens": 12}
    assert [step.kind for other in rows for step in other.steps if step.kind == "model"] == ["model"] * 2
    assert row.actual_duration > 0


def test_documents_that_a_tool_retrieved_are_the_context() -> None:
    [row] = imported(FILES / "openinference_langchain.jsonl")
    assert row.context == ["A transfer within the EU costs 30 USD."]
    assert row.context_sources == ["fees.md"]


@pytest.mark.parametrize(
    "time", [1_795_546_074_728, "2026-11-24T18:47:54.728Z", "2026-11-24T18:47:54.728+00:00"]
)
def test_exports_of_phoenix_have_context_and_times_in_each_form(time: object) -> None:
    for line in ("phoenix_frame.jsonl", "phoenix_spans.json"):
        [row] = imported(FILES / line)
        assert (row.context, row.context_sources) == (["A transfer within the EU costs 30 USD."], ["fees.md"])
        assert row.traceparent.endswith("-0bd23555a22ebf8b-01")
    context = {"context.trace_id": TRACE, "context.span_id": "ab" * 8}
    attributes = {"attributes.input.value": "Fee?", "attributes.output.value": "5"}
    span = {**context, **attributes, "span_kind": "AGENT", "start_time": time, "end_time": time}
    row = row_of({**span, "attributes.llm.model_name": None})
    assert (row.input, row.actual_output, row.steps[0].started_s) == ("Fee?", "5", 1_795_546_074.728)


@pytest.mark.parametrize("name", ["mlflow.jsonl", "openinference_langchain.jsonl"])
def test_compressed_files_give_the_same(name: str) -> None:
    Path("traces.gz").write_bytes(gzip.compress((FILES / name).read_bytes()))
    assert imported("traces.gz") == imported(FILES / name)


def test_spans_of_mlflow_have_context_agent_and_query() -> None:
    [row] = imported(FILES / "mlflow.jsonl")
    assert (row.context, row.context_sources) == (["A transfer within the EU costs 30 USD."], ["fees.md"])
    assert [(step.kind, step.name, step.agent, step.text, step.output) for step in row.steps] == [
        ("agent", "desk", "desk", "", ""),
        ("retrieval", "faq", "desk", "What is the fee in France?", ""),
        ("tool", "get_fee", "desk", "", ""),
        ("model", "gpt-4o-2024", "desk", "", ""),
        ("model", "gpt-4o-2024", "desk", "", "The fee is 30 USD."),
    ]


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.glob("*.json*")))
def test_pytest_and_validate_accept_the_lab(name: str) -> None:
    imported(FILES / name)
    assert main(["validate", "lab.json"]) == 0


AGENT_RUN = [
    span(1, AGENT, seconds=9),
    span(
        2,
        {
            **chat("Fee?", ""),
            "gen_ai.output.messages": json.dumps(
                [assistant("", {"id": "c1", "name": "find", "arguments": {"q": "fee"}})]
            ),
        },
        parent=1,
        start_s=1,
    ),
    span(3, tool("find", id="c1", result="30 USD"), parent=1, start_s=2, seconds=0.5),
    span(4, chat("Fee?", "It is 30 USD.", gen_ai__response__id="r2"), parent=1, start_s=3),
]


def test_an_agent_is_one_row_with_its_calls_and_steps() -> None:
    row = row_of(batch(AGENT_RUN))
    assert (row.key, row.input, row.actual_output, row.actual_duration) == (
        TRACE,
        "Fee?",
        "It is 30 USD.",
        9.0,
    )
    assert (row.usage, row.request_id) == ({"input_tokens": 6, "output_tokens": 4}, "r2")
    assert row.traceparent == f"00-{TRACE}-0000000000000001-01"
    [call] = row.tool_calls
    assert call.to_dict() == {
        "name": "find",
        "arguments": {"q": "fee"},
        "id": "c1",
        "result": "30 USD",
        "agent": "shop",
        "started_s": START_NS / 1e9 + 2,
        "duration_s": 0.5,
    }
    assert [(step.kind, step.name, step.call, step.agent) for step in row.steps] == [
        ("agent", "shop", None, "shop"),
        ("model", "m1", None, "shop"),
        ("tool", "find", 0, "shop"),
        ("model", "m1", None, "shop"),
    ]
    agent, *steps = row.steps
    assert [step.parent for step in steps] == [agent.id] * 3
    assert [(step.text, step.output) for step in row.steps] == [("", "")] * 3 + [("", "It is 30 USD.")]


def test_spans_of_a_trace_may_be_anywhere_in_the_files() -> None:
    expected = row_of(batch(AGENT_RUN))
    first = write_lines("a.jsonl", *(batch([each]) for each in AGENT_RUN[:0:-1]))
    other = span(9, chat("Hello?", "Hi."), trace="ab" * 16)
    second = write_lines("b.jsonl", batch([other, AGENT_RUN[0]]))
    rows = {row.key: row for row in imported(first, second)}
    assert rows[TRACE] == expected
    assert rows["ab" * 16].actual_output == "Hi."


def in_base64(value: dict[str, Any]) -> dict[str, Any]:
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(item)).decode() if key in ids else item
        for key, item in value.items()
    }


def in_jaeger(value: dict[str, Any]) -> dict[str, Any]:
    parent = value.get("parentSpanId")
    reference = {"refType": "CHILD_OF", "traceID": TRACE, "spanID": parent}
    start = int(value["startTimeUnixNano"])
    return {
        "traceID": TRACE,
        "spanID": value["spanId"],
        "operationName": value["name"],
        "references": [reference] if parent else [],
        "startTime": start // 1000,
        "duration": (int(value["endTimeUnixNano"]) - start) // 1000,
        "tags": [
            {"key": pair["key"], "type": "string", "value": next(iter(pair["value"].values()))}
            for pair in value["attributes"]
        ],
        "logs": [],
        "processID": "p1",
    }


def jaeger_export() -> dict[str, Any]:
    spans = [in_jaeger(each) for each in AGENT_RUN]
    for each in spans:
        for tag in each["tags"]:
            if tag["key"].startswith("gen_ai.usage."):
                tag |= {"type": "int64", "value": int(tag["value"])}
    return {"data": [{"traceID": TRACE, "spans": spans, "processes": {"p1": {"serviceName": "shop"}}}]}


SCOPES = [{"spans": [in_base64(each) for each in AGENT_RUN]}]
EXPORTS = {
    "tempo": {"batches": [{"resource": {"attributes": []}, "scopeSpans": SCOPES}]},
    "tempo_old": {"batches": [{"instrumentationLibrarySpans": SCOPES}]},
    "tempo_v2": {"trace": {"resourceSpans": [{"scopeSpans": SCOPES}]}},
    "jaeger": jaeger_export(),
    "jaeger_trace": jaeger_export()["data"][0],
    "otlp_list": [batch(AGENT_RUN[:2]), batch(AGENT_RUN[2:])],
}


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("indent", [None, 2])
def test_exports_of_other_tools_give_the_same_row(name: str, indent: int | None) -> None:
    expected = row_of(batch(AGENT_RUN))
    Path("export.json").write_text("\ufeff" + json.dumps(EXPORTS[name], indent=indent), encoding="utf-8")
    [row] = imported("export.json")
    assert row == expected


BARE = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m1", "gen_ai.usage.input_tokens": 3}
IN, OUT = [user("Fee?")], [assistant("30 USD", {"id": "c1", "name": "find", "arguments": {"q": "fee"}})]
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "fee"}'}}
OPENAI_OUT = {"role": "assistant", "content": "30 USD", "tool_calls": [OPENAI_CALL]}
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
PROMPT, COMPLETION = "gen_ai.prompt", "gen_ai.completion"
PLACES: dict[str, list[object]] = {
    "attributes as JSON": [
        batch(
            [
                span(
                    1,
                    {
                        **BARE,
                        "gen_ai.input.messages": json.dumps(IN),
                        "gen_ai.output.messages": json.dumps(OUT),
                    },
                )
            ]
        )
    ],
    "structured attributes": [
        batch([span(1, {**BARE, "gen_ai.input.messages": IN, "gen_ai.output.messages": OUT})])
    ],
    "content attributes": [
        batch(
            [
                span(
                    1,
                    {**BARE, "gen_ai.prompt": json.dumps(IN), "gen_ai.completion": json.dumps([OPENAI_OUT])},
                )
            ]
        )
    ],
    "log records": [
        logs(
            [
                log_record(1, "gen_ai.user.message", {"content": "Fee?"}),
                log_record(1, "gen_ai.choice", {"index": 0, "message": OPENAI_OUT}),
            ]
        ),
        batch([span(1, BARE)]),
    ],
    "one log record": [
        batch([span(1, BARE)]),
        logs(
            [
                log_record(
                    1,
                    "gen_ai.client.inference.operation.details",
                    gen_ai__input__messages=IN,
                    gen_ai__output__messages=OUT,
                )
            ]
        ),
    ],
    "span events": [
        batch(
            [
                span(
                    1,
                    BARE,
                    events=[
                        {
                            "name": name,
                            "attributes": [{"key": key, "value": {"stringValue": json.dumps(value)}}],
                        }
                        for name, key, value in (
                            ("gen_ai.content.prompt", PROMPT, [{"role": "user", "content": "Fee?"}]),
                            ("gen_ai.content.completion", COMPLETION, [OPENAI_OUT]),
                        )
                    ],
                )
            ]
        )
    ],
    "flattened by OpenLLMetry": [
        batch(
            [
                span(
                    1,
                    {
                        **BARE,
                        "gen_ai.prompt.0.role": "user",
                        "gen_ai.prompt.0.content": "Fee?",
                        "gen_ai.completion.0.role": "assistant",
                        "gen_ai.completion.0.content": "30 USD",
                        "gen_ai.completion.0.tool_calls.0.id": "c1",
                        "gen_ai.completion.0.tool_calls.0.name": "find",
                        "gen_ai.completion.0.tool_calls.0.arguments": '{"q": "fee"}',
                    },
                )
            ]
        )
    ],
}


@pytest.mark.parametrize("place", PLACES)
def test_messages_are_read_wherever_they_stand(place: str) -> None:
    row = row_of(*PLACES[place])
    assert (row.input, row.actual_output, row.usage) == ("Fee?", "30 USD", {"input_tokens": 3})
    assert [(call.name, call.arguments, call.id) for call in row.tool_calls] == [("find", {"q": "fee"}, "c1")]


OPENINFERENCE_RAG = [
    span(
        1, {"openinference.span.kind": "CHAIN", "input.value": '{"input": "Fee?"}', "output.value": "30 USD"}
    ),
    span(
        2,
        {
            "openinference.span.kind": "RETRIEVER",
            "input.value": "Fee?",
            "retrieval.documents.1.document.content": "Free.",
            "retrieval.documents.1.document.id": "b",
            "retrieval.documents.1.document.score": 0.25,
            "retrieval.documents.0.document.content": "30 USD.",
            "retrieval.documents.0.document.metadata": '{"source": "fees.md"}',
            "retrieval.documents.0.document.score": 0.5,
        },
        parent=1,
    ),
    span(
        3,
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "m1",
            "llm.cost.total": 0.5,
            "llm.token_count.prompt": 7,
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Context: 30 USD. Question: Fee?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.contents.0.message_content.type": "text",
            "llm.output_messages.0.message.contents.0.message_content.text": "30 USD",
        },
        parent=1,
    ),
]
GENAI_RAG = [
    span(1, {"gen_ai.operation.name": "invoke_workflow", "traceloop.entity.input": '{"input": "Fee?"}'}),
    span(
        2,
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "Fee?",
            "gen_ai.retrieval.documents": json.dumps(
                [
                    {"content": "30 USD.", "id": "fees.md", "score": 0.5},
                    {"content": "Free.", "id": "b", "score": 0.25},
                ]
            ),
        },
        parent=1,
    ),
    span(3, chat("Context: 30 USD. Question: Fee?", "30 USD", gen_ai__usage__cost=0.5), parent=1),
]


@pytest.mark.parametrize("spans", [OPENINFERENCE_RAG, GENAI_RAG])
def test_retrieved_documents_are_the_context_and_the_question_is_that_of_the_user(
    spans: list[dict[str, Any]],
) -> None:
    row = row_of(batch(spans))
    assert (row.input, row.actual_output, row.cost) == ("Fee?", "30 USD", 0.5)
    assert row.context == ["30 USD.", "Free."]
    assert (row.context_sources, row.context_scores) == (["fees.md", "b"], [0.5, 0.25])
    assert [(step.kind, step.text, step.output, step.documents) for step in row.steps] == [
        ("retrieval", "Fee?", "", (0, 1)),
        ("model", "Context: 30 USD. Question: Fee?", "30 USD", ()),
    ]


def test_traces_of_one_conversation_are_its_turns_in_the_order_of_time() -> None:
    turns = [
        span(
            number,
            chat(question, answer, gen_ai__conversation__id="s1"),
            trace=f"{number:032x}",
            start_s=number,
        )
        for number, question, answer in ((2, "And abroad?", "50 USD"), (1, "Fee?", "30 USD"))
    ]
    row = row_of(batch(turns))
    assert (row.input, row.actual_output, row.session) == ("Fee?", "50 USD", "s1")
    assert [(turn.prompt, turn.actual_output) for turn in row.turns] == [
        ("Fee?", "30 USD"),
        ("And abroad?", "50 USD"),
    ]
    assert (row.usage, row.actual_duration) == ({"input_tokens": 6, "output_tokens": 4}, 2.0)
    assert row.traceparent == f"00-{2:032x}-{2:016x}-01" == row.turns[1].traceparent
    assert main(["validate", "lab.json"]) == 0


def test_requests_that_are_traced_one_by_one_are_one_turn_with_the_tokens_of_all() -> None:
    call = {"id": "c1", "name": "find", "arguments": {"q": "fee"}}
    session = {"session.id": "s1"}
    result = {"type": "tool_call_response", "id": "c1", "response": "30 USD"}
    history = [user("Fee?"), assistant("", call), {"role": "tool", "parts": [result]}]
    first = {**chat("Fee?", ""), OUTPUT: json.dumps([assistant("", call)])}
    second = {**chat("Fee?", "It is 30 USD."), INPUT: json.dumps(history)}
    row = row_of(
        batch([span(1, {**first, **session})]),
        batch([span(2, {**second, **session}, trace="cd" * 16, start_s=2)]),
    )
    assert (row.input, row.actual_output, row.turns) == ("Fee?", "It is 30 USD.", [])
    assert [(each.name, each.result) for each in row.tool_calls] == [("find", "30 USD")]
    assert (row.usage, row.actual_duration) == ({"input_tokens": 6, "output_tokens": 4}, 2.0)
    assert [step.kind for step in row.steps] == ["model", "model"]


def test_each_root_agent_of_a_trace_is_a_row_and_agents_below_it_are_none() -> None:
    spans = [
        span(1, {"http.route": "/ask"}),
        *(
            each
            for agent in (10, 20)
            for each in (
                span(agent, AGENT, parent=1),
                span(agent + 1, {**AGENT, "gen_ai.agent.name": "clerk"}, parent=agent),
                span(agent + 2, chat(f"Question {agent}?", "Yes."), parent=agent + 1),
            )
        ),
    ]
    rows = imported(write_lines("t.jsonl", batch(spans)))
    assert [row.input for row in rows] == ["Question 10?", "Question 20?"]
    assert [[step.agent for step in row.steps] for row in rows] == [["shop", "clerk", "clerk"]] * 2


def test_a_client_below_a_framework_does_not_count_twice() -> None:
    row = row_of(batch([span(1, chat("Fee?", "30 USD")), span(2, chat("Fee?", "30 USD"), parent=1)]))
    assert (row.usage, len(row.steps)) == ({"input_tokens": 3, "output_tokens": 2}, 1)


def test_two_calls_without_ids_are_told_apart_by_their_arguments() -> None:
    calls = [{"name": "find", "arguments": {"q": text}} for text in ("a", "b")]
    outputs = {"gen_ai.output.messages": json.dumps([assistant("", *calls)])}
    spans = [
        span(1, {**chat("Fee?", ""), **outputs}),
        span(2, tool("find", arguments='{"q": "b"}', result="B"), start_s=2, parent=1),
        span(3, tool("find", arguments='{"q": "a"}', result="A"), start_s=3, parent=1),
    ]
    row = row_of(batch(spans))
    assert [(call.arguments["q"], call.result) for call in row.tool_calls] == [("b", "B"), ("a", "A")]


def test_what_a_trace_does_not_say_is_missing_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    spans = [
        span(
            1, {**AGENT, "gen_ai.input.messages": json.dumps([user("Fee?")])}, seconds=0, endTimeUnixNano="0"
        ),
        span(2, tool("find"), parent=1),
        span(3, {"gen_ai.operation.name": "chat"}, trace="ab" * 16),
        span(4, {"http.route": "/health"}, trace="cd" * 16),
    ]
    row = row_of(batch(spans))
    assert (row.actual_output, row.cost, row.usage, row.actual_duration) == ("", None, {}, 0.0)
    output = capsys.readouterr().out
    for part in (
        "cost of a row (1 time)",
        "tokens of a row (1 time)",
        "model of a row (1 time)",
        "duration of a row (1 time)",
        "result of a tool call (1 time)",
        "arguments of a tool call (1 time)",
        "row without a question (1 time)",
        "trace without a call of a model, tool or agent (1 time)",
    ):
        assert f"not imported: {part}: " in output


def test_an_error_is_the_reason_of_a_missing_answer() -> None:
    failed = {"status": {"code": 2, "message": "rate limit"}}
    row = row_of(batch([span(1, {**BARE, "gen_ai.input.messages": json.dumps(IN)}, **failed)]))
    assert (row.actual_output, row.error) == ("", "rate limit")


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        (["--to", "dataset"], "traces are imported as a lab or a suite"),
        (["--map", "input=a"], "traces are imported as a lab or a suite"),
        (["--sample", "5"], "need --to suite"),
        (["--freeze-calls"], "need --to suite"),
        (["--to", "suite", "--sample", "0"], "expected a number from 1"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], fact: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = write_lines("t.jsonl", batch(AGENT_RUN))
    assert main(["import", "traces", name, "-o", "lab.json", *options]) == 2
    assert fact in capsys.readouterr().err
    assert not Path("lab.json").exists()


def test_several_files_are_for_traces_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "ragas", "a.jsonl", "b.jsonl", "-o", "lab.json"]) == 2
    assert "ragas is read from one file" in capsys.readouterr().err
    assert main(["import", "ragas", "a.jsonl", "--freeze-calls", "-o", "lab.json"]) == 2
    assert "options of traces" in capsys.readouterr().err
