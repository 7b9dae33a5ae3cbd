"""The sheet of answers for a spreadsheet: its columns, and the labels in it that are new."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

from pytest_evalstudio.contrib.calibration.labelling.sheet import LONGEST_CELL, new_labels, sheet
from pytest_evalstudio.formats.labels import Label
from support.labelled_answers import candidate

CASE = replace(
    candidate("k", "m", place=0.5, topic="fees"),
    question="Fee?",
    answer="5 USD",
    expected="6 USD",
    context=(("fees.md", "The fee is 5 USD."), ("", "Call us.")),
    scores={"quality.quality": 0.123456},
    verdict=False,
    answer_id="a1",
)


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_a_row_has_the_answer_its_scores_and_the_label_of_the_rater() -> None:
    ratings = [
        Label(key="k", model_key="m", label=1, rater="al"),
        Label(key="k", model_key="m", label=0, rater="bo"),
    ]
    [row] = rows(sheet([CASE], ["quality.quality"], ratings, "bo"))
    assert row == {
        "label": "0",
        "question": "Fee?",
        "answer": "5 USD",
        "expected_answer": "6 USD",
        "context": "[fees.md] The fee is 5 USD.\n\nCall us.",
        "verdict": "bad",
        "quality.quality": "0.1235",
        "topic": "fees",
        "key": "k",
        "model_key": "m",
        "rater": "bo",
        "answer_id": "a1",
        "blind": "no",
        "reason": "",
    }
    assert rows(sheet([CASE], ["quality.quality"], ratings, "cy"))[0]["label"] == ""


def test_a_blind_sheet_has_neither_verdict_nor_scores() -> None:
    [row] = rows(sheet([CASE], ["quality.quality"], blind=True))
    assert row["blind"] == "yes"
    assert not {"verdict", "quality.quality"} & row.keys()


def test_the_verdict_is_a_word_and_empty_without_a_threshold() -> None:
    cases = [replace(CASE, verdict=verdict) for verdict in (True, False, None)]
    assert [row["verdict"] for row in rows(sheet(cases, []))] == ["good", "bad", ""]


def test_a_sample_has_the_probability_of_each_answer() -> None:
    other = replace(CASE, key="other")
    first, second = rows(sheet([CASE, other], [], inclusion={("k", "m"): 1 / 3}))
    assert (first["inclusion"], second["inclusion"]) == ("0.333333", "")
    assert "inclusion" not in rows(sheet([CASE], []))[0]


def test_long_texts_are_cut_for_the_spreadsheet() -> None:
    full_case, long = replace(CASE, answer="x" * LONGEST_CELL), replace(CASE, answer="x" * (LONGEST_CELL + 1))
    texts = [row["answer"] for row in rows(sheet([full_case, long], []))]
    assert texts == ["x" * LONGEST_CELL, "x" * LONGEST_CELL + "…"]


def test_labels_in_a_sheet_are_new_unless_somebody_gave_them(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    assert new_labels(path, [], levels=False) == 0
    path.write_text("key,model_key,label,rater\na,m,1,al\nb,m,0,al\nc,m,,al\n", encoding="utf-8")
    existing = [Label(key="a", model_key="m", label=1, rater="bo")]
    assert new_labels(path, existing, levels=False) == 1
    assert new_labels(path, [replace(existing[0], label=0)], levels=False) == 2
    path.write_text("nothing\n", encoding="utf-8")
    assert new_labels(path, [], levels=False) == 1
