"""Calls of tools in a row: those that a model requested, with the spans of the tools that ran."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.formats.imported.records import Omissions
from pytest_evalstudio.traces.exchanges import last_question
from pytest_evalstudio.traces.facts import Facts, ToolResult
from pytest_evalstudio.traces.nested import call_signature
from pytest_evalstudio.traces.trace_part import TracePart

CONTENT_REMEDY = (
    "texts are recorded only on request, e.g. by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
)


def merged_calls(group: Sequence[TracePart], omissions: Omissions) -> tuple[list[ToolCall], dict[str, int]]:
    """Return the calls of a row in the order of time, and the index of the call of each tool's span.

    A span belongs to the requested call with its id, else with its name and arguments, else with its name.
    Of several attempts at a call, the last one has the result that the model got.
    """
    speakers = [part for part in group if part.facts.kind == "model"]
    # Some frameworks record no spans of models.
    speakers = speakers or [part for part in group if part.facts.kind in ("agent", "chain")]
    results = _results([part.facts for part in speakers])
    requests = [(time, _with_result(call, results)) for time, call in _requested(speakers)]
    open_calls = _OpenCalls()
    for number, (_, call) in enumerate(requests):
        open_calls.add(number, call)
    attempts: dict[int, list[TracePart]] = {}
    entries: list[tuple[float, ToolCall, str]] = []
    for part in group:
        if part.facts.kind != "tool" or part.facts.call is None:
            continue
        index = open_calls.take(part.facts.call)
        if index is None:
            index = open_calls.repeated(part.facts.call)
        if index is not None:
            attempts.setdefault(index, []).append(part)
            open_calls.note(index, part.facts.call, failed=bool(part.span.error or part.facts.call.error))
            continue
        if not part.facts.says_arguments:
            omissions.add("arguments of a tool call", CONTENT_REMEDY)
        entries.append((part.span.started_s or 0.0, _executed(part), part.span.id))
    for number, (time, call) in enumerate(requests):
        parts = attempts.get(number, [])
        for part in parts[:-1]:
            failed = _merged(replace(call, result=None, error=""), part)
            entries.append((part.span.started_s or time, failed, part.span.id))
        if parts:
            last = _merged(call, parts[-1])
            entries.append((parts[-1].span.started_s or time, last, parts[-1].span.id))
        else:
            entries.append((time, call, ""))
    # By time alone: calls have no order, and those that a model requested together keep theirs.
    entries.sort(key=lambda entry: entry[0])
    for _, call, _ in entries:
        if call.result is None and not call.error:
            omissions.add("result of a tool call", CONTENT_REMEDY)
    return [call for _, call, _ in entries], {id: index for index, (_, _, id) in enumerate(entries) if id}


def _with_result(call: ToolCall, results: Mapping[str, ToolResult]) -> ToolCall:
    result = results.get(call.id) if call.id else None
    return call if result is None else replace(call, result=result.text or None, error=result.error)


def _executed(part: TracePart) -> ToolCall:
    """Return the call of a tool's span."""
    assert part.facts.call is not None
    return replace(
        part.facts.call,
        agent=part.agent,
        started_s=part.span.started_s,
        duration_s=part.span.duration_s,
        error=part.facts.call.error or part.span.error,
    )


def matching_calls(requested: Sequence[ToolCall], executed: Sequence[ToolCall]) -> list[int | None]:
    """Return the index of the requested call that each executed one belongs to, None where there is none."""
    open_calls = _OpenCalls()
    for index, call in enumerate(requested):
        open_calls.add(index, call)
    return [open_calls.take(call) for call in executed]


