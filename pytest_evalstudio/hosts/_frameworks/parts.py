"""Parts of answers that all frameworks have: texts, calls of tools, retrieved chunks, tokens."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_call

SOURCES = ("source", "file_path", "file_name", "url")
"""Keys of the metadata of a chunk that name its document; the first that is there counts."""


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """A retrieved chunk.

    Attributes:
        source: its document, "" where that is not known.
        score: relevance by the retriever; None where it gives none.
    """

    text: str
    source: str = ""
    score: float | None = None


@dataclass(slots=True)
class Calls:
    """Calls of tools in their order, each with the result that follows it."""

    _calls: list[ToolCall] = field(default_factory=list)
    _open: dict[str, deque[int]] = field(default_factory=dict)
    """Positions of the calls without a result, by their ids."""

    def begin(self, name: object, arguments: object, id: object, agent: object = "") -> None:
        """Add a call whose result is not known yet."""
        fields = {"name": name, "arguments": plain(arguments), "id": id, "agent": agent}
        call = read_tool_call(fields)
        self._open.setdefault(call.id, deque()).append(len(self._calls))
        self._calls.append(call)

    def end(self, id: object, result: object, *, failed: bool = False) -> None:
        """Set the result of the first open call with an id; a result without a call is left out."""
        positions = self._open.get(text_of(id))
        if not positions:
            return
        position = positions.popleft()
        text = text_of(result)
        values = {"error": text} if failed else {"result": text}
        self._calls[position] = read_tool_call(self._calls[position].to_dict() | values)

    def all(self) -> tuple[ToolCall, ...]:
        return tuple(self._calls)


def plain(value: object) -> object:
    """Return a value as JSON data; text stays, and an object without a JSON form becomes its text."""
    return value if isinstance(value, str) else json.loads(json.dumps(value, default=_jsonable))


def text_of(value: object) -> str:
    """Return a text as it is, anything else as JSON; None is the empty text."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, default=_jsonable, ensure_ascii=False)


def _jsonable(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)


def text_of_blocks(content: object) -> str:
    """Return the text of a message: a string, or blocks of which those with text count."""
    if not isinstance(content, list):
        return text_of(content)
    texts = [
        block if isinstance(block, str) else block.get("text", "")
        for block in content
        if isinstance(block, str) or (isinstance(block, Mapping) and block.get("type") == "text")
    ]
    return "".join(texts)


def source_of(metadata: object) -> str:
    """Return the document that the metadata of a chunk name, "" for none."""
    if not isinstance(metadata, Mapping):
        return ""
    return next((text_of(metadata[key]) for key in SOURCES if metadata.get(key)), "")


class Context(TypedDict):
    """Context of an answer, as arguments of `Answer`."""

    context: tuple[str, ...]
    context_sources: tuple[str, ...]
    context_scores: tuple[float, ...]


def context(chunks: Sequence[RetrievedChunk]) -> Context:
    """Return the context of an answer; sources and scores are given for all chunks or for none.

    A retriever that compares an empty vector has NaN as its score, which is none.
    """
    sources = tuple(chunk.source for chunk in chunks if chunk.source)
    scores = tuple(chunk.score for chunk in chunks if chunk.score is not None and math.isfinite(chunk.score))
    return Context(
        context=tuple(chunk.text for chunk in chunks),
        context_sources=sources if len(sources) == len(chunks) else (),
        context_scores=scores if len(scores) == len(chunks) else (),
    )


def roots(value: object) -> set[str]:
    """Return the names of the packages that define the class of a value and its base classes."""
    return {str(cls.__module__).partition(".")[0] for cls in type(value).__mro__}
