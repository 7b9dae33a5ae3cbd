"""Titles and languages of the documents that questions are made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pytest_evalstudio.mrm.steps.topic_modeling.results import Chunk
from pytest_evalstudio.mrm.texts.language import ENGLISH, NAMES, language_of


def document_titles(chunks: Iterable[Chunk]) -> dict[str, str]:
    """Return the title of each document, its first line if that is no sentence, by document."""
    titles: dict[str, str] = {}
    for chunk in chunks:
        if chunk.document not in titles:
            first = chunk.sentences[0].strip() if chunk.sentences else ""
            title = re.sub(r"\s*\([^)]*\)$", "", first)
            is_title = 0 < len(title.split()) <= 12 and title[-1] not in ".!?:;|" and "“" not in title
            titles[chunk.document] = title if is_title else ""
    return titles


def foreign_documents(chunks: Iterable[Chunk]) -> dict[str, str]:
    """Return the language by document, of documents in other languages than English."""
    texts: dict[str, list[str]] = {}
    for chunk in chunks:
        texts.setdefault(chunk.document, []).append(chunk.text)
    languages = {document: language_of(parts) for document, parts in texts.items()}
    return {document: code for document, code in languages.items() if code not in ("", ENGLISH)}


def describe_languages(documents: Mapping[str, str]) -> str:
    """Return the documents with their languages, for people."""
    return ", ".join(f"{document} is in {NAMES[code]}" for document, code in documents.items())