def _requested(speakers: Sequence[TracePart]) -> Iterator[tuple[float, ToolCall]]:
    """Yield the calls that models requested, with the times; a call that several spans repeat once."""
    ids: set[str] = set()
    requested: list[ToolCall] = []
    for part in speakers:
        time = (part.span.started_s or 0.0) + (part.span.duration_s or 0.0)
        for message in part.facts.outputs:
            for call in message.calls:
                if not call.id or call.id not in ids:
                    yield time, call
                    requested.append(call)
                ids.add(call.id)
    # Calls before the first span of a row, e.g. of an application whose requests are traced one by one.
    inputs = speakers[-1].facts.inputs if speakers else ()
    repeated = [call for message in inputs[last_question(inputs) + 1 :] for call in message.calls]
    for call in _earlier(repeated, requested, ids):
        yield speakers[0].span.started_s or 0.0, call


def _earlier(
    repeated: Sequence[ToolCall], requested: Sequence[ToolCall], ids: set[str]
) -> Iterator[ToolCall]:
    """Yield the calls of a last request that no span requested; some frameworks repeat one with another id.

    Args:
        ids: of the requested calls; those of the calls are added.
    """
    if not repeated:
        return
    counts = Counter(map(call_signature, requested))
    for call in repeated:
        if call.id in ids:
            counts[call_signature(call)] -= 1
    for call in repeated:
        if call.id and call.id in ids:
            continue
        counts[call_signature(call)] -= 1
        if counts[call_signature(call)] < 0:
            yield call
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
        self._by_signature: dict[str, dict[str, deque[int]]] = {}
        self._failed: dict[str, int] = {}

    def add(self, index: int, call: ToolCall) -> None:
        self._open[index] = call
        if call.id:
            self._by_id.setdefault(call.id, index)

    def take(self, call: ToolCall) -> int | None:
        """Return the index of the requested call that a span belongs to; None where there is none."""
        index = self._by_id.get(call.id) if call.id else None
        if index is not None:
            return None if self._open.pop(index, None) is None else index  # None: a further attempt
        index = self._next(self._signatures(call.name).get(call_signature(call)))
        # A span with other arguments is another call; one without any may only lack their record.
        if index is None and not call.arguments:
            index = self._next(self._by_name.get(call.name))
        return index

    def repeated(self, call: ToolCall) -> int | None:
        """Return the index of the requested call that a span attempts once more; None where there is none."""
        index = self._by_id.get(call.id) if call.id else None
        if index is not None or not self._failed:
            return index
        return self._failed.get(call_signature(call))

    def note(self, index: int, call: ToolCall, *, failed: bool) -> None:
        """Note how an attempt ended: only after one that failed, an equal call repeats it."""
        if failed:
            self._failed[call_signature(call)] = index
        elif self._failed:
            self._failed.pop(call_signature(call), None)

    @cached_property
    def _by_name(self) -> Mapping[str, deque[int]]:
        """The open calls by their tools, which few spans are looked up by: most have an id."""
        indices: dict[str, deque[int]] = {}
        for index, call in self._open.items():
            indices.setdefault(call.name, deque()).append(index)
        return indices

    def _signatures(self, name: str) -> Mapping[str, deque[int]]:
        """Return the calls of a tool by their arguments."""
        if name not in self._by_signature:
            signatures: dict[str, deque[int]] = {}
            for index in self._by_name.get(name, ()):
                if index in self._open:
                    signatures.setdefault(call_signature(self._open[index]), deque()).append(index)
            self._by_signature[name] = signatures
        return self._by_signature[name]

    def _next(self, indices: deque[int] | None) -> int | None:
        while indices:
            index = indices.popleft()
            if self._open.pop(index, None) is not None:
                return index
        return None


def _merged(requested: ToolCall, part: TracePart) -> ToolCall:
    """Return the call of a tool's span, with what only the request says."""
    executed = part.facts.call
    assert executed is not None
    # Some frameworks record the values of the arguments as a text, without their names.
    says_more = requested if requested.arguments and not executed.arguments else executed
    return replace(
        executed,
        id=executed.id or requested.id,
        arguments=says_more.arguments,
        arguments_text=says_more.arguments_text,
        result=requested.result if executed.result is None else executed.result,
        error=executed.error or part.span.error or requested.error,
        agent=part.agent,
        started_s=part.span.started_s,
        duration_s=part.span.duration_s,
    )
