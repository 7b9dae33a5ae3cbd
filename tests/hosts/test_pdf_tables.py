"""Tables of PDFs are read as tables, and text in columns is not."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from pytest_evalstudio.hosts._documents import read_document
from pytest_evalstudio.hosts._pdf_tables import tables_in, with_tables
from support.pdf_pages import pdf_page
from support.processor_time import assert_within

LINES = [
    ("Complaints are answered in writing, by the time limits of this table.",),
    ("Stage", "Time limit", "Responsible"),
    ("Acknowledgement", "3 working days", "Branch"),
    ("First answer", "15 working days", "Complaints team"),
    ("Final answer", "8 weeks", "Head of service"),
    ("A complaint is free of charge.",),
]
LEFT = "The ombudsman is independent of the bank and", "its customers, and reads each complaint with", "care."
RIGHT = (
    "Decisions bind the bank if you accept them, and",
    "you may go to court as well, where the ruling",
    "is.",
)


def read(tmp_path: Path, lines: list[tuple[str, ...]]) -> str:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_page(lines))
    (part,) = read_document(str(path), downloads=tmp_path)
    return part.text


def test_a_table_of_a_pdf_is_read_as_a_table(tmp_path: Path) -> None:
    assert read(tmp_path, LINES).split("\n\n") == [
        "Complaints are answered in writing, by the time limits of this table.",
        " ".join(
            (
                "| Stage | Time limit | Responsible | | --- | --- | --- |",
                "| Acknowledgement | 3 working days | Branch |",
                "| First answer | 15 working days | Complaints team |",
                "| Final answer | 8 weeks | Head of service |",
            )
        ),
        "A complaint is free of charge.",
    ]


def test_text_in_columns_is_no_table(tmp_path: Path) -> None:
    assert "|" not in read(tmp_path, list(zip(LEFT, RIGHT, strict=True)))


@pytest.mark.parametrize("count", [1, 2])
def test_an_address_in_two_columns_is_no_table(tmp_path: Path, count: int) -> None:
    assert "|" not in read(tmp_path, [("Bank", "London"), ("Desk", "Paris")][:count])


def test_a_cell_on_two_lines_is_one_cell() -> None:
    layout = "\n".join(
        (
            "  Stage             Time limit       Responsible",
            "Final answer in     8 weeks          Head of",
            "complex cases                        service",
            "Referral            6 months         Customer",
        )
    )
    assert list(tables_in(layout)) == [
        [
            ["Stage", "Time limit", "Responsible"],
            ["Final answer in complex cases", "8 weeks", "Head of service"],
            ["Referral", "6 months", "Customer"],
        ]
    ]


def test_numbers_may_be_aligned_to_the_right() -> None:
    layout = "Item           Fee\nCheque       £8.00\nTransfer  £1,250.00\nCard           £10"
    (rows,) = tables_in(layout)
    assert rows[1:] == [["Cheque", "£8.00"], ["Transfer", "£1,250.00"], ["Card", "£10"]]


def test_where_the_words_are_drawn_in_another_order_the_text_stays() -> None:
    layout = "A    B\nC    D\nE    F"
    assert with_tables("A C E\nB D F", layout) == "A C E\nB D F"
    assert with_tables("xA B C D E F", layout) == "xA B C D E F"


def test_large_layouts_are_read_in_linear_time() -> None:
    def read(turn: int, unit: str, count: int, end: str = "") -> None:
        layout = unit * (count + turn) + end
        with_tables(layout, layout)

    assert_within(3, partial(read, unit="a  b\n", count=50_000))
    assert_within(3, partial(read, unit="a ", count=200_000))
    assert_within(3, partial(read, unit="  ", count=200_000, end="x"))
    assert_within(3, partial(read, unit="a  \n", count=50_000))
