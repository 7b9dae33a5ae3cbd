"""Results of LlamaIndex: of query and chat engines, and the events of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.usage import total_usage
from pytest_evalstudio.hosts._frameworks.parts import (
    Calls,
    Context,
    RetrievedChunk,
    context,
    roots,
    source_of,
    text_of,
)

_PACKAGES = {"llama_index", "workflows"}


def recognises(value: object) -> bool:
    """Return True for the result of an engine or an agent, and for the list of an agent's events."""
    if isinstance(value, list):
        return (
            bool(value) and all(_PACKAGES & roots(event) for event in value) and any(map(_is_output, value))
        )
    return "llama_index" in roots(value) and (hasattr(value, "source_nodes") or _is_output(value))


def read(result: Any) -> Answer:
    """Return the answer of an engine or an agent.

    An agent's events have the tokens of all requests; its result has only those of the last one, so that
    these are left out.
    """
    if isinstance(result, list):
        return _agent(result)
    return _agent_result(result) if _is_output(result) else _engine(result)


def retrieved(nodes: Iterable[Any]) -> Context:
    """Return the context that an engine retrieved."""
    return context(list(_chunks(nodes)))


def _engine(result: Any) -> Answer:
    return Answer(text=text_of(result.response), **retrieved(result.source_nodes))


def _agent(events: Iterable[Any]) -> Answer:
    outputs = [event for event in events if _is_output(event)]
    finished = [event for event in events if hasattr(event, "tool_output")]
    reports = [event.raw.get("usage") if isinstance(event.raw, Mapping) else None for event in outputs]
    return _of_agent(outputs[-1], finished, usage=total_usage(reports))


def _agent_result(output: Any) -> Answer:
    finished = [call for call in output.tool_calls if hasattr(call, "tool_output")]
    return _of_agent(output, finished, usage={})


def _of_agent(output: Any, finished: Iterable[Any], *, usage: dict[str, int]) -> Answer:
    calls, chunks = Calls(), list[RetrievedChunk]()
    for call in finished:
        calls.begin(call.tool_name, call.tool_kwargs, call.tool_id)
        calls.end(call.tool_id, call.tool_output.content, failed=call.tool_output.is_error)
        chunks += _chunks(getattr(call.tool_output.raw_output, "source_nodes", ()))
    structured = output.structured_response
    raw = output.raw if isinstance(output.raw, Mapping) else {}
    return Answer(
        text=text_of(structured) if structured is not None else output.response.content or "",
        tool_calls=calls.all(),
        usage=usage,
        served_model=str(raw.get("model") or ""),
        **context(chunks),
    )


def _chunks(nodes: Iterable[Any]) -> Iterator[RetrievedChunk]:
    for node in nodes:
        score = None if node.score is None else float(node.score)
        yield RetrievedChunk(node.node.get_content(), source_of(node.node.metadata), score)


def _is_output(value: object) -> bool:
    """Return True for the output of a model in an agent, `AgentOutput`."""
    return all(hasattr(value, name) for name in ("response", "tool_calls", "current_agent_name"))
