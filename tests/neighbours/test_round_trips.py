"""Files that the real packages write from ours, or run on our questions, come back as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio import LlmDataset, TestLab
from pytest_evalstudio.cli.main import main

CHUNKS = ["A transfer abroad costs 15 USD.", "A card costs 5 USD."]


def dataset() -> LlmDataset:
    content = LlmDataset()
    content.add_input(
        "What does a transfer abroad cost?",
        context=CHUNKS,
        actual_output="It costs 15 USD – “fast”.",
        expected_output="15 USD",
    )
    content.add_input("Is it fast?", actual_output="No.", expected_output="It takes 3 days.")
    return content


def texts(content: LlmDataset) -> list[tuple[object, ...]]:
    return [
        (row.input, tuple(row.context), row.actual_output, row.expected_output, row.expected_tool_calls)
        for row in content.inputs
    ]


def test_ragas_reads_and_writes_what_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = pytest.importorskip("ragas.dataset_schema", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    dataset().save("ours.json")

    assert main(["export", "ragas", "ours.json", "-o", "theirs.jsonl"]) == 0
    read = schema.EvaluationDataset.from_jsonl("theirs.jsonl")
    read.to_jsonl("again.jsonl")
    assert main(["import", "ragas", "again.jsonl", "-o", "back.json"]) == 0

    assert [sample.user_input for sample in read.samples] == [row.input for row in dataset().inputs]
    assert [sample.retrieved_contexts for sample in read.samples] == [CHUNKS, None]
    assert texts(LlmDataset.load("back.json")) == texts(dataset())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of Inspect's streams
@pytest.mark.parametrize("log_format", ["json", "eval"])
def test_inspect_asks_our_questions_and_its_log_has_the_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_format: str
) -> None:
    inspect = pytest.importorskip("inspect_ai")
    samples = pytest.importorskip("inspect_ai.dataset")
    solvers = pytest.importorskip("inspect_ai.solver")
    models = pytest.importorskip("inspect_ai.model")
    monkeypatch.chdir(tmp_path)
    rows = dataset().inputs
    answers = {row.input: row.actual_output for row in rows}

    @solvers.solver
    def scripted() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.output = models.ModelOutput.from_content("mockllm/model", answers[state.input_text])
            return state

        return solve

    task = inspect.Task(
        dataset=[
            samples.Sample(id=str(number), input=row.input, target=row.expected_output)
            for number, row in enumerate(rows)
        ],
        solver=scripted(),
        name="fees",
    )

    [log] = inspect.eval(
        task,
        model="mockllm/model",
        log_dir="logs",
        log_format=log_format,
        display="none",
    )
    assert log.status == "success"
    [path] = Path("logs").glob(f"*.{log_format}")
    assert main(["import", "inspect", str(path), "-o", "back.json"]) == 0

    lab = TestLab.load("back.json")
    assert [model.name for model in lab.models] == ["mockllm/model"]
    assert [(row.input, row.actual_output, row.expected_output) for row in lab.dataset.inputs] == [
        (row.input, row.actual_output, row.expected_output) for row in rows
    ]
    assert json.loads(Path("back.json").read_text(encoding="utf-8"))["name"] == "fees"
