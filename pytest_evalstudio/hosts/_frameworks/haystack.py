"""Results of Haystack: of its agent, and of a pipeline with the outputs of its components."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
)

_KEYS = ("messages", "replies", "answers", "documents")


def recognises(value: object) -> bool:
    """Return True for the outputs of an agent or of a pipeline that have objects of Haystack."""
    if not isinstance(value, Mapping):
        return False
    return any(
        _is_of_plain_generator(outputs) or any("haystack" in roots(item) for item in _items(outputs))
        for outputs in _outputs(value)
    )


def read(result: Any) -> Answer:
    """Return the answer of an agent or of a pipeline.

    Of several components the last one counts, for the answer and for the documents. The tokens are those of
    all replies in the result.
    """
    calls, text, documents, metas = Calls(), "", list[Any](), list[Any]()
    for outputs in _outputs(result):
        documents = outputs.get("documents") or documents
        metas += outputs.get("meta") or ()
        if messages := _last_turn([*(outputs.get("messages") or ()), *(outputs.get("replies") or ())]):
            text = _read_messages(messages, calls, metas)
        for answer in outputs.get("answers") or ():
            text, documents = text_of(answer.data), answer.documents or documents
    return Answer(
        text=text,
        tool_calls=calls.all(),
        usage=total_usage([meta.get("usage") for meta in metas]),
        finish_reason=finish_reason(metas[-1].get("finish_reason")) if metas else "",
        served_model=str(metas[-1].get("model") or "") if metas else "",
        **context([_chunk(document) for document in documents]),
    )


def _read_messages(messages: Sequence[Any], calls: Calls, metas: list[Any]) -> str:
    """Add the calls and the metadata of messages, and return the text of the last one of a model."""
    text = ""
    for message in messages:
        if isinstance(message, str):  # of a generator without chat, whose metadata are an output of their own
            text = message
            continue
        if message.role == "assistant":
            text = message.text or ""
            metas.append(message.meta)
        for call in message.tool_calls:
            calls.begin(call.tool_name, call.arguments, call.id)
        for outcome in message.tool_call_results:
            calls.end(outcome.origin.id, outcome.result, failed=outcome.error)
    return text


def _outputs(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the outputs of each component; an agent alone is one."""
    if any(key in result and isinstance(result[key], list) for key in _KEYS):
        return [result]
    return [outputs for outputs in result.values() if isinstance(outputs, Mapping)]


def _is_of_plain_generator(outputs: Mapping[str, Any]) -> bool:
    """Return True for the outputs of a generator without chat, which are texts and their metadata."""
    replies, metas = outputs.get("replies"), outputs.get("meta")
    return isinstance(replies, list) and isinstance(metas, list) and len(replies) == len(metas) > 0


def _items(outputs: Mapping[str, Any]) -> Iterable[object]:
    return (item for key in _KEYS if isinstance(outputs.get(key), list) for item in outputs[key][:1])


def _last_turn(messages: list[Any]) -> list[Any]:
    questions = [
        index
        for index, message in enumerate(messages)
        if not isinstance(message, str) and message.role == "user"
    ]
    return messages[questions[-1] + 1 :] if questions else messages


def _chunk(document: Any) -> RetrievedChunk:
    score = None if document.score is None else float(document.score)
    return RetrievedChunk(document.content or "", source_of(document.meta), score)
