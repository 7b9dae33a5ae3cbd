"""Answers in the rows of labs and of records: one function for each direction."""

from __future__ import annotations

import os

import msgspec

from pytest_evalstudio.core.cases import NOTHING, Answer
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.engine.scoring.identifiers import safe_identifier
from pytest_evalstudio.engine.scoring.masking import masked, masked_texts
from pytest_evalstudio.engine.scoring.record_texts import document_names, iso_time
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.record import schema

_MAX_RESULT_CHARS = 20_000
"""Longer results are cut in records: a report shows them, and evaluators have seen them whole."""


def answer_of_row(row: Row, *, error: str) -> Answer:
    """Return the answer in a row of a lab.

    Args:
        error: reason for a missing answer; the text is then empty.
    """
    return Answer(
        text="" if error else row.actual_output,
        context=tuple(row.context),
        context_sources=tuple(row.context_sources),
        context_scores=tuple(row.context_scores),
        duration_s=row.actual_duration,
        first_token_s=row.first_token_s,
        served_model=row.served_model,
        request_id=row.request_id,
        cost_usd=row.cost,
        usage=row.usage or NOTHING,
        tool_calls=tuple(row.tool_calls),
        error=error,
    )


def complete_row(row: Row, answer: Answer, folder: str) -> None:
    """Put an answer into its row; sources below the folder are named from there."""
    prefix = folder.rstrip(os.sep) + os.sep
    row.actual_output = answer.text
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
    row.tool_calls = list(answer.tool_calls)
    details = {"retries": answer.retries, "artifacts": list(answer.artifacts)}
    assert row.model_extra is not None  # unknown keys are kept
    row.model_extra.update({name: value for name, value in details.items() if value})


def recorded_answer(answer: Answer, folder: str) -> schema.RecordedAnswer:
    """Return an answer as a record holds it, with personal data and secrets masked.

    Args:
        folder: documents below it are named from there.
    """
    return schema.RecordedAnswer(
        actual_output=masked(answer.text),
        context=tuple(map(masked, answer.context)),
        context_sources=document_names(answer.context_sources, folder),
        context_scores=answer.context_scores,
        actual_duration=answer.duration_s,
        first_token_s=answer.first_token_s,
        served_model=safe_identifier(answer.served_model),
        request_id=safe_identifier(answer.request_id),
        cost=answer.cost_usd,
        usage=dict(answer.usage),
        retries=answer.retries,
        error=masked(answer.error),
        tool_calls=tuple(map(_recorded_call, answer.tool_calls)),
        stored=iso_time(answer.stored_at) if answer.stored_at is not None else "",
    )


def answer_of_record(row: schema.RecordedAnswer) -> Answer:
    """Return the answer in a record, which is masked."""
    return Answer(
        text=row.actual_output,
        context=row.context,
        context_sources=row.context_sources,
        context_scores=row.context_scores,
        duration_s=row.actual_duration,
        first_token_s=row.first_token_s,
        served_model=row.served_model,
        request_id=row.request_id,
        cost_usd=row.cost,
        usage=row.usage,
        retries=row.retries,
        tool_calls=tuple(ToolCall(**msgspec.structs.asdict(call)) for call in row.tool_calls),
        error=row.error,
    )


def _recorded_call(call: ToolCall) -> schema.RecordedToolCall:
    result = call.result
    if result is not None and len(result) > _MAX_RESULT_CHARS:
        result = f"{result[:_MAX_RESULT_CHARS]}… ({len(result):,} characters)"
    return schema.RecordedToolCall(
        name=safe_identifier(call.name),
        arguments=masked_texts(call.arguments),
        arguments_text=masked(call.arguments_text),
        id=safe_identifier(call.id),
        result=None if result is None else masked(result),
        error=masked(call.error),
        agent=safe_identifier(call.agent),
        started_s=call.started_s,
        duration_s=call.duration_s,
    )
