"""Contexts in the forms of other tools: each chunk is kept with its text, and its document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.chunks import read_chunks

FEE, CARD = "The fee is 5 USD | per month.", "Cards are free."
OBJECTS = [{"text": FEE, "title": "Fees", "score": 0.5}, {"text": CARD, "title": "Cards", "score": 0.1}]
HOTPOT = [["Fees", ["The fee is 5 USD", " | per month."]], ["Cards", ["Cards are free."]]]
STRUCT = {
    "title": ["Fees", "Cards"],
    "sentences": [["The fee is 5 USD", " | per month."], ["Cards are free."]],
}
LANGCHAIN = [
    {"page_content": FEE, "metadata": {"source": "Fees"}},
    {"page_content": CARD, "metadata": {"source": "Cards"}},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, context: Any) -> str:
    row = {"input": "Fee?", "actual_output": "5 USD", "context": context}
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist([row]), name)
    elif name.endswith(".csv"):
        cell = json.dumps(context).replace('"', '""')
        Path(name).write_text(f'input,actual_output,context\nFee?,5 USD,"{cell}"\n')
    else:
        Path(name).write_text(json.dumps(row if name.endswith(".jsonl") else [row]) + "\n")
    return name


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("nested.parquet", OBJECTS),
        ("nested.jsonl", OBJECTS),
        ("nested.csv", OBJECTS),
        ("hotpot.json", HOTPOT),
        ("hotpot.jsonl", HOTPOT),
        ("hotpot.csv", HOTPOT),
        ("hotpot.parquet", STRUCT),
        ("langchain.jsonl", LANGCHAIN),
    ],
)
def test_chunks_are_imported_and_scored_with_their_texts(name: str, context: Any) -> None:
    write(name, context)
    assert main(["import", "table", name, "-o", "data.json", "--to", "dataset"]) == 0
    [row] = json.loads(Path("data.json").read_text())["inputs"]
    assert row["context"] == [FEE, CARD]
    assert row["context_sources"] == ["Fees", "Cards"]
    if not name.endswith(".json"):
        assert main(["score", name, "-o", "out.parquet", "-e", "lexical_groundedness", "--workers", "1"]) == 0
        [path] = Path("out.parquet/answers").iterdir()
        assert pq.read_table(path).to_pylist()[0]["context"] == [FEE, CARD]


@pytest.mark.parametrize("name", ["plain.csv", "plain.jsonl", "plain.parquet"])
def test_plain_texts_with_a_bar_stay_as_they_are(name: str) -> None:
    if name == "plain.csv":
        Path(name).write_text(f'input,actual_output,context\nq,a,"{FEE}"\n')
    else:
        write(name, FEE)
    assert main(["import", "table", name, "-o", "data.json", "--to", "dataset"]) == 0
    [row] = json.loads(Path("data.json").read_text())["inputs"]
    assert row["context"] == [FEE]
    assert "context_sources" not in row


def test_objects_without_a_known_text_are_refused_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    write("other.parquet", [{"vector": [0.5], "words": FEE}])
    assert main(["score", "other.parquet", "-o", "out.parquet", "-e", "lexical_groundedness"]) == 2
    assert (
        "context needs text, JSON text, a list of texts, or of objects with a text" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "context", [5, [5], [[1, 2]], [["Fees", "x"]], [{"other": "x"}], {"title": ["a"]}, ["a", 5]]
)
def test_other_forms_are_no_chunks(context: Any) -> None:
    assert read_chunks(context) is None


def test_absent_chunks_are_left_out_and_sentences_joined_by_one_blank() -> None:
    chunks = read_chunks(["a", None, {"sentences": ["One.", "Two. ", "Three.", " Four."]}])
    assert chunks is not None
    assert [chunk.text for chunk in chunks] == ["a", "One. Two. Three. Four."]
