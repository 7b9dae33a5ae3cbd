"""Calls are packed in memory, and read as if they were not."""

from __future__ import annotations

import copy
import json
import tracemalloc

import pytest

from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.packed import MIN_PACKED, Packed, constant, packed, unpacked

CALLS = [
    ToolCall(
        name="search", arguments={"page": page, "sort": None, "tags": ["a", {"b": 1.5}]}, result="é \x00"
    )
    for page in range(MIN_PACKED)
]


def test_a_packed_sequence_equals_its_values() -> None:
    sequence = packed(CALLS, ToolCall)
    assert isinstance(sequence, Packed)
    assert sequence == CALLS
    assert tuple(sequence) == unpacked(sequence) == tuple(CALLS)
    assert (len(sequence), sequence[-1], sequence[1:3]) == (len(CALLS), CALLS[-1], CALLS[1:3])
    assert sequence != CALLS[1:]
    assert copy.deepcopy(sequence) == constant(sequence) == sequence
    assert repr(sequence) == repr(CALLS)


@pytest.mark.parametrize(
    "value", ["half \ud83d a pair", 2**64, object()], ids=["surrogate", "large", "object"]
)
def test_what_cannot_be_packed_stays_as_it_is(value: object) -> None:
    calls = [*CALLS, ToolCall(name="search", arguments={"value": value})]
    assert packed(calls, ToolCall) is calls
    with pytest.raises(ValueError, match="cannot be packed"):
        Packed(calls, ToolCall)


def test_a_row_packs_its_calls_and_writes_them_as_it_read_them() -> None:
    calls = [{"name": "search", "arguments": {"page": page}} for page in range(9)]
    row = Row.model_validate({"tool_calls": calls, "expected_tool_calls": calls})
    assert isinstance(row.tool_calls, Packed)
    assert isinstance(row.expected_tool_calls, Packed)
    assert row.expected_tool_calls[8] == ExpectedToolCall(name="search", arguments={"page": 8})
    content = json.loads(json.dumps(row.to_dict()))
    assert (content["tool_calls"], content["expected_tool_calls"]) == (calls, calls)


def test_packed_calls_take_a_third_of_the_memory() -> None:
    def size(pack: bool) -> int:
        tracemalloc.start()
        calls = [
            ToolCall(name="search", arguments={"page": page, "query": f"fee {page}"}) for page in range(3_000)
        ]
        collection = Packed(calls, ToolCall) if pack else calls
        del calls
        byte_count = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(collection) == 3_000
        return byte_count

    assert size(pack=True) < size(pack=False) / 3
