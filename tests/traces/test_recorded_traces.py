"""Recorded spans of real packages: what the service saw arrives, by import and by the receiver."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.traces.answers import completed_answer
from pytest_evalstudio.traces.collecting import SpanStore
from pytest_evalstudio.traces.receiver import Receiver
from support.children import LONGEST_WAIT_S
from support.traces import TRACE

ROOT = Path(__file__).parents[2]
FILES = Path(os.environ.get("EVALSTUDIO_TRACES") or ROOT / "tests" / "data" / "traces")
"""Folder of the recorded spans; `tox -e recordings-…` records them anew."""
PARENT = f"{9:016x}"
QUESTION, ANSWER = "What is the fee in France?", "The fee is 30 USD."
DOCUMENT = "A transfer within the EU costs 30 USD."
PACKAGES = {
    "OpenInference, OpenAI": "openinference_openai",
    "OpenInference, OpenAI Agents": "openinference_openai_agents",
    "OpenInference, LangChain": "openinference_langchain",
    "OpenInference, LlamaIndex": "openinference_llama_index",
    "OpenLLMetry, OpenAI": "openllmetry_openai",
    "OpenLLMetry, OpenAI Agents": "openllmetry_openai_agents",
    "OpenLLMetry, LangChain": "openllmetry_langchain",
    "OpenTelemetry, OpenAI": "genai_openai_v2",
    "Pydantic AI": "genai_pydantic_ai",
    "Google ADK": "adk",
    "Google ADK, schema 1": "adk_legacy",
    "Strands Agents": "strands",
    "Vercel AI SDK": "vercel",
    "MLflow": "mlflow",
    "MLflow, `Trace.to_json`": "mlflow_trace",
}
"""Files by the names of the packages in the documentation."""
OTLP = sorted(set(PACKAGES.values()) - {"mlflow_trace"})
COLUMNS = ("Questions", "Answers", "Calls", "Arguments", "Results", "Contexts", "Tokens", "Errors of tools")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported(name: str) -> list[Row]:
    path = FILES / f"{name}.jsonl"
    if "EVALSTUDIO_TRACES" in os.environ and not path.exists():
        pytest.skip("another environment of tox records it")
    assert main(["import", "traces", str(path), "-o", "lab.json"]) == 0
    return TestLab.load("lab.json").dataset.inputs


def arrived(name: str) -> dict[str, bool]:
    """Return which of the values that the service saw an import has."""
    rows = imported(name)
    row = rows[-1]
    [call] = row.tool_calls
    usage = {kind: sum(each.usage[kind] for each in rows) for kind in ("input_tokens", "output_tokens")}
    result = call.result or ""
    errors = []
    if (FILES / f"{name}_error.jsonl").exists():
        errors = [call.error for each in imported(f"{name}_error") for call in each.tool_calls]
        assert len(errors) == 1
    values = (
        row.input == QUESTION,
        row.actual_output.strip() == ANSWER,
        call.name == "get_fee",
        call.arguments == {"country": "FR"},
        result in ("30 USD", '{"result": "30 USD"}'),
        row.context == [DOCUMENT],
        usage == {"input_tokens": 32, "output_tokens": 12},
        any(re.search("no such country|Error running tool", error) for error in errors),
    )
    return dict(zip(COLUMNS, values, strict=True))


def documented() -> dict[str, dict[str, str]]:
    """Return the cells of the table in the documentation, by package and column.

    All packages have the values that are no column of the table, as the page says.
    """
    text = (ROOT / "docs" / "scale" / "traces.md").read_text(encoding="utf-8")
    table = text.partition("<!-- packages -->\n")[2].partition("\n\n")[0]
    head, _, *lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    in_all = dict.fromkeys(COLUMNS, "yes")
    return {line[0]: in_all | dict(zip(head[1:], line[1:], strict=True)) for line in lines}


@pytest.mark.parametrize("package", PACKAGES, ids=PACKAGES.values())
def test_the_documented_values_arrive(package: str) -> None:
    cells = documented()[package]
    assert {name: cells[name] == "yes" for name in COLUMNS} == arrived(PACKAGES[package])


def test_all_packages_are_documented() -> None:
    assert list(documented()) == list(PACKAGES)


@pytest.mark.parametrize("name", [*PACKAGES.values(), *(path.stem for path in FILES.glob("*_error.jsonl"))])
def test_nothing_but_the_cost_is_missing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    imported(name)
    lines = re.findall(r"not imported: (.*?) \(", capsys.readouterr().out)
    expected = {"cost of a row"}
    if name in (
        "genai_openai_v2",
        "openinference_openai",
    ):  # two traces, of which the first one ends with the call
        expected.add("result of a tool call")
    assert set(lines) <= expected


def in_question(value: Any) -> Any:
    """Return requests with the spans of one trace, below the request of a question."""
    ids = {span["spanId"] for span in spans_of(value)}
    for span in spans_of(value):
        span["traceId"] = TRACE
        if span.get("parentSpanId") not in ids:
            span["parentSpanId"] = PARENT
    return value


def spans_of(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        span
        for request in requests
        for resource in request.get("resourceSpans", request.get("resourceLogs", []))
        for scope in resource.get("scopeSpans", resource.get("scopeLogs", []))
        for span in scope.get("spans", scope.get("logRecords", []))
    ]


@pytest.mark.parametrize("name", OTLP)
def test_the_receiver_gives_the_same_as_the_import(name: str) -> None:
    rows = imported(name)
    requests = in_question([json.loads(line) for line in (FILES / f"{name}.jsonl").read_text().splitlines()])
    store = SpanStore(TRACE[:16], receives=True)
    receiver = Receiver(store)
    receiver.start()
    try:
        for request in requests:
            signal = "logs" if "resourceLogs" in request else "traces"
            send(f"{receiver.endpoint}/v1/{signal}", request)
        collected = store.collect(TRACE, [PARENT], 10)
    finally:
        receiver.close()
    answer = completed_answer(
        Answer(text=ANSWER),
        TRACE,
        collected.spans,
        question=QUESTION,
        parents=[PARENT],
        max_context_chars=1000,
    )
    assert collected.status == "complete"
    [call], [expected] = answer.tool_calls, rows[-1].tool_calls
    for field in ("name", "arguments", "id", "result", "error", "duration_s"):
        assert getattr(call, field) == getattr(expected, field), field
    assert list(answer.context) == rows[-1].context
    for kind in ("input_tokens", "output_tokens"):
        assert (answer.usage or {})[kind] == sum(row.usage[kind] for row in rows)
    kinds = [step.kind for row in rows for step in row.steps]
    assert sorted(step.kind for step in answer.steps) == sorted(kinds)


def send(address: str, request: dict[str, Any]) -> None:
    headers = {"content-type": "application/json"}
    with urlopen(Request(address, json.dumps(request).encode(), headers), timeout=LONGEST_WAIT_S) as reply:
        assert reply.status == 200
