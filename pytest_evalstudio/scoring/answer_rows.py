"""Answers in the rows of labs and of records: one function for each direction."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pytest_evalstudio.asking.dialogues import joined_answer
from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import NOTHING, Answer, Exchange
from pytest_evalstudio.core.codes import reason_in
from pytest_evalstudio.core.states import ApplicationState
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.core.tracing import trace_and_span
from pytest_evalstudio.formats.attachments import attachments_of, recorded
from pytest_evalstudio.formats.conversations import AnsweredTurn
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.packed import constant
from pytest_evalstudio.record import schema
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked, masked_counts, masked_items, masked_key, masked_texts
from pytest_evalstudio.scoring.record_texts import document_names, iso_time

_MAX_RESULT_CHARS = 20_000
"""Longer results are cut in records: a report shows them, and evaluators have seen them whole."""
_MAX_SECRET_CHARS = 10_000
"""Longer than any secret that is masked: private keys have up to 6,500 characters."""


def answer_of_row(row: Row, *, error: str, folder: str | None = None) -> Answer:
    """Return the answer in a row of a lab.

    Args:
        error: reason for a missing answer; the text is then empty.
        folder: of the lab, where the paths of images and files start; None where it has none.
    """
    turns = tuple(
        Exchange(
            prompt=turn.prompt,
            answer=_answer_in(turn, turn.error),
            attachments=attachments_of(turn.images, turn.files, folder),
        )
        for turn in row.turns
    )
    closing = tuple(row.closing_messages)
    if not turns or not any(turn.answer.text or turn.answer.tool_calls for turn in turns):
        answer = _answer_in(row, error)
        return replace(answer, closing_messages=closing) if closing else answer
    joined = joined_answer(turns, ended_by=row.ended_by)
    return replace(
        joined, text="" if error else joined.text, error=error or joined.error, closing_messages=closing
    )


def _answer_in(row: Row | AnsweredTurn, error: str) -> Answer:
    return Answer(
        text="" if error else row.actual_output,
        thoughts=row.thoughts,
        context=tuple(row.context),
        context_sources=tuple(row.context_sources),
        context_scores=tuple(row.context_scores),
        duration_s=row.actual_duration,
        first_token_s=row.first_token_s,
        served_model=row.served_model,
        request_id=row.request_id,
        finish_reason=reason_in(row.finish_reason, row.usage),
        traceparent=row.traceparent,
        session=row.session,
        state=_state(row),
        cost_usd=row.cost,
        usage=row.usage or NOTHING,
        tool_calls=constant(row.tool_calls),
        steps=constant(row.steps),
        error=error,
    )


def complete_row(row: Row, answer: Answer, folder: str) -> None:
    """Put an answer into its row; sources below the folder are named from there."""
    prefix = folder.rstrip(os.sep) + os.sep
    row.actual_output = answer.text
    row.thoughts = answer.thoughts
    row.context = list(answer.context)
    row.context_sources = [uri.removeprefix(prefix) for uri in answer.context_sources]
    row.actual_duration = round(answer.duration_s, 6)
    row.cost = answer.cost_usd
    row.usage = dict(answer.usage)
    row.error = answer.error
    row.context_scores = list(answer.context_scores)
    row.first_token_s = answer.first_token_s
    row.served_model = answer.served_model
    row.request_id = answer.request_id
    row.finish_reason = answer.finish_reason
    row.traceparent = answer.traceparent
    row.session = answer.session
    row.state, row.state_before = _state_texts(answer)
    row.tool_calls = list(answer.tool_calls)
    row.steps = list(answer.steps)
    row.ended_by = answer.ended_by
    row.closing_messages = list(answer.closing_messages)
    row.turns = [
        _completed_turn(row.turns[index] if index < len(row.turns) else None, exchange, prefix)
        for index, exchange in enumerate(answer.turns)
    ] + row.turns[len(answer.turns) :]
    details = {"retries": answer.retries, "artifacts": list(answer.artifacts)}
    assert row.model_extra is not None  # unknown keys are kept
    row.model_extra.update({name: value for name, value in details.items() if value})


def _completed_turn(planned: AnsweredTurn | None, exchange: Exchange, prefix: str) -> AnsweredTurn:
    """Return a turn of a row with its answer; turns of a simulated user are not planned."""
    answer = exchange.answer
    changes = {
        "actual_output": answer.text,
        "thoughts": answer.thoughts,
        "context": list(answer.context),
        "context_sources": [uri.removeprefix(prefix) for uri in answer.context_sources],
        "context_scores": list(answer.context_scores),
        "actual_duration": round(answer.duration_s, 6),
        "cost": answer.cost_usd,
        "usage": dict(answer.usage),
        "error": answer.error,
        "first_token_s": answer.first_token_s,
        "served_model": answer.served_model,
        "request_id": answer.request_id,
        "finish_reason": answer.finish_reason,
        "traceparent": answer.traceparent,
        "session": answer.session,
        "state": _state_texts(answer)[0],
        "state_before": _state_texts(answer)[1],
        "tool_calls": list(answer.tool_calls),
        "steps": list(answer.steps),
    }
    if exchange.attachments:
        changes["images"] = recorded(exchange.attachments, is_image=True)
        changes["files"] = recorded(exchange.attachments, is_image=False)
    turn = planned if planned is not None else AnsweredTurn(prompt=exchange.prompt)
    return turn.model_copy(update=changes)


def recorded_answer(answer: Answer, folder: str) -> schema.RecordedAnswer:
    """Return an answer as a record holds it, with personal data and secrets masked.

    Args:
        folder: documents below it are named from there.
    """
    return schema.RecordedAnswer(
        actual_output=masked(answer.text),
        thoughts=_recorded_text(answer.thoughts) or "",
        context=tuple(map(masked, answer.context)),
        context_sources=document_names(answer.context_sources, folder),
        context_scores=answer.context_scores,
        actual_duration=answer.duration_s,
        first_token_s=answer.first_token_s,
        served_model=safe_identifier(answer.served_model),
        request_id=safe_identifier(answer.request_id),
        finish_reason=safe_identifier(answer.finish_reason),
        traceparent=answer.traceparent if any(trace_and_span(answer.traceparent)) else "",
        spans=answer.spans,
        session=safe_identifier(answer.session),
        state=_recorded_text(_state_texts(answer)[0]),
        state_before=_recorded_text(_state_texts(answer)[1]),
        cost=answer.cost_usd,
        usage=masked_counts(answer.usage),
        retries=answer.retries,
        error=masked(answer.error),
        tool_calls=tuple(map(_recorded_call, answer.tool_calls)),
        steps=tuple(map(_recorded_step, answer.steps)),
        stored=iso_time(answer.stored_at) if answer.stored_at is not None else "",
        turns=tuple(
            schema.RecordedTurn(
                prompt=masked(exchange.prompt),
                answer=recorded_answer(exchange.answer, folder),
                attachments=recorded_attachments(exchange.attachments),
            )
            for exchange in answer.turns
        ),
        ended_by=answer.ended_by,
        closing_messages=tuple(map(masked, answer.closing_messages)),
    )


def recorded_attachments(attachments: Iterable[Attachment]) -> tuple[schema.RecordedAttachment, ...]:
    """Return images and files as a record holds them: without their bytes and their folder."""
    return tuple(
        schema.RecordedAttachment(
            name=safe_identifier(each.name), media_type=each.media_type, size=each.size, sha256=each.sha256
        )
        for each in attachments
    )


def attachment_of_record(entry: schema.RecordedAttachment) -> Attachment:
    """Return an image or file of a record, whose bytes are not available."""
    return Attachment(name=entry.name, media_type=entry.media_type, size=entry.size, sha256=entry.sha256)


def answer_of_record(row: schema.RecordedAnswer) -> Answer:
    """Return the answer in a record, which is masked."""
    return Answer(
        text=row.actual_output,
        thoughts=row.thoughts,
        context=row.context,
        context_sources=row.context_sources,
        context_scores=row.context_scores,
        duration_s=row.actual_duration,
        first_token_s=row.first_token_s,
        served_model=row.served_model,
        request_id=row.request_id,
        finish_reason=reason_in(row.finish_reason, row.usage),
        traceparent=row.traceparent,
        spans=row.spans,
        session=row.session,
        state=_state(row),
        cost_usd=row.cost,
        usage=row.usage,
        retries=row.retries,
        tool_calls=row.tool_calls,
        steps=row.steps,
        error=row.error,
        turns=tuple(
            Exchange(
                prompt=turn.prompt,
                answer=answer_of_record(turn.answer),
                attachments=tuple(map(attachment_of_record, turn.attachments)),
            )
            for turn in row.turns
        ),
        ended_by=row.ended_by,
        closing_messages=row.closing_messages,
    )


_PLAIN = frozenset({int, float, bool, type(None)})


def _recorded_call(call: ToolCall) -> ToolCall:
    name, result = safe_identifier(call.name), _recorded_text(call.result)
    is_unchanged = (
        name == call.name
        and result == call.result
        and call.arguments.__class__ is dict
        and not (call.id or call.error or call.agent or call.arguments_text)
    )
    arguments: dict[str, Any] = {}
    # Nearly all arguments are texts; a call of `masked_texts` for each takes longer than masking them.
    for key, value in call.arguments.items():
        if masked_key(key) != key:
            arguments = masked_items(call.arguments, masked_texts)
            is_unchanged = False
            break
        if value.__class__ is str:
            arguments[key] = text = masked(value)
            is_unchanged = is_unchanged and text == value
        elif value.__class__ in _PLAIN:
            arguments[key] = value
        else:
            arguments[key] = masked_texts(value)
            is_unchanged = False
    if is_unchanged:
        return call  # as nearly all calls are; a copy of each takes a third of the time
    return ToolCall(
        name=name,
        arguments=arguments,
        arguments_text=call.arguments_text and masked(call.arguments_text),
        id=call.id and safe_identifier(call.id),
        result=result,
        error=call.error and masked(call.error),
        agent=call.agent and safe_identifier(call.agent),
        started_s=call.started_s,
        duration_s=call.duration_s,
    )


def _recorded_step(step: Step) -> Step:
    return Step(
        kind=step.kind,
        name=safe_identifier(step.name),
        agent=safe_identifier(step.agent),
        id=safe_identifier(step.id),
        parent=safe_identifier(step.parent),
        text=_recorded_text(step.text) or "",
        output=_recorded_text(step.output) or "",
        documents=step.documents,
        call=step.call,
        started_s=step.started_s,
        duration_s=step.duration_s,
        usage=masked_counts(step.usage),
        cost_usd=step.cost_usd,
        error=masked(step.error),
    )


def _recorded_text(text: str | None) -> str | None:
    """Return a long text of a tool or application as a record holds it: cut and masked."""
    if text is None:
        return None
    if len(text) > _MAX_RESULT_CHARS:
        # A part of a secret is not recognised as one, so the text is masked beyond the cut first.
        shown = masked(text[: _MAX_RESULT_CHARS + _MAX_SECRET_CHARS])[:_MAX_RESULT_CHARS]
        return f"{shown}… ({len(text):,} characters)"
    return masked(text)


def _state(row: Row | AnsweredTurn | schema.RecordedAnswer) -> ApplicationState | None:
    return None if row.state is None else ApplicationState(after=row.state, before=row.state_before)


def _state_texts(answer: Answer) -> tuple[str | None, str | None]:
    return (None, None) if answer.state is None else (answer.state.after, answer.state.before)
