"""Rows of JSON files: each is parsed once, located, and kept as bytes until it is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed does not name it
from typing import Any, overload

import msgspec

_BLANKS = re.compile(r"[ \t\r\n]*")
_HOLDERS = ((), ("dataset",), ("raw_dataset",))
"""Paths of the objects that have rows as their `inputs`."""
ROWS = "inputs"


class PackedRows(Sequence[object]):
    """Rows as MessagePack, in a quarter of the memory that their objects take.

    Attributes:
        lines: line of each row in the text, from 1.
    """

    def __init__(self) -> None:
        self.lines: list[int] = []
        self._rows: list[object] = []

    def append(self, row: object, line: int) -> None:
        """Add a row; one that MessagePack cannot hold is kept as it is."""
        self.lines.append(line)
        try:
            self._rows.append(msgspec.msgpack.encode(row))
        except (ValueError, OverflowError, RecursionError):  # half a surrogate pair, or a large integer
            self._rows.append(row)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> object: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[object]: ...

    def __getitem__(self, index: int | slice) -> object:
        return (
            [*map(_unpacked, self._rows[index])] if isinstance(index, slice) else _unpacked(self._rows[index])
        )

    def __iter__(self) -> Iterator[object]:
        return map(_unpacked, self._rows)

    def drained(self) -> Iterator[object]:
        """Yield the rows and forget each, so that its memory serves what is made of it; nothing is left."""
        # Reversed, since only the last element of a list is removed in constant time.
        rows = self._rows[::-1]
        del self._rows
        while rows:
            yield _unpacked(rows.pop())


def _unpacked(row: object) -> object:
    return msgspec.msgpack.decode(row) if isinstance(row, bytes) else row


def parse_rows(text: str, decoder: json.JSONDecoder) -> object:
    """Parse the text of a lab or data set; its rows become `PackedRows`.

    Args:
        text: of the whole file.
        decoder: of all values but the objects that hold rows.

    Raises:
        ValueError: for any fault of these objects; a parser of the whole text names it.
    """
    reader = _Reader(text, decoder)
    root, index = reader.value(reader.skip(0), ())
    if index != len(text):
        raise ValueError("data follow the value")
    return root


class _Reader:
    def __init__(self, text: str, decoder: json.JSONDecoder) -> None:
        self._text = text
        self._decoder = decoder

    def value(self, index: int, path: tuple[str, ...]) -> tuple[object, int]:
        """Return the value at an index, and the index of what follows it and blanks."""
        mark = self._text[index : index + 1]
        value: Any
        if mark == "{" and path in _HOLDERS:
            value, index = self._members(index + 1, path)
        elif mark == "[" and path[-1:] == (ROWS,) and path[:-1] in _HOLDERS:
            value, index = self._rows(index + 1)
        else:
            value, index = self._decoder.raw_decode(self._text, index)
        return value, self.skip(index)

    def _members(self, index: int, path: tuple[str, ...]) -> tuple[dict[str, object], int]:
        members: dict[str, object] = {}
        index = self.skip(index)
        while self._text[index : index + 1] == '"':
            name, index = scanstring(self._text, index + 1, True)
            if name in members:
                raise ValueError("a name is duplicated")
            index = self._after(":", self.skip(index))
            members[name], index = self.value(index, (*path, name))
            if self._text[index : index + 1] == "}":
                return members, index + 1
            index = self._after(",", index)
        # A comma came before, so that a closing brace is a fault here, and not the end of an empty object.
        if members:
            raise ValueError("a name is missing")
        return members, self._after("}", index, blanks=False)

    def _rows(self, index: int) -> tuple[PackedRows, int]:
        rows = PackedRows()
        index = self.skip(index)
        if self._text[index : index + 1] == "]":
            return rows, index + 1
        line, last = 1, 0
        while True:
            # Counted from the row before, so that the time stays linear.
            line += self._text.count("\n", last, index)
            last = index
            row, index = self._decoder.raw_decode(self._text, index)
            rows.append(row, line)
            index = self.skip(index)
            if self._text[index : index + 1] == "]":
                return rows, index + 1
            index = self._after(",", index)

    def _after(self, mark: str, index: int, *, blanks: bool = True) -> int:
        if self._text[index : index + 1] != mark:
            raise ValueError(f"{mark!r} is missing")
        return self.skip(index + 1) if blanks else index + 1

    def skip(self, index: int) -> int:
        """Return the index after blanks."""
        match = _BLANKS.match(self._text, index)
        assert match is not None  # it matches nothing, too
        return match.end()
