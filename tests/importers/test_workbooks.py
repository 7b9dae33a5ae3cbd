"""Workbooks of Excel are tables; odd and hostile ones end in a sentence."""

from __future__ import annotations

import datetime
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli import main

openpyxl = pytest.importorskip("openpyxl")

SHEET = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    b"<sheetData>%s</sheetData></worksheet>"
)
HEADER = ["question", "answer", "chunks"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*rows: list[Any], further: str = "") -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if further:
        book.create_sheet(further).append(["x"])
    book.save("log.xlsx")


def imported() -> list[dict[str, Any]]:
    columns = "input=question,actual_output=answer,context=chunks"
    assert main(["import", "table", "log.xlsx", "--map", columns, "-o", "out.json", "--to", "dataset"]) == 0
    rows: list[dict[str, Any]] = json.loads(Path("out.json").read_text())["inputs"]
    return rows


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["import", "table", "log.xlsx", "--map", "input=question", "-o", "out.json"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("evalstudio: log.xlsx")
    return error


def test_rows_are_those_of_csv(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        HEADER,
        ["Fee?", 15, '["a | b", "c"]'],
        [],
        ["When?", datetime.datetime(2024, 4, 3), None],
        ["Rate?", 1.5, "plain"],
        ["Free?", True, "0042"],
        further="Notes",
    )
    rows = imported()
    assert [(row["input"], row["actual_output"], row["context"]) for row in rows] == [
        ("Fee?", "15", ["a | b", "c"]),
        ("When?", "2024-04-03", []),
        ("Rate?", "1.5", ["plain"]),
        ("Free?", "true", ["0042"]),
    ]
    assert "only the first sheet, 'Sheet', is read; not 'Notes'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["question", "answer", "answer"], ["q", "a", "b"]], "the column 'answer' is there twice"),
        ([HEADER, ["q", "=1+1"]], "the cell B2 is a formula without a stored value"),
        ([HEADER, ["q", "#N/A"]], "the cell B2 is the error #N/A"),
        ([["question", None, "x"], ["q", "lost"]], "row 2 has a cell in column 2, which has no name"),
        ([["question"], ["q", "lost"]], "row 2 has a cell in column 2, which has no name"),
    ],
)
def test_what_would_be_lost_is_refused(
    rows: list[list[Any]], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(*rows)
    assert message in refusal(capsys)


def replaced(member: str, content: bytes) -> None:
    """Replace a member of the workbook."""
    with zipfile.ZipFile("log.xlsx") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile("log.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**members, member: content}.items():
            archive.writestr(name, data)


def test_bombs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    write(HEADER, ["q"])
    replaced("xl/sharedStrings.xml", b"<sst>" + b" " * 200_000_000 + b"</sst>")
    assert "bytes are read" in refusal(capsys)
    write(HEADER, ["q"])
    entities = b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 12))
    head = b'<?xml version="1.0"?><!DOCTYPE s [<!ENTITY e0 "lol">' + entities + b"]>"
    row = b'<row r="1"><c r="A1" t="inlineStr"><is><t>&e11;</t></is></c></row>'
    replaced("xl/worksheets/sheet1.xml", head + SHEET % row)
    assert "cannot be read as a workbook" in refusal(capsys)


def test_cells_far_away_are_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    write(HEADER, ["q"])
    rows = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n) for n in range(1, 5_000))
    replaced("xl/worksheets/sheet1.xml", SHEET % rows)
    assert "columns; remove empty ones" in refusal(capsys)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive", b"\xd0\xcf\x11\xe0" * 100])
def test_a_damaged_workbook_is_refused(content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    Path("log.xlsx").write_bytes(content)
    assert "cannot be read as a workbook" in refusal(capsys)


def test_an_archive_that_is_no_workbook_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile("log.xlsx", "w") as archive:
        archive.writestr("a.txt", "a")
    assert "cannot be read as a workbook" in refusal(capsys)
