"""JSON Pointers of the parts of a reply, proposed from the reply's form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

ANSWERS = (
    "answer",
    "response",
    "reply",
    "output",
    "completion",
    "result",
    "generated_text",
    "output_text",
    "text",
    "content",
    "message",
)
"""Names of an answer, the most telling ones first."""
CHUNKS = (
    "context",
    "contexts",
    "chunks",
    "hits",
    "passages",
    "source_documents",
    "documents",
    "retrieved",
    "sources",
    "references",
    "citations",
)
CHUNK_TEXTS = ("text", "content", "page_content", "chunk", "passage", "snippet", "body")
CHUNK_SOURCES = ("source", "file", "document", "filename", "title", "url", "uri", "name", "id")
CHUNK_SCORES = ("score", "relevance", "similarity")
_COSTS = ("cost", "cost_usd")
_USAGES = ("usage", "tokens")
_MODELS = ("model", "served_model")
MAX_DEPTH = 6
"""Levels that are searched; replies of services are flatter."""
MAX_VALUES = 2_000


def proposed_pointers(reply: Any) -> dict[str, str]:
    """Return the parts of a reply and their JSON Pointers, for `reply` of the host `http`.

    The answer is the text with the most telling name; of equal names the one at the upper level, then the
    longest. Chunks are lists of texts, or of objects with a text. Without an answer there are no parts.

    >>> proposed_pointers({"data": {"answer": "5 USD"}, "hits": [{"text": "It is 5 USD.", "file": "a.md"}]})
    {'answer': '/data/answer', 'context': '/hits/*/text', 'sources': '/hits/*/file'}
    >>> proposed_pointers({"choices": [{"message": {"role": "assistant", "content": "5 USD"}}]})
    {'answer': '/choices/0/message/content'}
    """
    values = list(_values(reply))
    answer = _answer(values)
    if answer is None:
        return {}
    pointers = {"answer": answer, **_chunks(values)}
    for part, names, kind in (
        ("cost", _COSTS, (int, float)),
        ("usage", _USAGES, (dict,)),
        ("served_model", _MODELS, (str,)),
    ):
        pointer = _named(values, names, kind)
        if pointer:
            pointers[part] = pointer
    return pointers


def _values(reply: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values of a reply with their paths, level by level; of a list the first item."""
    level: list[tuple[tuple[str, ...], Any]] = [((), reply)]
    count = 0
    for _ in range(MAX_DEPTH + 1):
        below: list[tuple[tuple[str, ...], Any]] = []
        for path, value in level:
            if count == MAX_VALUES:
                return
            count += 1
            yield path, value
            if isinstance(value, Mapping):
                below += [((*path, str(key)), item) for key, item in value.items()]
            elif isinstance(value, Sequence) and not isinstance(value, str) and value:
                below.append(((*path, "0"), value[0]))
        level = below


def _answer(values: Sequence[tuple[tuple[str, ...], Any]]) -> str | None:
    texts = [(path, value) for path, value in values if isinstance(value, str) and value.strip()]
    candidates = [
        (ANSWERS.index(name), len(path), -len(value), path)
        for path, value in texts
        if (name := _name(path)) in ANSWERS and not _is_in_chunks(path)
    ]
    if candidates:
        return _pointer(min(candidates)[3])
    # A reply that is a text, or has a single one, needs no telling name.
    return _pointer(texts[0][0]) if len(texts) == 1 else None


def _chunks(values: Sequence[tuple[tuple[str, ...], Any]]) -> dict[str, str]:
    lists = [
        (CHUNKS.index(name), path, value)
        for path, value in values
        if (name := _name(path)) in CHUNKS and isinstance(value, list) and value
    ]
    for _, path, items in sorted(lists, key=lambda candidate: (candidate[0], len(candidate[1]))):
        if all(isinstance(item, str) for item in items):
            return {"context": _pointer(path)}
        text_key = next((key for key in CHUNK_TEXTS if all(_has_text(item, key) for item in items)), None)
        if text_key is not None:
            return _parts_of_chunks(path, text_key, items)
    return {}


def _parts_of_chunks(path: tuple[str, ...], text_key: str, chunks: Sequence[Any]) -> dict[str, str]:
    """Return the pointers of the texts of chunks, and of their sources and scores where all have one."""
    pointers = {"context": _pointer((*path, "*", text_key))}
    for part, names in (("sources", CHUNK_SOURCES), ("scores", CHUNK_SCORES)):
        common = [name for name in names if name != text_key and all(name in chunk for chunk in chunks)]
        if common:
            pointers[part] = _pointer((*path, "*", common[0]))
    return pointers


def _has_text(item: Any, key: str) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get(key), str)


def _named(
    values: Sequence[tuple[tuple[str, ...], Any]], names: Sequence[str], kinds: tuple[type, ...]
) -> str | None:
    paths = [
        path
        for path, value in values
        if _name(path) in names and isinstance(value, kinds) and not isinstance(value, bool)
    ]
    return _pointer(min(paths, key=len)) if paths else None


def _name(path: Sequence[str]) -> str:
    return path[-1].lower() if path else ""


def _is_in_chunks(path: Sequence[str]) -> bool:
    return any(part.lower() in CHUNKS for part in path)


def _pointer(path: Sequence[str]) -> str:
    """Return a JSON Pointer (RFC 6901)."""
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in path)
