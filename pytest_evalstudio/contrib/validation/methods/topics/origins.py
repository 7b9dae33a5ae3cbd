"""Titles and languages of the documents that questions are made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pytest_evalstudio.contrib.validation.methods.texts.language import ENGLISH, NAMES, language_of
from pytest_evalstudio.contrib.validation.methods.topics.results import Chunk

_KIND = re.compile(
    r"(?i)\b(?:rules|regulations|conditions|terms|policy|report|manual|guide|guidelines?|handbook|leaflet|procedure"
    r"|agreement|tariff|instructions|information|contract|statutes|by-?laws|notice|faq|questions|fees)\b"
)
"""Words for kinds of documents."""
_EDITION = re.compile(
    r"(?i),?\s(?:(?:first|second|third|fourth|fifth)\sedition|\d{1,2}\s[a-z]+\sto\s\d|effective"
    r"|valid|version|edition|approved|adopted|in force|last (?:revised|amended)"
    r"|(?:\d+|six|three|nine) (?:weeks|months) ended|(?:for the )?year ended)\b.*$"
)
_MAX_WORDS = 12


def document_titles(chunks: Iterable[Chunk]) -> dict[str, str]:
    """Return the title of each document, its first line if that is no sentence, by document.

    A second line that says the kind of document follows a colon: "Valdek Windows Ltd: Guarantee Conditions".
    """
    titles: dict[str, str] = {}
    for chunk in chunks:
        if chunk.document not in titles:
            lines = [_without_edition(sentence) for sentence in chunk.sentences[:2]]
            title = next(iter(lines), "")
            titles[chunk.document] = title if _is_title(title) else ""
            is_kind = len(lines) > 1 and _KIND.search(lines[1]) and not _KIND.search(title)
            if is_kind and _is_title(title) and _is_title(f"{title} {lines[1]}"):
                titles[chunk.document] = f"{title}: {lines[1]}"
    return titles


def _without_edition(line: str) -> str:
    """Return a line without the remark, version or period at its end."""
    text = _EDITION.sub("", re.sub(r"\s*\([^)]*\)$", "", line.strip()))
    return text.strip(" *,–-")


def _is_title(line: str) -> bool:
    return 0 < len(line.split()) <= _MAX_WORDS and line[-1] not in ".!?:;|" and "“" not in line


def foreign_documents(chunks: Iterable[Chunk], language: str = ENGLISH) -> dict[str, str]:
    """Return the language by document, of documents in other languages than one, by default English."""
    texts: dict[str, list[str]] = {}
    for chunk in chunks:
        texts.setdefault(chunk.document, []).append(chunk.text)
    languages = {document: language_of(parts) for document, parts in texts.items()}
    return {document: code for document, code in languages.items() if code not in ("", language)}


def describe_languages(documents: Mapping[str, str]) -> str:
    """Return the documents with their languages, for people."""
    return ", ".join(f"{document} is in {NAMES[code]}" for document, code in documents.items())
