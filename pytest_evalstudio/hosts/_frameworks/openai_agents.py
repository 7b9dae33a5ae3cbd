"""Result of the OpenAI Agents SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.usage import total_usage
from pytest_evalstudio.hosts._frameworks.parts import Calls, RetrievedChunk, context, roots, text_of

_CALLS = ("tool_call_item", "handoff_call_item")
_OUTPUTS = ("tool_call_output_item", "handoff_output_item")


def recognises(value: object) -> bool:
    """Return True for the result of a run."""
    return "agents" in roots(value) and hasattr(value, "new_items") and hasattr(value, "final_output")


def read(result: Any) -> Answer:
    """Return the answer of a run; handoffs are calls of the tools that the model called for them."""
    calls, chunks = Calls(), list[RetrievedChunk]()
    for item in result.new_items:
        raw = item.raw_item
        if item.type in _CALLS:
            # Tools of the service have a type and no name, e.g. file_search_call.
            calls.begin(
                _field(raw, "name") or _field(raw, "type"),
                _field(raw, "arguments"),
                _id(raw),
                item.agent.name,
            )
            chunks += _found_files(_field(raw, "results"))
        elif item.type in _OUTPUTS:
            output = getattr(item, "output", None)
            calls.end(_id(raw), _field(raw, "output") if output is None else output)
    return Answer(
        text=text_of(result.final_output),
        tool_calls=calls.all(),
        usage=total_usage([response.usage for response in result.raw_responses]),
        **context(chunks),
    )


def _found_files(results: object) -> Iterator[RetrievedChunk]:
    """Yield the chunks of a file search, which the service returns where it is asked to include them."""
    for result in results if isinstance(results, list) else ():
        if isinstance(text := _field(result, "text"), str):
            score = _field(result, "score")
            yield RetrievedChunk(
                text, str(_field(result, "filename") or ""), score if isinstance(score, float) else None
            )


def _id(raw: object) -> object:
    return _field(raw, "call_id") or _field(raw, "id")


def _field(raw: object, name: str) -> Any:
    """Return a field of an item, which is an object or a mapping."""
    return raw.get(name) if isinstance(raw, Mapping) else getattr(raw, name, None)
