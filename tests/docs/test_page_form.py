"""Each page answers a question of its reader, and says where to go next."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.page_runs import blocks_of
from support.pages import DOCS, name_of, prose, read

FOLDERS = ("start", "tutorials", "write", "run", "judge", "validate", "scale", "read")
OLD = DOCS / "tutorials" / "suite-quality.md"
GUIDES = sorted(page for folder in FOLDERS for page in (DOCS / folder).glob("*.md") if page != OLD)
GUIDES += [page for page in (DOCS / "index.md", DOCS / "extend.md", DOCS / "glossary.md") if page.exists()]
SHORT_LINES = [page for page in GUIDES if page.parent.name in ("start", "tutorials")]
MAX_WORDS, MAX_COLUMNS = 35, 72
ADMONITIONS = {"Costs money", "Leaves your machine", "Common mistake", "Why"}
EVERY_GUIDE = pytest.mark.parametrize("page", GUIDES, ids=name_of)


def sentences(page: Path) -> list[str]:
    """Return the sentences of a page; cells of tables, and lists that the code writes, are not sentences."""
    source = re.sub(r"<!-- table \w+ -->.*?<!-- end of table -->", "", read(page), flags=re.DOTALL)
    text = re.sub(r"^ *(?:[*-]|\d+\.) ", "\n", prose(source), flags=re.MULTILINE)
    paragraphs = [
        part for part in re.split(r"\n\s*\n|\n(?=#|!!!|===)", text) if not part.strip().startswith("|")
    ]
    joined = [" ".join(part.split()) for part in paragraphs]
    return [sentence for part in joined for sentence in re.split(r"(?<=[.!?:;])\s+", part)]


@EVERY_GUIDE
def test_a_page_begins_with_its_occasion(page: Path) -> None:
    text = re.sub(r"\A---\n.*?---\n", "", read(page), flags=re.DOTALL)
    paragraphs = [part for part in text.strip().split("\n\n") if not part.startswith(("#", "<"))]
    assert paragraphs[0].startswith("You need this when ")


@EVERY_GUIDE
def test_a_page_ends_with_a_next_step(page: Path) -> None:
    last = re.split(r"\n\n+(?!\*)", read(page).strip())[-1]
    assert "](" in last


@EVERY_GUIDE
def test_no_sentence_is_long(page: Path) -> None:
    assert [sentence for sentence in sentences(page) if len(sentence.split()) > MAX_WORDS] == []


@EVERY_GUIDE
def test_admonitions_are_of_four_kinds(page: Path) -> None:
    titles = re.findall(r'^ *(?:!!!|\?\?\?\+?) \w+ ?"?([^"\n]*)"?$', read(page), re.MULTILINE)
    assert set(titles) <= ADMONITIONS


@pytest.mark.parametrize("page", SHORT_LINES, ids=name_of)
def test_code_of_a_tutorial_fits_a_narrow_page(page: Path) -> None:
    """Outputs are as wide as a terminal."""
    wide = [
        f"{block.place}: {line}"
        for block in blocks_of(page)
        if not block.is_output
        for line in block.body.splitlines()
        if len(line) > MAX_COLUMNS
    ]
    assert wide == []
