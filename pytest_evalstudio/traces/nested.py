"""Calls of a model that several spans record: a framework's, and those of the client below it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.traces.exchanges import said, split
from pytest_evalstudio.traces.facts import Facts, TraceMessage

if TYPE_CHECKING:
    from pytest_evalstudio.traces.trace_part import TracePart


def merge_models(ordered: Sequence[TracePart], parts: Mapping[str, TracePart]) -> bool:
    """Merge calls of a model inside another one with it where both are one request.

    A span with several requests below it, or with one that says what it does not say, is a chain of them.

    Args:
        ordered: the parts, each after the one above it.

    Returns:
        True if there are any.
    """
    below: dict[str, list[TracePart]] = {}
    for part in ordered:
        if part.facts.kind == "model" and part.model_above:
            below.setdefault(part.model_above, []).append(part)
    # The innermost ones first; the requests of a chain are compared with the span above it.
    for id in [part.span.id for part in reversed(ordered) if part.span.id in below]:
        outer, inner = parts[id], below[id]
        facts = [part.facts for part in inner]
        if _is_one_request(outer.facts, facts):
            outer.facts = _completed(outer.facts, facts)
            for part in inner:
                part.is_merged = True
        else:
            outer.facts = replace(outer.facts, kind="chain")
            if outer.model_above:
                siblings = [part for part in below[outer.model_above] if part is not outer]
                below[outer.model_above] = [*siblings, *inner]
    return bool(below)


def _is_one_request(outer: Facts, inner: Sequence[Facts]) -> bool:
    """Return whether the spans below one say nothing else than it; all but one may have failed."""
    speaking = [facts for facts in inner if _speaks(facts)]
    if not _speaks(outer):
        return len(speaking) <= 1
    calls = set(map(call_signature, _calls(outer.outputs)))
    texts = ("", said(outer.outputs))
    return all(
        said(facts.outputs) in texts and all(call_signature(call) in calls for call in _calls(facts.outputs))
        for facts in speaking
    )


def _speaks(facts: Facts) -> bool:
    return bool(said(facts.outputs)) or any(True for _ in _calls(facts.outputs))


def _calls(messages: Iterable[TraceMessage]) -> Iterable[ToolCall]:
    return (call for message in messages for call in message.calls)


def call_signature(call: ToolCall) -> str:
    """Return name and arguments of a call, by which two records of it are equal."""
    return json.dumps([call.name, call.arguments, call.arguments_text], sort_keys=True, default=str)


def _completed(outer: Facts, inner: Sequence[Facts]) -> Facts:
    """Return the facts of a request with what only the spans below say."""
    speaking = next((facts for facts in reversed(inner) if _speaks(facts)), inner[-1])
    usage: dict[str, int] = {}
    for facts in inner:
        for kind, number in facts.usage.items():
            usage[kind] = usage.get(kind, 0) + number
    costs = [facts.cost_usd for facts in inner if facts.cost_usd is not None]
    last = inner[-1]
    return replace(
        outer,
        name=outer.name or last.name,
        inputs=outer.inputs if split(outer.inputs)[0] else speaking.inputs or outer.inputs,
        outputs=outer.outputs if _speaks(outer) else speaking.outputs or outer.outputs,
        usage=outer.usage or usage,
        cost_usd=sum(costs) if outer.cost_usd is None and costs else outer.cost_usd,
        served_model=outer.served_model or last.served_model,
        request_id=outer.request_id or last.request_id,
        finish_reason=outer.finish_reason or last.finish_reason,
        session=outer.session or last.session,
        unread=(*outer.unread, *(name for facts in inner for name in facts.unread)),
    )
