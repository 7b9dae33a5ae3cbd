"""Answers in the rows of labs and of records: one function for each direction."""

from __future__ import annotations

import operator
import os
from typing import Any

from msgspec import structs

from pytest_evalstudio.asking.dialogues import joined_answer
from pytest_evalstudio.core.cases import Answer, Exchange
from pytest_evalstudio.core.states import ApplicationState
from pytest_evalstudio.formats.attachments import attachments_of, recorded
from pytest_evalstudio.formats.conversations import AnsweredTurn
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.packed import Packed, constant
from pytest_evalstudio.formats.shared_keys import AnswerKeys


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
        return structs.replace(answer, closing_messages=closing) if closing else answer
    joined = joined_answer(turns, ended_by=row.ended_by)
    return structs.replace(
        joined, text="" if error else joined.text, error=error or joined.error, closing_messages=closing
    )


_KEYS = {
    field.name: field.encode_name
    for field in structs.fields(Answer)
    if field.encode_name in AnswerKeys.model_fields and field.name != "state"
}
"""Fields of an answer and the keys of a row that hold them; a state is one field and two keys."""
_LISTS = (list, Packed)
_VALUES = operator.attrgetter(*_KEYS.values())


def _answer_in(row: AnswerKeys, error: str) -> Answer:
    fields = dict(zip(_KEYS, _VALUES(row), strict=True))
    fields |= {name: constant(value) for name, value in fields.items() if value.__class__ in _LISTS}
    fields |= {"text": "" if error else row.actual_output, "error": error, "state": _state(row)}
    return Answer(**fields)


def _cells(answer: Answer, prefix: str) -> dict[str, Any]:
    """Return an answer in the keys of a row."""
    cells = {key: getattr(answer, name) for name, key in _KEYS.items()}
    cells |= {key: list(value) for key, value in cells.items() if isinstance(value, tuple | Packed)}
    state = answer.state
    return cells | {
        "context_sources": [uri.removeprefix(prefix) for uri in answer.context_sources],
        "actual_duration": round(answer.duration_s, 6),
        "usage": dict(answer.usage),
        "state": None if state is None else state.after,
        "state_before": None if state is None else state.before,
    }


def complete_row(row: Row, answer: Answer, folder: str) -> None:
    """Put an answer into its row; sources below the folder are named from there."""
    prefix = folder.rstrip(os.sep) + os.sep
    for key, value in _cells(answer, prefix).items():
        setattr(row, key, value)
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
    changes = _cells(exchange.answer, prefix)
    if exchange.attachments:
        changes["images"] = recorded(exchange.attachments, is_image=True)
        changes["files"] = recorded(exchange.attachments, is_image=False)
    turn = planned if planned is not None else AnsweredTurn(prompt=exchange.prompt)
    return turn.model_copy(update=changes)


def _state(row: AnswerKeys) -> ApplicationState | None:
    return None if row.state is None else ApplicationState(after=row.state, before=row.state_before)
