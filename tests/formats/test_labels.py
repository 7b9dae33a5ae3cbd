"""Labels that people gave."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.labels import (
    ANSWER_ID,
    Label,
    majority,
    read_labels,
    read_ratings,
    read_rows,
)
from pytest_evalstudio.formats.sheets import write_rows


def labels(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "labels.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_labels_are_read_by_key_and_model_and_rows_without_one_are_left_out(tmp_path: Path) -> None:
    path = labels(tmp_path, "label,key,note,model_key\n1,a,fine,m\n,b,unsure,m\n0,a,,n\n")
    assert read_labels(path) == {("a", "m"): 1, ("a", "n"): 0}


def test_words_and_a_spreadsheets_decimals_are_read(tmp_path: Path) -> None:
    path = labels(tmp_path, "key,model_key,label\na,m,good\nb,m,Bad\nc,m,1.0\nd,m,0.0\n")
    assert list(read_labels(path).values()) == [1, 0, 1, 0]
    assert read_labels(labels(tmp_path, "key,model_key,label\na,m,4.0\n"), levels=True) == {("a", "m"): 4}


def test_levels_are_whole_numbers(tmp_path: Path) -> None:
    assert read_labels(labels(tmp_path, "key,model_key,label\na,m,-1\nb,m, 5 \n"), levels=True) == {
        ("a", "m"): -1,
        ("b", "m"): 5,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("key,label\na,1\n", r":1: there is no column 'model_key'", id="no column"),
        pytest.param("", r":1: there is no column 'key', 'model_key', 'label'", id="an empty file"),
        pytest.param("key,model_key,label\na,m,yes\n", r":2: label 'yes' is neither 1", id="another label"),
        pytest.param(
            "key,model_key,label\na,m,2\n", r":2: label '2' is neither 1", id="a level where there are two"
        ),
        pytest.param(
            "key,model_key,label\na,m,1\na,m,0\n",
            r":3: 'a' of model 'm' already has another label",
            id="two labels",
        ),
        pytest.param("key,model_key,label\na,m,\n", "there are no labels", id="none"),
        pytest.param(b"key,model_key,label\n\xff,m,1\n", "is not UTF-8", id="another encoding"),
        pytest.param(
            "key,model_key,label\n" + "x" * 200_000 + ",m,1\n",
            "is not CSV: field larger than",
            id="an endless field",
        ),
        pytest.param(
            f"key,model_key,label{',c' * 1_000}\na,m,1\n",
            ":1: has more than 1,000 columns; remove those",
            id="many columns",
        ),
    ],
)
def test_wrong_labels_are_told_with_their_place(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_labels(labels(tmp_path, content))


@pytest.mark.parametrize("level", ["1.5", "nan", "inf", "1e3", "good", "99999999999"])
def test_a_level_that_is_no_whole_number_is_told(tmp_path: Path, level: str) -> None:
    with pytest.raises(DataError, match=r":2: label .* is not a whole number"):
        read_labels(labels(tmp_path, f"key,model_key,label\na,m,{level}\n"), levels=True)


RATED = "key,model_key,label,rater\na,m,1,al\na,m,1,bo\na,m,0,cy\nb,m,1,al\nb,m,0,bo\nc,m,0,al\n"


def test_of_several_raters_the_majority_counts_and_ties_are_left_out(tmp_path: Path) -> None:
    path = labels(tmp_path, RATED)
    assert read_labels(path) == {("a", "m"): 1, ("c", "m"): 0}
    ratings = read_ratings(path)
    assert [(label.key, label.rater, label.label) for label in ratings][:3] == [
        ("a", "al", 1),
        ("a", "bo", 1),
        ("a", "cy", 0),
    ]
    assert majority(ratings) == ({("a", "m"): 1, ("c", "m"): 0}, [("b", "m")])


def test_adjudicators_who_differ_decide_nothing() -> None:
    def decided(rater: str, label: int) -> Label:
        return Label(key="a", model_key="m", label=label, rater=rater, role="adjudicator")

    assert majority([decided("al", 1), decided("bo", 0)]) == ({}, [("a", "m")])
    assert majority([decided("al", 1), decided("bo", 1)]) == ({("a", "m"): 1}, [])


def test_one_rater_says_one_thing(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r":4: 'a' of model 'm' already has another label by 'al' above; keep one"
    ):
        read_labels(labels(tmp_path, "key,model_key,label,rater\na,m,1,al\na,m,0,bo\na,m,0,al\n"))


def test_raters_who_are_divided_on_everything(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there are no labels in it on which raters agree, of 1 answers"):
        read_labels(labels(tmp_path, "key,model_key,label,rater\na,m,1,al\na,m,0,bo\n"))


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_spreadsheets_part_fields_in_their_ways(tmp_path: Path, mark: str) -> None:
    text = '\ufeffquestion,key,model_key,label\r\n"What; is\tit, then?",a,m,1\r\n'
    quoted = (
        mark.join(["question", "key", "model_key", "label"])
        + "\r\n"
        + mark.join(['"What; is\tit, then?"', "a", "m", "1"])
        + "\r\n"
    )
    assert (
        read_labels(labels(tmp_path, text))
        == read_labels(labels(tmp_path, "\ufeff" + quoted))
        == {("a", "m"): 1}
    )


FORMULAS = ["=HYPERLINK('http://evil.example')", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1"]
HOSTILE = [*FORMULAS, "'=1", "''", "'", "plain", "", "a;=1", 'say "=1"', "é\u202e"]


def test_cells_that_might_be_formulas_are_written_as_text_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    names = ["key", "model_key", "label", ANSWER_ID, "text"]
    path.write_bytes(
        write_rows(
            names,
            [{"key": text, "model_key": "m", "label": 1, ANSWER_ID: "a1", "text": text} for text in HOSTILE],
        )
    )
    with open(path, encoding="utf-8-sig", newline="") as file:
        cells = [row["text"] for row in csv.DictReader(file)]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    _, rows = read_rows(path)
    assert [row["text"] for _, row in rows] == [row["key"] for _, row in rows] == HOSTILE
    assert [label.key for label in read_ratings(path)] == HOSTILE


def test_cells_of_other_peoples_files_are_read_as_they_are(tmp_path: Path) -> None:
    assert list(read_labels(labels(tmp_path, "key,model_key,label\n'=x,'-m,1\n"))) == [("'=x", "'-m")]
