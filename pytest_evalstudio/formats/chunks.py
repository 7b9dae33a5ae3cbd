"""Retrieved chunks in the forms of other tools: texts, objects with a text, and titles with sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TEXT_KEYS = (
    *("text", "content", "page_content", "chunk", "passage", "passage_text", "document", "body", "context"),
    *("sentences", "snippet"),
)
"""Names of a chunk's text, the first that is there."""
SOURCE_KEYS = ("source", "uri", "doc_uri", "url", "title", "document_id", "doc_id", "id")
"""Names of a chunk's document, the first that is there."""
SCORE_KEYS = ("score", "similarity", "relevance_score")
"""Names of a chunk's relevance, the first that is there."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A text that was retrieved.

    Attributes:
        source: name of its document, "" where the file does not say.
        score: its relevance, None where the file does not say.
        further_keys: keys of its object that have been read for none of these.
    """

    text: str
    source: str = ""
    score: float | None = None
    further_keys: tuple[str, ...] = ()


def read_chunks(value: object) -> list[Chunk] | None:
    """Return the chunks of a context that is no text; None where it has another form.

    The forms are a list of texts, a list of objects with a text (the rows of a retriever, documents of
    LangChain), the lists `[title, [sentence, …]]` of HotpotQA, and its object of lists `title` and
    `sentences`. Absent items are left out.

    >>> [chunk] = read_chunks([["Fees", ["It is 5 USD.", " Abroad: 15 USD."]]])
    >>> chunk.source, chunk.text
    ('Fees', 'It is 5 USD. Abroad: 15 USD.')
    """
    if isinstance(value, Mapping):
        titles, sentences = value.get("title"), value.get("sentences")
        if isinstance(titles, list) and isinstance(sentences, list) and len(titles) == len(sentences):
            value = [list(pair) for pair in zip(titles, sentences, strict=True)]
        else:
            value = [value]
    if not isinstance(value, list | tuple):
        return None
    chunks: list[Chunk] = []
    for item in value:
        chunk = _chunk(item)
        if chunk is None and item is not None:
            return None
        if chunk is not None:
            chunks.append(chunk)
    return chunks


def _chunk(item: object) -> Chunk | None:
    if isinstance(item, str):
        return Chunk(item)
    if isinstance(item, Mapping):
        return _of_object(item)
    if isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str):
        # Two strings are no chunk with a title: they may be any pair of texts.
        text = None if isinstance(item[1], str) else _joined(item[1])
        return None if text is None else Chunk(text, item[0])
    return None


def _of_object(item: Mapping[str, object]) -> Chunk | None:
    key = next((name for name in TEXT_KEYS if item.get(name) is not None), "")
    text = _joined(item.get(key))
    if text is None:
        return None
    details = item.get("metadata")
    metadata = details if isinstance(details, Mapping) else {}
    of_item, of_metadata = _source_key(item), _source_key(metadata)
    source = str(item[of_item]) if of_item else str(metadata.get(of_metadata, ""))
    score_key = next((name for name in SCORE_KEYS if isinstance(item.get(name), int | float)), "")
    read = {key, of_item, score_key}
    if not of_item and set(metadata) <= {of_metadata}:
        read.add("metadata")
    return Chunk(
        text=text,
        source=source,
        score=float(str(item[score_key])) if score_key else None,
        further_keys=tuple(name for name, value in item.items() if name not in read and _is_filled(value)),
    )


def _source_key(item: Mapping[str, object]) -> str:
    return next(
        (name for name in SOURCE_KEYS if isinstance(item.get(name), str | int) and item[name] != ""), ""
    )


def _is_filled(value: object) -> bool:
    return value not in (None, "", [], {})


def _joined(value: object) -> str | None:
    """Return a text, or sentences as one text; None for anything else."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        return None
    return _with_blanks(value)


def _with_blanks(sentences: Sequence[str]) -> str:
    """Join sentences, with a blank where neither of two has one."""
    parts: list[str] = []
    for sentence in sentences:
        if parts and sentence and not (parts[-1][-1:].isspace() or sentence[0].isspace()):
            parts.append(" ")
        parts.append(sentence)
    return "".join(parts)
