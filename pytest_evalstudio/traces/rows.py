"""Rows of a trace: one for each root span of an agent or chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.core.numbers import number_fault
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tracing import traceparent
from pytest_evalstudio.formats.imported.records import Fields, Omissions
from pytest_evalstudio.traces.calls import CONTENT_REMEDY, merged_calls
from pytest_evalstudio.traces.exchanges import TraceExchange, exchange_of, last_question, said
from pytest_evalstudio.traces.facts import NO_FACTS, Document, Facts
from pytest_evalstudio.traces.files import Trace
from pytest_evalstudio.traces.parts import MAX_NAME_CHARS, ROOTS, parts_of
from pytest_evalstudio.traces.trace_part import STEP_KINDS, TracePart

QUESTION = "row without a question"
JSON_REMEDY = "it stays as it is; record the question as a text or as messages"
UNREAD_REMEDY = "it is no text, call or result of a known form, or it is cut off"
UNSAID_REMEDY = "the trace does not say it, so it stays empty"


@dataclass(frozen=True, slots=True)
class TraceRow:
    """Fields of a row, with its start in seconds since the epoch, 0 where the trace does not say it."""

    fields: Fields
    session: str
    started_s: float


def rows_of(trace: Trace, omissions: Omissions) -> Iterator[TraceRow]:
    """Yield the rows of a trace; what it does not say is missing, and counted."""
    parts = parts_of(trace)
    groups: dict[str, list[TracePart]] = {}
    for part in parts.values():
        if _counts(part):
            groups.setdefault(part.owner, []).append(part)
    if trace.lost:
        omissions.add("spans of a trace that has too many", "the first ones are read; split the trace")
    for _ in range(trace.repeated):
        omissions.add("span that the files have more than once", "the first one counts")
    if not groups:
        omissions.add("trace without a call of a model, tool or agent", "there is nothing to evaluate")
    for owner, group in groups.items():
        root = parts[owner]
        exchange = exchange_of(
            root.facts if root.facts.kind in ROOTS else NO_FACTS,
            [part.facts for part in group if part.facts.kind == "model" and not part.is_check],
        )
        if exchange.question.strip():
            # The id of the trace alone where it is unique, since that is what viewers of traces show.
            key = trace.id if len(groups) == 1 else f"{trace.id}-{owner}"
            if exchange.is_json:
                omissions.add("text of a question that is JSON", JSON_REMEDY)
            session = next((part.facts.session for part in (root, *group) if part.facts.session), "")
            fields = {
                "key": key,
                "session": session,
                "traceparent": traceparent(trace.id, owner),
                **_row(root, group, exchange, omissions),
            }
            yield TraceRow(fields, session, group[0].span.started_s or 0.0)
        else:
            omissions.add(QUESTION, CONTENT_REMEDY)
            _count_unread(group, omissions)


def fields_of(trace: Trace, question: str, omissions: Omissions) -> Fields | None:
    """Return the fields of the answer to a known question, of all spans of a trace; None without any."""
    parts = parts_of(trace)
    group = [part for part in parts.values() if _counts(part)]
    if not group:
        return None
    # Several roots: the question is answered by all of them, and none of their spans stands for the answer.
    roots = [part for part in group if part.owner == part.span.id]
    root = roots[0] if len(roots) == 1 else group[0]
    span_id = root.span.id if len(roots) == 1 else ""
    return {
        **_row(root, group, TraceExchange(question, (), ""), omissions),
        "traceparent": traceparent(trace.id, span_id),
    }


def fields_fault(fields: Fields) -> str:
    """Return what is wrong with the sums of a row, "" for nothing."""
    usage, cost_usd, duration_s = fields["usage"], fields["cost"], fields["actual_duration"]
    assert isinstance(usage, dict)
    assert isinstance(cost_usd, float | None)
    assert isinstance(duration_s, float)
    return number_fault(usage=usage, cost_usd=cost_usd, duration_s=duration_s)


def _counts(part: TracePart) -> bool:
    return part.facts.kind not in ("", "guardrail") and not part.is_merged


def _row(
    root: TracePart, group: Sequence[TracePart], exchange: TraceExchange, omissions: Omissions
) -> Fields:
    models = [part for part in group if part.facts.kind == "model"]
    # Calls of a guardrail's model are no answers, unless there are no others.
    models = [part for part in models if not part.is_check] or models
    if models:
        last = models[-1].facts
    else:
        last = root.facts if root.facts.kind in ROOTS else NO_FACTS
    usage, cost_usd = _sums(root, group)
    calls, indices = merged_calls(group, omissions)
    # A retriever and the chain around it often record the same documents.
    documents = list(dict.fromkeys(document for part in group for document in part.facts.documents))
    texts = [document for document in documents if document.text]
    positions = {document: index for index, document in enumerate(texts)}
    for _ in range(len(documents) - len(texts)):
        omissions.add("text of a retrieved document", CONTENT_REMEDY)
    duration_s = _duration_s(root, group)
    _count_unread(group, omissions)
    _count_unsaid(
        omissions,
        answer=bool(exchange.answer or root.span.error) or _ends_with_call(last),
        model=bool(last.served_model or (models and last.name)),
        tokens=bool(usage),
        cost=cost_usd is not None,
        duration=duration_s is not None,
    )
    return {
        # The name that was asked for: the served one changes with each release, and would split the results.
        "model_key": (last.name if models else last.served_model)[:MAX_NAME_CHARS],
        "input": exchange.question,
        "conversation": list(exchange.earlier),
        "actual_output": exchange.answer,
        "actual_duration": duration_s or 0.0,
        "cost": cost_usd,
        "usage": usage,
        "context": [document.text for document in texts],
        **_sources(texts),
        "served_model": last.served_model[:MAX_NAME_CHARS],
        "request_id": last.request_id[:MAX_NAME_CHARS],
        "finish_reason": last.finish_reason,
        # A root that fails after its answer, e.g. while it stores it, has still answered.
        "error": "" if exchange.answer or calls else root.span.error,
        "tool_calls": calls,
        "steps": [
            _step(part, indices.get(part.span.id), exchange.question, positions)
            for part in group
            if part.is_step
        ],
    }


def _count_unsaid(omissions: Omissions, **said: bool) -> None:
    for name, is_said in said.items():
        if not is_said:
            omissions.add(f"{name} of a row", CONTENT_REMEDY if name == "answer" else UNSAID_REMEDY)


def _count_unread(group: Sequence[TracePart], omissions: Omissions) -> None:
    """Count the parts of messages and values that cannot be read; requests repeat those before them."""
    speakers = [part.facts for part in group if part.facts.inputs]
    messages = [message for part in group for message in part.facts.outputs]
    messages += speakers[-1].inputs if speakers else ()
    for message in messages:
        for name in message.unread:
            omissions.add(f"part {name!r} of a message", UNREAD_REMEDY)
    for part in group:
        for name in part.facts.unread:
            omissions.add(name, UNREAD_REMEDY)


def _ends_with_call(facts: Facts) -> bool:
    """Return whether a request ended with calls of tools, so that there is no answer yet."""
    return any(message.calls for message in facts.outputs[-1:])


def _sums(root: TracePart, group: Sequence[TracePart]) -> tuple[dict[str, int], float | None]:
    """Return tokens and cost of the calls of models, else of the root span."""
    models = [part for part in group if part.facts.kind == "model"]
    usage, cost_usd = _totals(models)
    root_usage, root_cost_usd = _totals([root])
    return usage or root_usage, root_cost_usd if cost_usd is None else cost_usd


def _totals(parts: Sequence[TracePart]) -> tuple[dict[str, int], float | None]:
    """Return the tokens by kind and the cost of some spans; a cost that one of them lacks is unknown."""
    usage: dict[str, int] = {}
    costs = [part.facts.cost_usd for part in parts]
    for part in parts:
        for kind, number in part.facts.usage.items():
            usage[kind] = usage.get(kind, 0) + number
    stated = [cost for cost in costs if cost is not None]
    return usage, sum(stated) if stated and len(stated) == len(costs) else None


def _duration_s(root: TracePart, group: Sequence[TracePart]) -> float | None:
    """Return the seconds of the root span; of all spans where they have no common root."""
    if root.facts.kind in ROOTS or root not in group or len(group) == 1:
        return root.span.duration_s
    times = [
        (part.span.started_s, part.span.started_s + part.span.duration_s)
        for part in group
        if part.span.started_s is not None and part.span.duration_s is not None
    ]
    return max(end for _, end in times) - min(start for start, _ in times) if times else None


def _sources(documents: Sequence[Document]) -> Fields:
    """Return sources and scores of chunks, as far as all chunks have them."""
    fields: dict[str, object] = {}
    if documents and all(document.source for document in documents):
        fields["context_sources"] = [document.source for document in documents]
    scores = [document.score for document in documents]
    if documents and None not in scores:
        fields["context_scores"] = scores
    return fields


def _step(part: TracePart, call: int | None, question: str, positions: Mapping[Document, int]) -> Step:
    facts, span = part.facts, part.span
    speaks = facts.kind in ("model", "agent")
    index = last_question(facts.inputs) if speaks else -1
    if index >= 0:
        text = facts.inputs[index].text
    else:
        text = facts.question if facts.kind == "retrieval" else ""
    return Step(
        kind=STEP_KINDS[facts.kind],
        name=(facts.name or span.name)[:MAX_NAME_CHARS],
        agent=part.agent,
        id=span.id,
        parent=part.parent_step,
        text=text if text != question or not speaks else "",
        output=said(facts.outputs) if speaks else "",
        documents=tuple(positions[document] for document in facts.documents if document.text)
        if facts.documents
        else (),
        call=call if facts.kind == "tool" else None,
        started_s=span.started_s,
        duration_s=span.duration_s,
        usage=facts.usage,
        cost_usd=facts.cost_usd,
        error=span.error,
    )
