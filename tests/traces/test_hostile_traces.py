"""Traces from strangers: whatever is wrong with a span, the command ends with a sentence."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.fields import validate
from pytest_evalstudio.formats.imported.records import Omissions
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.traces import files, otlp
from pytest_evalstudio.traces.files import Trace
from pytest_evalstudio.traces.json_text import from_json, to_json
from pytest_evalstudio.traces.rows import rows_of
from support.traces import AGENT, batch, chat, pairs, span, tool, write_lines

GOOD = span(1, chat("Fee?", "30 USD"), trace="ab" * 16)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def nested_value(depth: int) -> str:
    return '{"arrayValue":{"values":[' * depth + "{}" + "]}}" * depth


DEEP_SPAN = json.dumps(span(2, {"gen_ai.input.messages": "?"})).replace(
    '{"stringValue": "?"}', nested_value(200)
)
FAULTY_SPANS = {
    "wrong type": json.dumps({**span(2, {}), "name": {"a": 1}}),
    "no trace": json.dumps({**span(2, {}), "traceId": ""}),
    "trace of zeros": json.dumps({**span(2, {}), "traceId": "0" * 32}),
    "a number as trace": json.dumps({**span(2, {}), "traceId": 5}),
    "nested": DEEP_SPAN,
    "attributes that are none": json.dumps({**span(2, {}), "attributes": [1]}),
    "a list": "[]",
    "a time of 400 digits": json.dumps({**span(2, {}), "startTimeUnixNano": 10**400}),
    "an end of 400 digits": json.dumps({**span(2, {}), "endTimeUnixNano": 10**400}),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", FAULTY_SPANS)
def test_a_faulty_span_is_reported_with_its_place_and_the_others_are_read(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps(batch([GOOD, "?"])).replace('"?"', FAULTY_SPANS[name])
    Path("t.jsonl").write_text(text, encoding="utf-8")
    assert main(["import", "traces", "t.jsonl", "-o", "lab.json"]) == 1
    output = capsys.readouterr().out
    assert "t.jsonl byte " in output
    assert "Traceback" not in output
    assert [row.input for row in TestLab.load("lab.json").dataset.inputs] == ["Fee?"]


FAULTY_LINES = {
    "truncated": '{"resourceSpans": [{"scopeSpans"',
    "another format": '{"question": "Fee?"}',
    "deep": nested(100_000),
    "wrong type": '{"resourceSpans": {"a": 1}}',
    "not UTF-8": "\udcff",
    "a number": "5",
    "a list of numbers": "[5]",
    "surrogate": '{"resourceSpans": "\\ud800"}',
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("name", FAULTY_LINES)
def test_a_faulty_line_is_reported_and_the_others_are_read(
    name: str, is_first: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.dumps(batch([GOOD])), FAULTY_LINES[name]]
    text = "\n".join(lines[::-1] if is_first else lines) + "\n\n"
    Path("t.jsonl").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main(["import", "traces", "t.jsonl", "-o", "lab.json"]) == 1
    assert f"t.jsonl line {1 if is_first else 2}: " in capsys.readouterr().out
    assert len(TestLab.load("lab.json").dataset.inputs) == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("values", ['"start_time": "soon"', '"attributes": ' + nested(20_000)])
def test_a_faulty_span_of_phoenix_is_reported(values: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = f'{{"context.trace_id": "ab", {values}}}\n{json.dumps(batch([GOOD]))}\n'
    Path("t.jsonl").write_text(text, encoding="utf-8")
    assert main(["import", "traces", "t.jsonl", "-o", "lab.json"]) == 1
    assert re.search(r"t\.jsonl (byte 0|line 1): ", capsys.readouterr().out)
    assert len(TestLab.load("lab.json").dataset.inputs) == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "5", '{"data": []}', "\n\n", '[{"resourceSpans": []}]', "x" * 99]
)
def test_a_file_without_spans_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.json").write_text(text, encoding="utf-8")
    assert main(["import", "traces", "t.json", "-o", "lab.json"]) == 2
    assert "no span could be imported" in capsys.readouterr().err
    assert not Path("lab.json").exists()
    assert [path.name for path in Path().iterdir()] == ["t.json"]


@pytest.mark.usefixtures("folder")
def test_a_missing_file_and_a_folder_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("missing.json", "."):
        assert main(["import", "traces", name, "-o", "lab.json"]) == 2
        assert "cannot be read" in capsys.readouterr().err


ODD_ATTRIBUTES: dict[str, dict[str, object]] = {
    "NaN in arguments": {
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": NaN}'}}]}]
        )
    },
    "surrogate in arguments": {
        "gen_ai.output.messages": json.dumps(
            [
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "f", "arguments": '{"a": "\\ud800"}'}}],
                }
            ]
        )
    },
    "huge numbers": {"gen_ai.usage.input_tokens": 10**24, "gen_ai.usage.output_tokens": -5},
    "huge number in arguments": {
        "gen_ai.output.messages": [
            {"role": "assistant", "tool_calls": [{"name": "f", "arguments": {"a": 10**24}}]}
        ]
    },
    "a score of 400 digits": {
        "gen_ai.retrieval.documents": '[{"content": "x", "score": 1' + "0" * 400 + "}]"
    },
    "tokens of 21 digits": {"gen_ai.usage.output_tokens": 10**20},
    "deep arguments": {"gen_ai.output.messages": f'[{{"role": "assistant", "content": {nested(300)}}}]'},
    "messages of no kind": {
        "gen_ai.output.messages": '[1, null, {"role": 5}, {"role": "assistant", "parts": [3]}]'
    },
    "parts of no kind": {
        "gen_ai.output.messages": '[{"role": "assistant", "content": [null, {"toolResult": 5}]}]'
    },
    "large index": {"gen_ai.completion.999999999999.content": "x", "gen_ai.completion.x.content": "y"},
    "long path": {"gen_ai.completion.0" + ".a" * 5000: "x"},
    "documents of no kind": {"gen_ai.retrieval.documents": '[1, {"content": 5, "score": "high"}]'},
    "control characters": {"gen_ai.request.model": "a\u001b[31m\u0000b"},
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ODD_ATTRIBUTES)
def test_odd_attributes_do_no_harm(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    first = span(1, {**chat("Fee?", "30 USD"), **ODD_ATTRIBUTES[name], "session.id": "s1"})
    second = span(1, {**chat("Limit?", "5"), "session.id": "s1"}, trace="cd" * 16, start_s=5)
    assert main(["import", "traces", write_lines("t.jsonl", batch([first, second])), "-o", "lab.json"]) == 0
    assert main(["validate", "lab.json"]) == 0
    assert "\u001b" not in capsys.readouterr().out
    [row] = TestLab.load("lab.json").dataset.inputs
    assert [turn.prompt for turn in row.turns] == ["Fee?", "Limit?"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("parents", [[2, 1], [1, 2], [2, 3], [None, 9]])
def test_parents_in_a_cycle_or_missing_end(parents: list[int | None]) -> None:
    spans = [span(number, chat("Fee?", "5"), parent=parent) for number, parent in enumerate(parents, 1)]
    assert main(["import", "traces", write_lines("t.jsonl", batch(spans)), "-o", "lab.json"]) == 0


@pytest.mark.usefixtures("folder")
def test_long_chains_and_many_equal_calls_take_linear_time() -> None:
    count = 20_000
    chain = [span(number, AGENT, parent=number - 1) for number in range(1, count)]
    calls = [span(count + n, tool("find"), parent=count - 1) for n in range(1, count + 1)]
    spans = [*chain, span(count, chat("Fee?", "5"), parent=count - 1), *calls]
    assert main(["import", "traces", write_lines("t.jsonl", batch(spans)), "-o", "lab.json"]) == 0
    rows = TestLab.load("lab.json").dataset.inputs
    assert sum(len(row.tool_calls) for row in rows) == count


@pytest.mark.usefixtures("folder")
def test_more_than_the_limits_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spans = [span(number, chat("Fee?", "5"), parent=1) for number in range(2, 20)]
    name = write_lines("t.jsonl", batch([span(1, AGENT), *spans]))
    monkeypatch.setattr(files, "MAX_SPANS", 10)
    assert main(["import", "traces", name, "-o", "lab.json"]) == 0
    assert "spans of a trace that has too many (1 time)" in capsys.readouterr().out
    assert len(TestLab.load("lab.json").dataset.inputs[0].steps) == 10
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 1000)
    monkeypatch.setattr(files, "MAX_ERRORS", 20)
    for indent, fact in ((None, "has a line of more than 1,000 bytes"), (1, "more than 20 lines or spans")):
        Path("t.json").write_text(json.dumps(batch(spans), indent=indent), encoding="utf-8")
        assert main(["import", "traces", "t.json", "-o", "lab.json"]) == 2
        assert fact in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (gzip.compress(b" " * 1_000_000), "unpacks to more than"),
        (gzip.compress(b"{}" * 9)[:-4], "cannot be read: Compressed file ended before"),
        (b"\x1f\x8bno gzip", "cannot be read: "),
        (gzip.compress(b"{"), "no span could be imported"),
    ],
    # The header of a gzip file holds the time; the ids of two xdist processes must be equal.
    ids=["bomb", "cut off", "only the magic number", "cut-off JSON"],
)
def test_a_bomb_and_a_damaged_gzip_are_reported(
    content: bytes, fact: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 10_000)
    Path("t.jsonl.gz").write_bytes(content)
    assert main(["import", "traces", "t.jsonl.gz", "-o", "lab.json"]) == 2
    error = capsys.readouterr().err
    assert "t.jsonl.gz" in error
    assert fact in error


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt", "gen_ai.tool.call.arguments"),
        *("gen_ai.usage.input_tokens", "gen_ai.retrieval.documents", "gen_ai.system_instructions"),
        *("llm.input_messages.0.message", "llm.input_messages.0.message.tool_calls.0.tool_call"),
        *("gen_ai.completion.0.tool_calls.0", "input.value", "output.value", "session.id", "tool.name"),
        *("retrieval.documents.0.document", "llm.cost.total", "gen_ai.request.model", "gen_ai.tool.name"),
    ]
)
KINDS = st.sampled_from(
    [
        *({"gen_ai.operation.name": name} for name in ("chat", "execute_tool", "invoke_agent", "retrieval")),
        *({"openinference.span.kind": name} for name in ("LLM", "TOOL", "CHAIN", "RETRIEVER")),
    ]
)


@given(KINDS, st.dictionaries(NAMES, JSON_VALUES | JSON_VALUES.map(json.dumps)))
def test_any_values_of_the_attributes_are_read(kind: dict[str, str], attributes: dict[str, Any]) -> None:
    value = {**span(1, {}), "attributes": pairs({**attributes, **kind})}
    read = otlp.read_span(json.dumps(value).encode())
    question = otlp.read_span(json.dumps(span(2, chat("Fee?", "5"), parent=1)).encode())
    rows = list(rows_of(Trace("ab" * 16, (read, question)), Omissions()))
    # Rows are written without validation; each one that could be written must be a valid row.
    for row in rows:
        validate(Row, from_json(to_json(row.fields)), Source(name="t.json", text="", data=None))
