"""Tables of plain text and HTML, as the reader of documents returns them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.hosts._documents import read_document

TABLE = "| Part | Period | | --- | --- | | Forks | 5 years | | Paint and decals | 2 years |"


def text_of(folder: Path, name: str, content: str) -> str:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    (part,) = read_document(str(path), downloads=folder)
    return part.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "Part                Period\nForks               5 years\nPaint and decals    2 years\n"),
        ("a.txt", "Part\tPeriod\nForks\t5 years\nPaint and decals\t2 years\n"),
        ("a.txt", "Part | Period\n--- | ---\nForks | 5 years\nPaint and decals | 2 years\n"),
        ("a.md", "Part | Period\n--- | ---\nForks | 5 years\nPaint and decals | 2 years\n"),
        (
            "a.html",
            "<table><thead><tr><th>Part</th><th>Period</th></tr></thead>\n<tbody><tr>\n <td>Forks</td>\n"
            " <td>5 years</td></tr><tr><td>Paint and decals<td>2 years</table>",
        ),
    ],
    ids=["aligned", "tabs", "pipes", "pipes in Markdown", "HTML"],
)
def test_a_table_is_read_as_markdown(tmp_path: Path, name: str, content: str) -> None:
    text = text_of(tmp_path, name, content)
    assert text == TABLE


def test_the_text_around_a_table_stays_apart(tmp_path: Path) -> None:
    content = "These are the periods:\nPart    Period\nForks   5 years\nPaint   2 years\nAsk us for more.\n"
    before, table, after = text_of(tmp_path, "a.txt", content).split("\n\n")
    assert (before, after) == ("These are the periods:", "Ask us for more.")
    assert table.startswith("| Part | Period |")


@pytest.mark.parametrize(
    "content",
    [
        "Two  spaces after words.\nAs some  people write.\nThat is no  table, but prose that goes on.\n",
        "One | two\nThree | four\n",
        "a | b\nc | d | e\nf | g\n",
    ],
    ids=["prose", "two lines", "rows that differ"],
)
def test_other_text_is_no_table(tmp_path: Path, content: str) -> None:
    assert "---" not in text_of(tmp_path, "a.txt", content)


def test_a_layout_of_a_page_is_no_table(tmp_path: Path) -> None:
    prose = "A long paragraph of the page, which is laid out by a table as pages were in former times."
    page = f"<table><tr><td>{prose}</td><td>{prose}</td></tr><tr><td>{prose}</td><td>x</td></tr></table>"
    assert "|" not in text_of(tmp_path, "a.html", page)


def test_marks_of_boundaries_in_a_page_are_no_cells(tmp_path: Path) -> None:
    page = "<p>one\x1etwo\x1fthree\x1e four\x1ffive</p>"
    assert text_of(tmp_path, "a.html", page) == "one two three four five"
