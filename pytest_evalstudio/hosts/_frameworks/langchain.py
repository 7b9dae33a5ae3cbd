"""Results of LangChain: a message of a model, and the mapping of a chain that retrieves or calls tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.codes import finish_reason
from pytest_evalstudio.core.usage import total_usage
from pytest_evalstudio.hosts._frameworks.parts import (
    Calls,
    RetrievedChunk,
    context,
    roots,
    source_of,
    text_of,
    text_of_blocks,
)

_TEXTS = ("answer", "result", "output", "output_text")
_QUESTIONS = ("input", "question", "query")
_CHUNKS = ("context", "source_documents", "documents")
_STEPS = "intermediate_steps"


def recognises(value: object) -> bool:
    """Return True for a message of a model, and for a mapping of a chain.

    A mapping has an answer beside documents, calls of tools or a message; one without any document is known
    by the question that it repeats.
    """
    if not isinstance(value, Mapping):
        return _is_message(value)
    texts = [value[key] for key in _TEXTS if key in value]
    if len(texts) != 1 or not (isinstance(texts[0], str) or _is_message(texts[0])):
        return False
    chunks = [value[key] for key in _CHUNKS if key in value]
    if not all(_are_documents(each) for each in chunks):
        return False
    return (
        any(map(len, chunks))
        or _is_message(texts[0])
        or _STEPS in value
        or (bool(chunks) and any(key in value for key in _QUESTIONS))
    )


def read(result: Any) -> Answer:
    """Return the answer of a model or of a chain; other keys of its mapping are not read."""
    if not isinstance(result, Mapping):
        return _of_message(result)
    text = next(result[key] for key in _TEXTS if key in result)
    chunks = next((result[key] for key in _CHUNKS if key in result), None)
    calls = Calls()
    for action, observation in result.get(_STEPS) or ():
        id = getattr(action, "tool_call_id", "")
        calls.begin(action.tool, action.tool_input, id)
        calls.end(id, text_of_blocks(observation))
    answer = Answer(text=text) if isinstance(text, str) else _of_message(text)
    fields = {name: getattr(answer, name) for name in ("usage", "served_model", "finish_reason")}
    return Answer(
        text=answer.text,
        tool_calls=calls.all() or answer.tool_calls,
        retrieves=None if chunks is None else True,
        **fields,
        **context(list(_retrieved(chunks or ()))),
    )


def reason_of(message: Any) -> str:
    """Return the reason for the end of a message of a model, under the name of its service."""
    metadata = message.response_metadata
    return finish_reason(metadata.get("finish_reason") or metadata.get("stop_reason"))


def _of_message(message: Any) -> Answer:
    calls = Calls()
    for call in message.tool_calls:
        calls.begin(call["name"], call["args"], call["id"])
    return Answer(
        text=text_of_blocks(message.content),
        tool_calls=calls.all(),
        usage=total_usage([message.usage_metadata]),
        served_model=text_of(message.response_metadata.get("model_name")),
        finish_reason=reason_of(message),
    )


def _retrieved(documents: Iterable[Any]) -> Iterator[RetrievedChunk]:
    for entry in documents:
        document, score = entry if isinstance(entry, tuple) else (entry, None)
        yield RetrievedChunk(
            document.page_content,
            source_of(document.metadata),
            None if score is None else float(score),
        )


def _is_message(value: object) -> bool:
    return "langchain_core" in roots(value) and getattr(value, "type", "") in ("ai", "AIMessageChunk")


def _are_documents(value: object) -> bool:
    """Return True for a list of documents, which may come with their scores."""
    if not isinstance(value, list | tuple):
        return False
    entries = [entry[0] if isinstance(entry, tuple) and len(entry) == 2 else entry for entry in value]
    return all("langchain_core" in roots(entry) and hasattr(entry, "page_content") for entry in entries)
