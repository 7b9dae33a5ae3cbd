"""Rows of one conversation as a row with turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryFile
from typing import Any

from pytest_evalstudio.formats.conversations import MAX_TURNS_LIMIT, AnsweredTurn
from pytest_evalstudio.formats.imported.records import Fields, Omissions
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
        # A tool that ran within the trace has its result there: then the turn is whole.
        and all(step["kind"] != "tool" for step in turn["steps"])
    )


_MIN_QUOTED_CHARS = 20
"""Length from which on an answer within a question is no coincidence."""


def _without_agents(turns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return turns with those of several agents of one request as one."""
    kept: list[Mapping[str, Any]] = []
    for turn in turns:
        if kept and _is_of_request(kept[-1], turn):
            kept[-1] = _joined(kept[-1], turn)
        else:
            kept.append(turn)
    return kept


def _is_of_request(turn: Mapping[str, Any], following: Mapping[str, Any]) -> bool:
    """Return whether the next agent of a trace got the question or the answer of the one before it."""
    if _trace_id(turn) != _trace_id(following):
        return False
    question, answer = following["input"].strip(), turn["actual_output"].strip()
    is_quoted = len(answer) >= _MIN_QUOTED_CHARS and answer in question
    has_history = any(message["role"] == "user" for message in following["conversation"])
    return question in (turn["input"].strip(), answer) or (is_quoted and not has_history)


def _trace_id(turn: Mapping[str, Any]) -> str:
    # W3C Trace Context: two digits of the version, a hyphen, and the 32 digits of the trace.
    return str(turn["traceparent"][3:35] or turn["key"])


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return two turns as one, with the question of the first and the answer of the second one."""
    costs = (first["cost"], second["cost"])
    joined = {
        **second,
        "key": first["key"],
        "input": first["input"],
        "conversation": first["conversation"],
        "usage": {
            kind: first["usage"].get(kind, 0) + second["usage"].get(kind, 0)
            for kind in {**first["usage"], **second["usage"]}
        },
        "cost": None if None in costs else sum(costs),
        "actual_duration": first["actual_duration"] + second["actual_duration"],
        "context": [*first["context"], *second["context"]],
        "tool_calls": [*first["tool_calls"], *second["tool_calls"]],
        "steps": [
            *first["steps"],
            *(
                _moved(step, calls=len(first["tool_calls"]), chunks=len(first["context"]))
                for step in second["steps"]
            ),
        ],
    }
    for name in ("context_sources", "context_scores"):
        values = [*first.get(name, ()), *second.get(name, ())]
        joined.pop(name, None)
        # Sources and scores belong to chunks by their position: all of them, or none.
        if values and len(values) == len(joined["context"]):
            joined[name] = values
    return joined


def _moved(step: Mapping[str, Any], *, calls: int, chunks: int) -> Mapping[str, Any]:
    """Return a step whose call and chunks stand behind those of the turn before it."""
    moved = dict(step)
    if step.get("call") is not None:
        moved["call"] = step["call"] + calls
    if step.get("documents"):
        moved["documents"] = [index + chunks for index in step["documents"]]
    return moved


def conversation_of(turns: Sequence[Mapping[str, Any]]) -> Fields:
    """Return the row of a conversation, whose calls, tokens, seconds and cost are those of all turns."""
    turns = _without_agents(_without_requests(turns))
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
