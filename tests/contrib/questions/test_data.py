"""Tables of words and patterns: each is used, compiles, and has no word twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.questions import words
from pytest_evalstudio.contrib.questions.words import data_text, pattern_tables, tables

FOLDER = Path(words.__file__).parent
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.rglob("*.py")))


def test_each_table_of_words_is_used() -> None:
    used = set(re.findall(r'word_table\("(.+?)"\)', SOURCES))
    assert used == set(tables("words.txt"))


@pytest.mark.parametrize("file", ["words.txt", "patterns.txt"])
def test_each_heading_is_read_as_a_table_with_a_name_of_its_own(file: str) -> None:
    headings = re.findall(r"^\[([a-z :]+)\] ", data_text(file), re.MULTILINE)
    assert headings == list(tables(file))


@pytest.mark.parametrize("name", sorted(tables("words.txt")))
def test_no_word_is_twice_in_a_table(name: str) -> None:
    members = tables("words.txt")[name].split()
    assert sorted(members) == sorted(set(members))


@pytest.mark.parametrize("name", sorted(pattern_tables()))
def test_each_pattern_compiles(name: str) -> None:
    for line in pattern_tables()[name]:
        line = line.split(" = ")[1] if name == "short sentences" else line
        re.compile(line.split(maxsplit=2)[-1] if name == "units" else re.sub(r"\{[a-z]+\}", "x", line))
