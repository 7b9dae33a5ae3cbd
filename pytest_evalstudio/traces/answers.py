"""Answers of the running test, completed by what the spans of the application say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

from msgspec import structs

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.core.tracing import traceparent
from pytest_evalstudio.formats.imported.records import Omissions
from pytest_evalstudio.traces.calls import matching_calls
from pytest_evalstudio.traces.files import Trace
from pytest_evalstudio.traces.rows import fields_fault, fields_of
from pytest_evalstudio.traces.spans import Span


def completed_answer(
    answer: Answer,
    trace_id: str,
    spans: Sequence[Span],
    *,
    question: str,
    parents: Sequence[str],
    max_context_chars: int,
) -> Answer:
    """Return an answer with the context, calls, steps, tokens and cost that it lacks and its spans have.

    What the reply says stays as it is.

    Args:
        parents: ids of the spans that the requests of the question named as their parent; the spans of the
            last request count.
        max_context_chars: a longer context is not taken.
    """
    own = list(_of_last_request(spans, parents))
    fields = fields_of(Trace(trace_id, tuple(own)), question, Omissions())
    top = next((span.id for span in own if span.parent == parents[-1]), parents[-1])
    answer = structs.replace(answer, traceparent=traceparent(trace_id, top))
    if fields is None or fields_fault(fields):
        return answer
    values = cast(dict[str, Any], fields)
    if values["traceparent"]:
        answer = structs.replace(answer, traceparent=values["traceparent"])
    calls: Sequence[ToolCall] = values["tool_calls"]
    steps: Sequence[Step] = values["steps"]
    context = tuple(values["context"])
    if sum(map(len, context)) > max_context_chars:
        context = ()
    if answer.tool_calls:
        calls, steps = _with_calls_of_reply(answer.tool_calls, calls, steps)
    if answer.context or not context:
        steps = _with_chunks_of_reply(answer.context, values["context"], steps)
    else:
        answer = structs.replace(
            answer,
            context=context,
            context_sources=tuple(values.get("context_sources", ())),
            context_scores=tuple(values.get("context_scores", ())),
        )
    return structs.replace(
        answer,
        tool_calls=tuple(calls),
        steps=answer.steps or tuple(steps),
        usage=answer.usage or values["usage"],
        cost_usd=values["cost"] if answer.cost_usd is None else answer.cost_usd,
        served_model=answer.served_model or values["served_model"],
        request_id=answer.request_id or values["request_id"],
        finish_reason=answer.finish_reason or values["finish_reason"],
    )


def _of_last_request(spans: Sequence[Span], parents: Sequence[str]) -> Iterator[Span]:
    """Yield the spans that do not belong to an earlier request of the question, which failed."""
    by_id = {span.id: span for span in spans}
    earlier: Collection[str] = set(parents[:-1])
    is_earlier: dict[str, bool] = {}
    for span in spans:
        path: list[str] = []
        id = span.id
        while id in by_id and id not in is_earlier:
            is_earlier[id] = False  # ends a cycle
            path.append(id)
            id = by_id[id].parent
        outcome = is_earlier.get(id, id in earlier)
        for id in path:
            is_earlier[id] = outcome
        if not is_earlier[span.id]:
            yield span


def _with_calls_of_reply(
    reply: Sequence[ToolCall], traced: Sequence[ToolCall], steps: Sequence[Step]
) -> tuple[list[ToolCall], list[Step]]:
    """Return the calls of the reply with results, errors and times of the trace, and the steps for them.

    Steps of calls that the reply does not list are left out.
    """
    calls = list(reply)
    indices = matching_calls(reply, traced)
    for index, executed in zip(indices, traced, strict=True):
        if index is not None:
            call = calls[index]
            calls[index] = structs.replace(
                call,
                result=executed.result if call.result is None else call.result,
                error=call.error or executed.error,
                agent=call.agent or executed.agent,
                started_s=executed.started_s if call.started_s is None else call.started_s,
                duration_s=executed.duration_s if call.duration_s is None else call.duration_s,
            )
    kept = [
        step if step.call is None else structs.replace(step, call=indices[step.call])
        for step in steps
        if step.call is None or indices[step.call] is not None
    ]
    return calls, kept


def _with_chunks_of_reply(context: Sequence[str], traced: Sequence[str], steps: Sequence[Step]) -> list[Step]:
    """Return steps whose chunks are those of the reply; others are left out."""
    # From the end, so that the first of equal chunks counts.
    positions = {text: index for index, text in reversed(list(enumerate(context)))}
    return [
        structs.replace(
            step,
            documents=tuple(
                positions[traced[index]] for index in step.documents if traced[index] in positions
            ),
        )
        if step.documents
        else step
        for step in steps
    ]
