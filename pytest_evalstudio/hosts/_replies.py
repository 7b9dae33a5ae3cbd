"""Answers in JSON replies whose parts the configuration names by JSON Pointers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.reported import reported_facts
from pytest_evalstudio.core.states import ApplicationState, state_text
from pytest_evalstudio.core.steps import Step, read_steps
from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_calls
from pytest_evalstudio.core.usage import ALL_NAMES, usage_of
from pytest_evalstudio.hosts._faults import quoted
from pytest_evalstudio.hosts._messages import counts
from pytest_evalstudio.hosts._templates import MISSING, at_pointer

_FACTS = reported_facts(Answer)

POINTERS: Mapping[str, str] = {
    "answer": "Text of the answer.",
    "thoughts": "Reasoning of the model that is no part of the answer; it is not scored.",
    "context": "Retrieved chunks: a list of texts.",
    "sources": "Name or URI of each chunk, in the order of `context`.",
    "scores": "Relevance of each chunk, in the order of `context`.",
    "tool_calls": "Calls of tools, each with name, arguments and, where known, result.",
    "steps": "All that the application did, in order, each with its kind.",
    "cost": "US dollars of the answer.",
    "usage": "Tokens by kind, e.g. input and output.",
    "error": "Message of a failure; a reply with one is asked for again.",
    **{name: fact.meaning for name, fact in _FACTS.items()},
    "state": "State of the application after the answer, for `final_state`.",
}
"""Parts of a reply that a JSON Pointer may name, and their meaning."""


def parts_of(document: Any, pointers: Mapping[str, str]) -> dict[str, Any]:
    """Return the parts of a reply that are there; null is none.

    Args:
        pointers: keys of POINTERS to JSON Pointers.
    """
    parts = {name: at_pointer(document, pointer) for name, pointer in pointers.items()}
    return {name: part for name, part in parts.items() if part is not MISSING and part is not None}


def joined_parts(events: Sequence[Any], pointers: Mapping[str, str]) -> dict[str, Any]:
    """Return the parts of a stream: answers and thoughts joined, of every other part the last value."""
    parts: dict[str, Any] = {}
    texts: list[str] = []
    thoughts: list[str] = []
    for event in events:
        current = parts_of(event, pointers)
        text = current.pop("answer", None)
        if isinstance(text, str):
            texts.append(text)
        thought = current.pop("thoughts", None)
        if isinstance(thought, str):
            thoughts.append(thought)
        parts |= {name: part for name, part in current.items() if part != []}
    joined = {"answer": texts, "thoughts": thoughts}
    return {**parts, **{name: "".join(values) for name, values in joined.items() if values}}


def read_reply(
    parts: Mapping[str, Any],
    pointers: Mapping[str, str],
    url: str,
    mask: Callable[[str], str],
    *,
    first_token_s: float | None = None,
) -> Answer:
    """Return the answer in the parts of a reply.

    Args:
        parts: of the reply, by key of POINTERS.
        pointers: where they were, for messages.
        url: of the service, for messages.
        mask: removes secrets from a message.

    Raises:
        HostFault: if the reply reports an error, has no answer, or a part of it has the wrong type.
    """
    if error := parts.get("error"):
        text = quoted(error if isinstance(error, str) else json.dumps(error), mask)
        raise HostFault(f"{url} answered with an error: {text}; check the service", retry=True)
    context, sources, scores = _chunks(parts, pointers, url)
    steps, tool_calls = _steps_and_calls(parts, pointers, url, chunks=len(context))
    answer = _answer_text(parts, pointers, url, may_lack=bool(tool_calls))
    thoughts = _of_type(parts, "thoughts", str, pointers, url) or ""
    cost = _of_type(parts, "cost", (int, float), pointers, url)
    return Answer(
        text=answer,
        thoughts=thoughts,
        context=context,
        context_sources=sources,
        context_scores=scores,
        retrieves=True if "context" in pointers else None,
        cost_usd=None if cost is None else float(cost),
        usage=_usage(_of_type(parts, "usage", dict, pointers, url) or {}),
        tool_calls=tool_calls,
        steps=steps,
        first_token_s=first_token_s,
        state=ApplicationState(after=state_text(parts["state"])) if "state" in parts else None,
        **{name: fact.read(parts[name]) for name, fact in _FACTS.items() if name in parts},
    )


def _answer_text(parts: Mapping[str, Any], pointers: Mapping[str, str], url: str, *, may_lack: bool) -> str:
    answer = parts.get("answer", "")
    if not isinstance(answer, str):
        raise HostFault(
            f"{url} sent a reply whose answer ({pointers['answer']}) is not a text; correct reply.answer"
        )
    if "answer" not in parts and not may_lack:
        raise HostFault(
            f"{url} sent a reply without an answer at {pointers.get('answer', '')}; correct reply.answer"
        )
    return answer


def _chunks(
    parts: Mapping[str, Any], pointers: Mapping[str, str], url: str
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[float, ...]]:
    """Return the retrieved chunks, and their sources and scores, each of which may be empty."""
    context = _texts(parts, "context", pointers, url)
    sources = _texts(parts, "sources", pointers, url)
    scores = _of_type(parts, "scores", list, pointers, url) or []
    for name, values in (("sources", sources), ("scores", scores)):
        if values and len(values) != len(context):
            raise HostFault(
                f"{url} sent {len(context)} chunks and {len(values)} {name};"
                f" correct reply.context and reply.{name}"
            )
    if not all(isinstance(score, int | float) for score in scores):
        raise HostFault(
            f"{url} sent a reply whose scores ({pointers['scores']}) are not numbers; correct reply.scores"
        )
    return context, sources, tuple(map(float, scores))


def _steps_and_calls(
    parts: Mapping[str, Any], pointers: Mapping[str, str], url: str, *, chunks: int
) -> tuple[tuple[Step, ...], tuple[ToolCall, ...]]:
    name = "tool_calls"
    try:
        calls = read_tool_calls(_of_type(parts, name, list, pointers, url) or [])
        name = "steps"
        return read_steps(_of_type(parts, name, list, pointers, url), calls, chunks=chunks)
    except ValueError as exc:
        fact = f"{url} sent a reply whose {name} ({pointers[name]}) cannot be read: {exc}"
        raise HostFault(f"{fact}; correct reply.{name}") from None


def _usage(usage: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of tokens, and further counts that the service reports."""
    tokens = usage_of(usage)
    return {**{name: count for name, count in counts(usage).items() if name not in ALL_NAMES}, **tokens}


def _texts(parts: Mapping[str, Any], name: str, pointers: Mapping[str, str], url: str) -> tuple[str, ...]:
    value = parts.get(name, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
        raise HostFault(
            f"{url} sent a reply whose {name} ({pointers[name]}) is not a list of texts; correct reply.{name}"
        )
    return tuple(values)


def _of_type(
    parts: Mapping[str, Any], name: str, kind: type | tuple[type, ...], pointers: Mapping[str, str], url: str
) -> Any:
    value = parts.get(name)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise HostFault(
            f"{url} sent a reply whose {name} ({pointers[name]}) has the type {type(value).__name__};"
            f" correct reply.{name}"
        )
    return value
