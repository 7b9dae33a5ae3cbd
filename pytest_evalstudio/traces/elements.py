"""Limits on the number of elements of a request or file, checked before objects are made of them.

A few bytes of JSON or protobuf become an object of a hundred bytes and more, so that a limit of bytes alone
bounds no memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

MAX_ELEMENTS = 1_000_000
"""Maximum number of values of one request: 8,000 spans with 30 attributes each have 700,000."""
MAX_FILE_ELEMENTS = 2_000_000
"""Maximum number of values of one JSON value of a file."""
MAX_DEPTH = 100
"""Nesting from which on protobuf itself refuses a message."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)

Message: TypeAlias = "Mapping[int, Message]"
"""Fields of a protobuf message that are messages themselves, by their numbers."""
_KEY_VALUE: dict[int, Message] = {}
_ANY_VALUE: Message = {5: {1: {}}, 6: {1: _KEY_VALUE}}
_KEY_VALUE[2] = _ANY_VALUE
_ANY_VALUE[5][1] = _ANY_VALUE  # type: ignore[index]
_SPAN: Message = {9: _KEY_VALUE, 11: {3: _KEY_VALUE}, 13: {4: _KEY_VALUE}, 15: {}}
_LOG: Message = {5: _ANY_VALUE, 6: _KEY_VALUE}
REQUESTS: Mapping[str, Message] = {
    "traces": {1: {1: {1: _KEY_VALUE}, 2: {1: {3: _KEY_VALUE}, 2: _SPAN}}},
    "logs": {1: {1: {1: _KEY_VALUE}, 2: {1: {3: _KEY_VALUE}, 2: _LOG}}},
}


def check_json(text: bytes, limit: int) -> None:
    """Refuse JSON with too many values.

    Raises:
        ValueError: if it has more values than the limit.
    """
    # Each sign takes a byte, so that short texts need no count.
    if len(text) > limit and _signs(text) > limit and _signs(_STRING.sub(b"", text)) > limit:
        raise ValueError(f"has more than {limit:,} values; send or write smaller batches")


def _signs(text: bytes) -> int:
    """Return the number of commas and opening brackets, at least that of values without the first."""
    return text.count(b",") + text.count(b"{") + text.count(b"[")


def check_protobuf(signal: str, body: bytes, limit: int) -> None:
    """Refuse a request in protobuf with too many messages.

    What is malformed is left to the parser.

    Args:
        signal: "traces" or "logs".

    Raises:
        ValueError: if it has more messages than the limit.
    """
    count = 0
    # A stack of iterators, whose size is the depth: a list of messages would be what is to be prevented.
    stack = [(REQUESTS[signal], _parts(body, 0, len(body)))]
    while stack:
        fields, parts = stack[-1]
        part = next(parts, None)
        if part is None:
            stack.pop()
            continue
        count += 1
        if count > limit:
            raise ValueError(f"has more than {limit:,} values; send smaller batches")
        number, start, end = part
        if (message := fields.get(number)) and end > start and len(stack) < MAX_DEPTH:
            stack.append((message, _parts(body, start, end)))


def _parts(body: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each field of a message; stop at what is malformed."""
    while at < end:
        tag, at = _varint(body, at, end)
        kind = tag & 7
        start = at
        if kind == 0:
            _, at = _varint(body, at, end)
        elif kind == 1:
            at += 8
        elif kind == 5:
            at += 4
        elif kind == 2:
            size, start = _varint(body, at, end)
            at = start + size
        else:
            return
        if at > end:
            return
        yield tag >> 3, start, at


def _varint(body: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number and the position behind it; a broken one ends behind the message."""
    value = shift = 0
    while at < end and shift < 70:
        byte = body[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    return 0, end + 1
