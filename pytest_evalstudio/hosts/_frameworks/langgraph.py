"""State of a LangGraph agent: a mapping with LangChain's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.usage import total_usage
from pytest_evalstudio.hosts._frameworks.langchain import reason_of
from pytest_evalstudio.hosts._frameworks.parts import (
    Calls,
    RetrievedChunk,
    context,
    roots,
    source_of,
    text_of,
    text_of_blocks,
)

STRUCTURED = "structured_response"


def recognises(value: object) -> bool:
    """Return True for a state whose last message is one of LangChain."""
    messages = value.get("messages") if isinstance(value, Mapping) else None
    return isinstance(messages, list) and bool(messages) and "langchain_core" in roots(messages[-1])


def read(state: Any) -> Answer:
    """Return the last turn of a state: what follows the last message of the user."""
    calls, chunks, models = Calls(), list[RetrievedChunk](), list[Any]()
    structured = state.get(STRUCTURED)
    # Output with a type may be a call of a tool that has the name of the type.
    output_tool = None if structured is None else type(structured).__name__
    for message in _last_turn(state["messages"]):
        if message.type == "ai":
            models.append(message)
            for call in message.tool_calls:
                if call["name"] != output_tool:
                    calls.begin(call["name"], call["args"], call["id"])
        elif message.type == "tool":
            failed = message.status == "error"
            calls.end(message.tool_call_id, text_of_blocks(message.content), failed=failed)
            chunks += _documents(message.artifact)
    last = state["messages"][-1]
    return Answer(
        text=text_of(structured) if structured is not None else _text(last),
        tool_calls=calls.all(),
        usage=total_usage([message.usage_metadata for message in models]),
        finish_reason=reason_of(models[-1]) if models else "",
        served_model=str(models[-1].response_metadata.get("model_name") or "") if models else "",
        **context(chunks),
    )


def _last_turn(messages: list[Any]) -> list[Any]:
    questions = [index for index, message in enumerate(messages) if message.type == "human"]
    return messages[questions[-1] + 1 :] if questions else messages


def _text(message: Any) -> str:
    return text_of_blocks(message.content) if message.type == "ai" else ""


def _documents(artifact: object) -> Iterator[RetrievedChunk]:
    """Yield the documents that a retrieving tool returns as its artifact."""
    for document in artifact if isinstance(artifact, list | tuple) else ():
        text = getattr(document, "page_content", None)
        if isinstance(text, str):
            yield RetrievedChunk(text, source_of(document.metadata))
