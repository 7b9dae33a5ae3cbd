"""Values of other tools' files that can carry a call, expectation, verdict or figure are kept or named."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.cells import list_in, object_in
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.importers.kinds import import_file

TRACE = Path(__file__).parents[1] / "data" / "traces" / "mlflow_trace.jsonl"


def result_of(kind: str, value: object, folder: Path) -> tuple[Row, tuple[str, ...]]:
    path = folder / "file.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    result = import_file(kind, path, target="dataset")
    assert not result.errors
    assert isinstance(result.content, LlmDataset)
    [row] = result.content.inputs
    return row, tuple(result.notes)


class TestMlflowTraces:
    def test_have_calls_feedback_id_duration_and_tokens(self, tmp_path: Path) -> None:
        trace = json.loads(TRACE.read_text(encoding="utf-8"))
        row, _ = result_of("mlflow", trace, tmp_path)
        assert (row.key, row.actual_duration) == (
            trace["info"]["trace_id"],
            trace["info"]["execution_duration_ms"] / 1000,
        )
        [call] = row.tool_calls
        assert (call.name, call.arguments, call.result) == ("get_fee", {"country": "FR"}, "30 USD")
        assert call.duration_s is not None
        assert (row.usage, row.served_model) == ({"input_tokens": 32, "output_tokens": 12}, "gpt-4o-2024")
        feedback = (row.model_extra or {})["metadata"]["feedback"]["correct"]
        assert (feedback["value"], feedback["rationale"]) == (True, "As in the list.")

    def test_have_the_calls_of_messages_where_no_tool_is_traced(self, tmp_path: Path) -> None:
        trace = json.loads(TRACE.read_text(encoding="utf-8"))
        spans = trace["data"]["spans"]
        trace["data"]["spans"] = [span for span in spans if span["name"] != "get_fee"]
        row, _ = result_of("mlflow", trace, tmp_path)
        assert [(call.name, call.id, call.result) for call in row.tool_calls] == [
            ("get_fee", "call_1", "30 USD")
        ]

    def test_have_the_error_of_a_tool(self, tmp_path: Path) -> None:
        trace = json.loads(TRACE.with_stem("mlflow_trace_error").read_text(encoding="utf-8"))
        row, _ = result_of("mlflow", trace, tmp_path)
        assert [call.error for call in row.tool_calls] == ["ValueError: no such country"]

    def test_have_lists_that_are_serialized(self, tmp_path: Path) -> None:
        trace = json.loads(TRACE.read_text(encoding="utf-8"))
        facts = {"serialization_format": "JSON_FORMAT", "value": '["30 USD", "France"]'}
        expectation = {"assessment_name": "expected_facts", "expectation": {"serialized_value": facts}}
        trace["info"]["assessments"].append(expectation)
        row, _ = result_of("mlflow", trace, tmp_path)
        assert (row.expected_output, row.expected_facts) == ("It costs 30 USD.", ["30 USD", "France"])


INSPECT: dict[str, Any] = {
    "id": 1,
    "epoch": 1,
    "input": "Fee?",
    "output": {"completion": "5", "model": "m-2024", "usage": {"input_tokens": 1, "output_tokens": 1}},
    "model_usage": {"m": {"input_tokens": 3, "output_tokens": 2}, "grader": {"input_tokens": 9}},
    "messages": [
        {"role": "user", "content": "Fee?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": "find", "arguments": {"q": 1}, "type": "function"}],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "",
            "error": {"type": "timeout", "message": "slow"},
        },
        {"role": "assistant", "content": "5"},
    ],
}


def test_samples_of_inspect_have_tokens_and_calls(tmp_path: Path) -> None:
    row, notes = result_of("inspect", {"eval": {"model": "m"}, "samples": [INSPECT]}, tmp_path)
    assert (row.usage, row.served_model) == ({"input_tokens": 3, "output_tokens": 2}, "m-2024")
    assert [(call.name, call.arguments, call.error) for call in row.tool_calls] == [
        ("find", {"q": 1}, "slow")
    ]
    assert any("tokens of a model besides that of the task (1 time)" in note for note in notes)


def test_samples_without_usage_by_model_have_that_of_the_output(tmp_path: Path) -> None:
    sample = {key: value for key, value in INSPECT.items() if key != "model_usage"}
    row, _ = result_of("inspect", {"eval": {"model": "m"}, "samples": [sample]}, tmp_path)
    assert row.usage == {"input_tokens": 1, "output_tokens": 1}


MESSAGES = {
    "messages": [
        {"role": "user", "content": "Fee?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "find", "args": {"q": 1}, "id": "c1"}]},
        {"type": "tool", "content": "30", "tool_call_id": "c1"},
        {"role": "assistant", "content": "30 USD"},
    ]
}


def test_messages_in_the_outputs_of_langsmith_are_their_last_answer(tmp_path: Path) -> None:
    row, notes = result_of("langsmith", [{"inputs": {"question": "Fee?"}, "outputs": MESSAGES}], tmp_path)
    assert row.expected_output == "30 USD"
    assert any("call of a tool in the outputs (1 time)" in note for note in notes)


def test_messages_in_the_output_of_braintrust_are_its_answer_and_calls(tmp_path: Path) -> None:
    row, _ = result_of("braintrust", [{"input": "Fee?", "output": MESSAGES, "expected": "30 USD"}], tmp_path)
    assert row.actual_output == "30 USD"
    assert [(call.name, call.arguments, call.result) for call in row.tool_calls] == [("find", {"q": 1}, "30")]


def test_values_of_parquet_that_json_lacks_are_texts_and_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    columns = {
        "question": ["Fee?"],
        "at": [datetime.datetime(2026, 1, 2, 3)],
        "took": [datetime.timedelta(seconds=3)],
        "price": [Decimal("1.5")],
        "blob": [b"\xff\x00"],
        "none": [float("nan")],
        "nested": [[{"day": datetime.date(2026, 1, 2)}]],
    }
    parquet.write_table(pyarrow.table(columns), "t.parquet")
    command = ["import", "table", "t.parquet", "--map", "input=question", "-o", "t.json", "--to", "dataset"]
    assert main(command) == 0
    [row] = LlmDataset.load("t.json").inputs
    assert (row.model_extra or {})["metadata"] == {
        "at": "2026-01-02T03:00:00",
        "took": 3.0,
        "price": 1.5,
        "blob": "/wA=",
        "nested": [{"day": "2026-01-02"}],
    }


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("{'text': ['A' 'x'], 'start': [1 2]}", {"text": ["A", "x"], "start": [1, 2]}),
        ("{'text': array(['A', 'x'], dtype=object), 'n': array([1])}", {"text": ["A", "x"], "n": [1]}),
        ("{'text': ['it is [1 2]' \"b\"]}", {"text": ["it is [1 2]", "b"]}),
        ("{'n': [[1 -2]\n [3 4]]}", {"n": [[1, -2], [3, 4]]}),
        ("{'a': -1.5e-3, 'b': None}", {"a": -0.0015, "b": None}),
        ("{a footnote}", None),
    ],
)
def test_arrays_of_numpy_in_objects_are_lists(cell: str, value: object) -> None:
    assert object_in(cell) == value


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("[['A' 'x'] ['B']]", [["A", "x"], ["B"]]),
        ("[array(['A', 'x'], dtype=object)]", [["A", "x"]]),
        ("[1 2]", None),
        ("[1] [2]", None),
    ],
)
def test_arrays_of_numpy_in_lists_are_lists(cell: str, value: object) -> None:
    assert list_in(cell) == value


@pytest.mark.parametrize("kind", ["table", "ragas", "langsmith"])
def test_documents_and_relevance_of_chunks_are_kept_and_their_other_keys_named(
    tmp_path: Path, kind: str
) -> None:
    chunks = [
        {"text": "The fee is 15 USD.", "metadata": {"source": "fees.md"}, "score": 0.9, "lang": "en"},
        {"text": "Free at home.", "metadata": {"source": "home.md", "page": 3}, "score": 0.4},
    ]
    records = {
        "table": {"input": "Fee?", "context": chunks},
        "ragas": {"user_input": "Fee?", "retrieved_contexts": chunks},
        "langsmith": {"inputs": {"question": "Fee?", "context": chunks}},
    }
    row, notes = result_of(kind, [records[kind]], tmp_path)
    assert (row.context, row.context_sources, row.context_scores) == (
        ["The fee is 15 USD.", "Free at home."],
        ["fees.md", "home.md"],
        [0.9, 0.4],
    )
    assert [note.partition(" (")[0] for note in notes] == [
        "not imported: 'lang' of a chunk",
        "not imported: 'metadata' of a chunk",
    ]
