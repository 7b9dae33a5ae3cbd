"""Cells of CSV: texts stay as they are, lists are read as JSON, Python and NumPy write them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.cells import list_in
from pytest_evalstudio.formats.csv_text import parse_csv
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.importers.kinds import import_file

TEXTS = (
    "{'fee': 15}",
    '{"fee":15,"answer":"It is 15."}',
    '{"fee": 1.50, "fee": 2}',
    "[1] a footnote",
    "['a', 'b']",
    "1e400",
    '"quoted"',
    "null",
)


def csv_of(*rows: dict[str, str], delimiter: str = ",") -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_column_is_kept_byte_for_byte(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    row = {"input": "Fee?", "actual_output": text, "expected_output": text, "context": text}
    path.write_text(csv_of(row), encoding="utf-8", newline="")

    [native] = LlmDataset.load(path).inputs
    [imported] = import_file("table", path).content.inputs  # type: ignore[union-attr]

    assert (native.actual_output, native.expected_output) == (text, text)
    assert (imported.actual_output, imported.expected_output) == (text, text)
    assert imported.context == native.context


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1))
def test_lists_are_read_however_they_were_written(texts: list[str]) -> None:
    assert list_in(json.dumps(texts)) == texts
    assert list_in(str(texts)) == texts


@pytest.mark.parametrize(
    "cell", ["['A' 'x']", "['A'\n 'x']", "['A', 'x']", '["A", "x"]', "[\"A\" 'x']", " ['A' 'x'] "]
)
def test_a_list_of_numpy_keeps_its_items(cell: str) -> None:
    assert list_in(cell) == ["A", "x"]


def test_a_list_that_numpy_shortened_is_an_error_with_the_remedy() -> None:
    cell = str(np.array([f"chunk {index}" for index in range(2000)], dtype=object))
    assert "..." in cell
    with pytest.raises(DataError, match=r"column 'context': is a list that NumPy has shortened.*json\.dumps"):
        parse_csv(csv_of({"input": "Q?", "context": cell}), "d.csv")


@pytest.mark.parametrize("cell", ["['a\nb']", "['\\x']", "['a' 'b\n']", "['\\']"])
def test_texts_that_python_does_not_write_are_no_lists(cell: str) -> None:
    assert list_in(cell) is None


@pytest.mark.parametrize("text", ["['" + "a" * 400_000, "[" * 200_000 + "]", "['a' " * 80_000 + "]"])
def test_a_broken_list_is_a_text_and_takes_linear_time(text: str) -> None:
    assert list_in(text) is None


def test_arrays_of_a_frame_are_lists() -> None:
    frame = pd.DataFrame(
        {
            "input": ["Q?"],
            "actual_output": ["A"],
            "context": [np.array(["one", "two"])],
            "cost": [np.float64(1)],
        }
    )
    [row] = LlmDataset.from_frame(frame).inputs
    assert (row.context, row.cost) == (["one", "two"], 1.0)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"question": ["Q?"], "answer": ["A"]}), "no column 'input'; rename 'question'"),
        (pd.DataFrame({"a": [1]}), "no column 'input'; its columns are a"),
        (pd.DataFrame([["Q?", "A", "B"]], columns=["input", "x", "x"]), "'x' is there twice"),
    ],
)
def test_a_frame_with_other_columns_is_an_error(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        LlmDataset.from_frame(frame)
    with pytest.raises(ConfigurationError, match=r"LlmDataset\.from_frame"):
        evaluate(frame)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")])
def test_other_delimiters_are_seen(name: str, delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / name
    row = {"input": "Fee, please?", "actual_output": "5, I think", "output_condition": '"5"'}
    path.write_text(csv_of(row, delimiter=delimiter), encoding="utf-8", newline="")

    [native] = LlmDataset.load(path).inputs
    [imported] = import_file("table", path).content.inputs  # type: ignore[union-attr]

    assert native.input == imported.input == "Fee, please?"
    assert native.output_condition == '"5"'


def test_a_delimiter_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("input|actual_output\nFee, please?|5\n", encoding="utf-8")
    [row] = import_file("table", path, delimiter="|").content.inputs  # type: ignore[union-attr]
    assert row.actual_output == "5"


@pytest.mark.parametrize(("line", "fault"), [("q,a", "fewer"), ("q,a,c,d", "more")])
def test_a_row_with_another_number_of_cells_is_an_error(line: str, fault: str) -> None:
    with pytest.raises(DataError, match=rf"d\.csv:3.*has {fault} cells than the header has columns"):
        parse_csv(f"input,actual_output,output_condition\nq,a,\n{line}\n", "d.csv")
