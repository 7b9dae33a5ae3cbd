"""Rows of one conversation as a row with turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryFile
from typing import Any

from pytest_evalstudio.formats.conversations import MAX_TURNS_LIMIT, AnsweredTurn
from pytest_evalstudio.importers.common import Fields, Omissions
from pytest_evalstudio.traces.json_text import from_json, to_json
from pytest_evalstudio.traces.rows import TraceRow

_TURN_KEYS = AnsweredTurn.optional_keys | {"actual_output"}


def with_conversations(rows: Iterator[TraceRow], omissions: Omissions) -> Iterator[Fields]:
    """Yield the rows, and at their end those of each conversation as one; they wait in a temporary file."""
    positions: dict[str, list[tuple[float, int, int]]] = {}
    with TemporaryFile() as file:
        for row in rows:
            if not row.session:
                yield row.fields
                continue
            start = file.tell()
            length = file.write(to_json(row.fields))
            positions.setdefault(row.session, []).append((row.started_s, start, length))
        for places in positions.values():
            turns: list[dict[str, Any]] = []
            for _, start, length in sorted(places):
                file.seek(start)
                turns.append(from_json(file.read(length)))
            for _ in turns[MAX_TURNS_LIMIT:]:
                omissions.add(f"turn after the first {MAX_TURNS_LIMIT} of a conversation", "it is too long")
            yield conversation_of(turns[:MAX_TURNS_LIMIT])


def _without_requests(turns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return turns without those that the next one continues.

    An application whose requests to a model are traced one by one has a trace for each of them: with a call
    of a tool and without an answer, then with the same question, the call and its result.
    """
    kept: list[Mapping[str, Any]] = []
    for turn in turns:
        before = kept[-1] if kept else None
        if before is None or not _is_continued(before, turn):
            kept.append(turn)
            continue
        usage = {
            kind: before["usage"].get(kind, 0) + turn["usage"].get(kind, 0)
            for kind in {**before["usage"], **turn["usage"]}
        }
        costs = (before["cost"], turn["cost"])
        kept[-1] = {
            **turn,
            "key": before["key"],
            "usage": usage,
            "cost": None if None in costs else sum(costs),
            "actual_duration": before["actual_duration"] + turn["actual_duration"],
            "steps": [*map(_without_documents, before["steps"]), *turn["steps"]],
        }
    return kept


def _without_documents(step: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a step without the chunks of its own trace, which the row does not have."""
    return {key: value for key, value in step.items() if key != "documents"}


def _is_continued(turn: Mapping[str, Any], following: Mapping[str, Any]) -> bool:
    """Return whether the next turn repeats the question and the calls of one without an answer."""
    ids = {call.get("id") for call in following["tool_calls"]}
    return (
        not turn["actual_output"]
        and bool(turn["tool_calls"])
        and turn["input"] == following["input"]
        and all(call.get("id") in ids for call in turn["tool_calls"])
        and all(step["kind"] != "tool" for step in turn["steps"])
    )


def conversation_of(turns: Sequence[Mapping[str, Any]]) -> Fields:
    """Return the row of a conversation, whose calls, tokens, seconds and cost are those of all turns."""
    turns = _without_requests(turns)
    if len(turns) == 1:
        return turns[0]
    first, last = turns[0], turns[-1]
    usage: dict[str, int] = {}
    for turn in turns:
        for kind, number in turn["usage"].items():
            usage[kind] = usage.get(kind, 0) + number
    costs = [turn["cost"] for turn in turns]
    return {
        "key": first["key"],
        "model_key": last["model_key"],
        "conversation": first["conversation"],
        "actual_output": last["actual_output"],
        "actual_duration": float(sum(turn["actual_duration"] for turn in turns)),
        "cost": None if None in costs else float(sum(costs)),
        "usage": usage,
        "session": first["session"],
        "served_model": last["served_model"],
        "traceparent": last["traceparent"],
        "tool_calls": [call for turn in turns for call in turn["tool_calls"]],
        "turns": [
            {"prompt": turn["input"], **{key: value for key, value in turn.items() if key in _TURN_KEYS}}
            for turn in turns
        ],
    }
