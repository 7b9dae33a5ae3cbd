"""Calls of tools in a row: those that a model requested, with the spans of the tools that ran."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.importers.common import Omissions
from pytest_evalstudio.traces.exchanges import last_question
from pytest_evalstudio.traces.facts import Facts, ToolResult
from pytest_evalstudio.traces.parts import TracePart

CONTENT_REMEDY = (
    "texts are recorded only on request, e.g. by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
)


def merged_calls(group: Sequence[TracePart], omissions: Omissions) -> tuple[list[ToolCall], dict[str, int]]:
    """Return the calls of a row in the order of time, and the index of the call of each tool's span.

    A span belongs to the requested call with its id, else with its name and arguments, else with its name.
    """
    speakers = [part for part in group if part.facts.kind == "model"]
    speakers = speakers or [part for part in group if part.facts.kind in ("agent", "chain")]
    results = _results([part.facts for part in speakers])
    entries: list[tuple[float, ToolCall, str]] = []
    open_calls = _OpenCalls()
    for time, call in _requested(speakers):
        result = results.get(call.id) if call.id else None
        if result is not None:
            call = replace(call, result=result.text or None, error=result.error)
        open_calls.add(len(entries), call)
        entries.append((time, call, ""))
    for part in group:
        executed = part.facts.call
        if part.facts.kind != "tool" or executed is None:
            continue
        executed = replace(
            executed,
            agent=part.agent,
            started_s=part.span.started_s,
            duration_s=part.span.duration_s,
            error=part.span.error,
        )
        index = open_calls.take(executed)
        if index is None:
            if not part.facts.says_arguments:
                omissions.add("arguments of a tool call", CONTENT_REMEDY)
            entries.append((part.span.started_s or 0.0, executed, part.span.id))
        else:
            time, call, _ = entries[index]
            entries[index] = (part.span.started_s or time, _merged(call, executed), part.span.id)
    entries.sort(key=lambda entry: entry[0])
    for _, call, _ in entries:
        if call.result is None and not call.error:
            omissions.add("result of a tool call", CONTENT_REMEDY)
    return [call for _, call, _ in entries], {id: index for index, (_, _, id) in enumerate(entries) if id}


def matching_calls(requested: Sequence[ToolCall], executed: Sequence[ToolCall]) -> list[int | None]:
    """Return the index of the requested call that each executed one belongs to, None where there is none."""
    open_calls = _OpenCalls()
    for index, call in enumerate(requested):
        open_calls.add(index, call)
    return [open_calls.take(call) for call in executed]


def _requested(speakers: Sequence[TracePart]) -> Iterator[tuple[float, ToolCall]]:
    """Yield the calls that models requested, with the times; a call that several spans repeat once."""
    ids: set[str] = set()
    unnamed: set[str] = set()
    for part in speakers:
        time = (part.span.started_s or 0.0) + (part.span.duration_s or 0.0)
        for message in part.facts.outputs:
            for call in message.calls:
                if not call.id or call.id not in ids:
                    yield time, call
                ids.add(call.id)
                if not call.id:
                    unnamed.add(_signature(call))
    if speakers:
        # Calls before the first span of a row, e.g. of an application whose requests are traced one by one.
        last = speakers[-1]
        inputs = last.facts.inputs
        for message in inputs[last_question(inputs) + 1 :]:
            for call in message.calls:
                if (call.id and call.id not in ids) or (not call.id and _signature(call) not in unnamed):
                    yield speakers[0].span.started_s or 0.0, call
                    ids.add(call.id)


def _results(speakers: Sequence[Facts]) -> Mapping[str, ToolResult]:
    return {
        result.call: result
        for facts in speakers
        for message in (*facts.inputs, *facts.outputs)
        for result in message.results
        if result.call
    }


class _OpenCalls:
    """Requested calls that no span belongs to yet."""

    def __init__(self) -> None:
        self._open: dict[int, ToolCall] = {}
        self._by_id: dict[str, int] = {}
        self._by_name: dict[str, deque[int]] = {}
        self._by_signature: dict[str, dict[str, deque[int]]] = {}

    def add(self, index: int, call: ToolCall) -> None:
        self._open[index] = call
        if call.id:
            self._by_id.setdefault(call.id, index)
        self._by_name.setdefault(call.name, deque()).append(index)

    def take(self, call: ToolCall) -> int | None:
        """Return the index of the requested call that a span belongs to; None where there is none."""
        index = self._by_id.get(call.id) if call.id else None
        if index is not None:
            return None if self._open.pop(index, None) is None else index  # None: a further attempt
        index = self._next(self._signatures(call.name).get(_signature(call)))
        if index is None and not call.arguments:
            index = self._next(self._by_name.get(call.name))
        return index

    def _signatures(self, name: str) -> Mapping[str, deque[int]]:
        """Return the calls of a tool by their arguments, which few spans are looked up by."""
        if name not in self._by_signature:
            signatures: dict[str, deque[int]] = {}
            for index in self._by_name.get(name, ()):
                if index in self._open:
                    signatures.setdefault(_signature(self._open[index]), deque()).append(index)
            self._by_signature[name] = signatures
        return self._by_signature[name]

    def _next(self, indices: deque[int] | None) -> int | None:
        while indices:
            index = indices.popleft()
            if self._open.pop(index, None) is not None:
                return index
        return None


def _signature(call: ToolCall) -> str:
    return json.dumps([call.name, call.arguments, call.arguments_text], sort_keys=True, default=str)


def _merged(requested: ToolCall, executed: ToolCall) -> ToolCall:
    """Return the call of a span, with what only the request says."""
    # Some frameworks record the values of the arguments as a text, without their names.
    says_more = requested if requested.arguments and not executed.arguments else executed
    return replace(
        executed,
        id=executed.id or requested.id,
        arguments=says_more.arguments,
        arguments_text=says_more.arguments_text,
        result=requested.result if executed.result is None else executed.result,
        error=executed.error or requested.error,
    )
