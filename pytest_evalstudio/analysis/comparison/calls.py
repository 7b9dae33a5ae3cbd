"""Calls of an answer and those of its baseline, aligned step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from pytest_evalstudio.core.tool_calls import call_text
from pytest_evalstudio.record.outline import RowOutline
from pytest_evalstudio.record.schema import RecordRow
from pytest_evalstudio.text.unicode import valid_data

CALLS_KEPT = 200
"""Calls of an answer that are compared; more than that, nobody reads."""
CALL_CHARS = 300
_ARGUMENTS_CHARS = 2_000
"""Arguments beyond this are cut and stay JSON: a comparison keeps the calls of every item in memory."""
_END_OF_NAME, _END_OF_CALL = "\x1e", "\x1f"
"""Separators of packed calls; neither stands in JSON."""
ChangeKind = Literal["same", "changed", "gone", "new"]


class CallChange(NamedTuple):
    """A call in both runs, or in one of them.

    Attributes:
        kind: "changed" is a call of the same tool with other arguments, "gone" one of the baseline only.
        base, new: the calls as text; "" for none.
    """

    kind: ChangeKind
    base: str
    new: str


def packed_calls(row: RecordRow | RowOutline) -> str:
    """Return the calls of a row as one short string, for `unpacked_calls`; "" for none."""
    return _END_OF_CALL.join(
        f"{call.name}{_END_OF_NAME}{(call.arguments_text or _json(call.arguments))[:_ARGUMENTS_CHARS]}"
        for call in row.answer.tool_calls[:CALLS_KEPT]
    )


def _json(arguments: object) -> str:
    if isinstance(arguments, dict):
        return json.dumps(arguments, ensure_ascii=False)
    return bytes(arguments).decode("utf-8", "replace")  # type: ignore[call-overload, no-any-return]


def unpacked_calls(packed: str) -> tuple[str, ...]:
    """Return calls as people write them."""
    return tuple(map(_text, packed.split(_END_OF_CALL))) if packed else ()


def _text(call: str) -> str:
    name, _, text = call.partition(_END_OF_NAME)
    try:
        arguments = valid_data(json.loads(text))
    except (ValueError, RecursionError):
        arguments = None
    shown = call_text(name, arguments) if isinstance(arguments, dict) else call_text(name, {}, text)
    return shown if len(shown) <= CALL_CHARS else shown[: CALL_CHARS - 1] + "…"


def changed_tools(base: str, new: str) -> frozenset[tuple[ChangeKind, str]]:
    """Return the kind and the tool of each call that differs between packed calls."""
    aligned = align(unpacked_calls(base), unpacked_calls(new))
    return frozenset(
        (each.kind, (each.new or each.base).partition("(")[0]) for each in aligned if each.kind != "same"
    )


def align(base: Sequence[str], new: Sequence[str]) -> tuple[CallChange, ...]:
    """Return both sequences of calls as one, in their order.

    >>> [change.kind for change in align(["find(id=1)", "cancel(id=1)"], ["find(id=1)", "cancel(id=2)", "mail()"])]
    ['same', 'changed', 'new']
    """  # noqa: E501
    return tuple(_aligned(base, new))


def _aligned(base: Sequence[str], new: Sequence[str]) -> Iterator[CallChange]:
    # autojunk ignores frequent elements of sequences from 200 elements on, here repeated calls.
    for tag, start, end, new_start, new_end in SequenceMatcher(None, base, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (CallChange("same", call, call) for call in base[start:end])
        else:
            yield from _different(base[start:end], new[new_start:new_end])


def _different(base: Sequence[str], new: Sequence[str]) -> Iterator[CallChange]:
    """Yield calls of which none is the same: those of one tool are paired in their order."""
    names, new_names = ([call.partition("(")[0] for call in calls] for calls in (base, new))
    for tag, start, end, new_start, new_end in SequenceMatcher(
        None, names, new_names, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            pairs = zip(base[start:end], new[new_start:new_end], strict=True)
            yield from (CallChange("changed", *pair) for pair in pairs)
        else:
            yield from (CallChange("gone", call, "") for call in base[start:end])
            yield from (CallChange("new", "", call) for call in new[new_start:new_end])
