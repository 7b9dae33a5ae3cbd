"""`evalstudio review`: what it prints, sheets in and out, and how it ends."""

from __future__ import annotations

import csv
import re
import signal
import sys
import urllib.request
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.labels import read_ratings
from support.children import LONGEST_WAIT_S, Children
from support.review_workflows import labels_file, workflow


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return workflow(tmp_path)


def test_a_sheet_goes_out_and_comes_back(
    flow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "sheet.csv"
    assert main(["review", flow.name, "--export", str(sheet)]) == 0
    assert capsys.readouterr().out == f"wrote 10 answers to {sheet}; --import reads the labels\n"
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["label"] = "" if number == 9 else str(number % 2)
    with open(sheet, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")  # as a German spreadsheet does
        writer.writeheader()
        writer.writerows(rows)
    assert main(["review", flow.name, "--rater", "al", "--import", str(sheet)]) == 0
    output = capsys.readouterr().out
    assert (
        output == f"{sheet}: 9 new labels, 0 changed, 0 as they were\n"
        f"9 of 40 answers labelled by al, in {labels_file(flow)}; `evalstudio review {flow.name}` goes on\n"
    )
    assert [(label.key, label.label, label.rater) for label in read_ratings(labels_file(flow))] == [
        (row["key"], int(row["label"]), "al") for row in rows[:9]
    ]
    assert (
        main(
            [
                "review",
                flow.name,
                "--rater",
                "al",
                "--import",
                str(sheet),
                "--export",
                str(tmp_path / "more.csv"),
            ]
        )
        == 0
    )
    assert "0 new labels, 0 changed, 9 as they were" in capsys.readouterr().out
    assert [label.label for label in read_ratings(tmp_path / "more.csv")] == [
        number % 2 for number in range(9)
    ]


def test_labels_of_other_answers_are_counted(
    flow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(
        "key,model_key,label,answer_id\nk001,m-one,1,\nk002,m-one,1,another\nnobody,m-one,1,\n",
        encoding="utf-8",
    )
    assert main(["review", flow.name, "--import", str(sheet)]) == 0
    assert (
        "1 new labels, 0 changed, 0 as they were; 2 of other answers than those evaluated left out"
        in capsys.readouterr().out
    )
    sheet.write_text("key,model_key,label\nnobody,m-one,1\n", encoding="utf-8")
    assert main(["review", flow.name, "--import", str(sheet)]) == 2
    assert "none of the 1 labels belongs to an answer of this evaluation" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--import", "missing.csv"], ["--export", "missing/sheet.csv"]])
def test_a_file_that_there_is_not(
    flow: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", flow.name, *arguments]) == 2
    assert capsys.readouterr().err == f"evalstudio: {arguments[1]}: No such file or directory\n"


def test_without_answers_there_is_nothing_to_review(flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (flow.parent / "text.txt").write_text("Other fees.", encoding="utf-8")
    assert main(["review", flow.name, "--no-browser"]) == 2
    assert "automated_evaluation is outdated; `pytest bank_workflow.json` runs it" in capsys.readouterr().err


def test_labels_with_levels_are_given_in_a_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = workflow(tmp_path, good=4)
    assert main(["review", str(path), "--no-browser"]) == 2
    assert "good = 4: labels have levels, which the page does not ask for" in capsys.readouterr().err
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("key,model_key,label\nk001,m-one,5\n", encoding="utf-8")
    assert main(["review", str(path), "--import", str(sheet)]) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
def test_it_ends_with_a_sentence(flow: Path, children: Children) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest_evalstudio.cli",
        "review",
        flow.name,
        "--no-browser",
        "--rater",
        "al",
    ]
    process = children.start(command, flow.parent)
    pattern = re.compile(r"http://127\.0\.0\.1:\d+/(?=.*\n)")
    address = process.wait_until(lambda: pattern.search(process.out), "the address")
    with urllib.request.urlopen(address.group(), timeout=LONGEST_WAIT_S) as response:
        assert b"<title>Review of answers</title>" in response.read()
    process.send_signal(signal.SIGINT)
    output, errors, status = process.finish()
    first, _, *lines = output.splitlines(keepends=True)
    rest = "".join(lines)
    assert first == f"0 of 40 answers labelled by al, in {labels_file(flow)}\n"
    assert (
        rest
        == f"\n0 of 40 answers labelled by al, in {labels_file(flow)}; `evalstudio review bank_workflow.json`"
        " goes on\n"
    )
    assert (status, errors) == (0, "")


def test_a_blind_sheet_gives_nothing_away(flow: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    assert main(["review", flow.name, "--blind", "--export", str(sheet)]) == 0
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = ("label", "question", "answer", "expected_answer", "context", "topic")
    assert set(rows[0]) == {*texts, "key", "model_key", "rater", "answer_id", "blind", "reason"}
    rows[0] |= {"label": "1", "reason": "complete"}
    with open(sheet, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert main(["review", flow.name, "--rater", "al", "--import", str(sheet)]) == 0
    (label,) = read_ratings(labels_file(flow))
    assert (label.blind, label.reason, label.rater) == ("yes", "complete", "al")
    assert label.session
    assert label.labelled_at


def test_an_adjudicator_is_asked_for_what_raters_are_divided_on(
    flow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "sheet.csv"
    for rater, last in (("al", "1"), ("bo", "0")):
        main(["review", flow.name, "--export", str(sheet)])
        with open(sheet, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))[:3]
        for row, label in zip(rows, ("1", "0", last), strict=True):
            row["label"] = label
        with open(sheet, "w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        main(["review", flow.name, "--rater", rater, "--import", str(sheet)])
    assert main(["review", flow.name, "--adjudicator", "--rater", "al", "--export", str(sheet)]) == 2
    assert "give --rater a name that no rater has used" in capsys.readouterr().err
    decide = ["review", flow.name, "--adjudicator", "--rater", "cy"]
    assert main([*decide, "--export", str(sheet)]) == 0
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["key"] == rows[2]["key"]
    with open(sheet, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow({**row, "label": "1"})
    assert main([*decide, "--import", str(sheet)]) == 0
    (label,) = [label for label in read_ratings(labels_file(flow)) if label.rater == "cy"]
    assert label.role == "adjudicator"
    capsys.readouterr()
