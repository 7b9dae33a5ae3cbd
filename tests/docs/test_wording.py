"""The pages use the field's usual words; private terms of earlier versions do not come back."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.pages import DEVELOPER_PAGES, PAGES, name_of, prose, read

INSTEAD = {
    r"len[dt]s?\b|lenders?\b": "provide, ModelProvider",
    r"worked off": "evaluated",
    r"(?:is|can be) had\b": "is available from",
    r"held against": "compared with, threshold",
    r"words that nobody gave": "unsupported words",
    r"patience with": "timeout per attempt",
    r"people's word\b": "human-labelled answers",
    r"the same case\b": "other models",
    r"shelf\b": "registry",
    r"(?:at the end|next to it|beside it) stands?\b": "put the subject first",
    r"of course\b|simply\b|obviously\b": "leave it out",
}
NOTICES = ("Costs money", "Leaves your machine", "Common mistake", "Why")
REPLACED = {
    r"built-in (?:model|one)\b|embedded (?:model|RAG)\b": "built-in stand-in",
    r"fences?\b": "markers made from the hash of the text",
    r"canar(?:y|ies)\b": "a text that is planted to see whether it leaks",
    r"survivors?\b": "changes that the suite does not notice",
    r"(?:is|are) charged\b": "counts",
    r"(?:un)?settle[sd]?\b": "decide, correct after the answer",
    r"beside\b": "next to, in addition to",
    r"pytest items?\b": "test",
}
"""Words of earlier versions, and what the pages say now."""
EVERY_PAGE = pytest.mark.parametrize("page", [*PAGES, *DEVELOPER_PAGES], ids=name_of)


@EVERY_PAGE
def test_a_page_uses_standard_terms(page: Path) -> None:
    assert not used_words(read(page), INSTEAD)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_does_not_use_replaced_words(page: Path) -> None:
    assert not used_words(read(page), REPLACED)


def used_words(page: str, words: Mapping[str, str]) -> dict[str, str]:
    """Return the words that a page uses, with what to write instead."""
    text = prose(page)
    return {
        word: better for word, better in words.items() if re.search(rf"\b(?:{word})", text, re.IGNORECASE)
    }


@EVERY_PAGE
def test_a_page_has_one_title_and_no_skipped_level(page: Path) -> None:
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose(read(page)), re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


@EVERY_PAGE
def test_sentences_are_short(page: Path) -> None:
    """At most one sentence in ten has more than 35 words."""
    paragraphs = [p for p in re.split(r"\n\s*\n|\n(?=[*|\d#])", prose(read(page))) if not p.startswith("|")]
    sentences = [
        s for paragraph in paragraphs for s in re.split(r"(?<=[.!?:;])\s+", " ".join(paragraph.split()))
    ]
    long = [sentence for sentence in sentences if len(sentence.split()) > 35]
    assert len(long) <= max(1, len(sentences) // 10), long


@EVERY_PAGE
def test_a_notice_has_one_of_four_titles(page: Path) -> None:
    titles = re.findall(r"^[!?]{3}\+? \w+ ?(.*)$", read(page), re.MULTILINE)
    assert set(titles) <= {f'"{title}"' for title in NOTICES}
