"""Read-only sequences that are kept as bytes until they are read."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, cast, overload

import msgspec

T = TypeVar("T")


class Packed(Sequence[T], Generic[T]):
    """Sequence of structs, kept as MessagePack in a fraction of the memory.

    Each access decodes the whole sequence: take `tuple(packed)` to read it more than once.

    Args:
        values: structs of one type, with data that JSON can hold.
        type: of the structs.

    Raises:
        ValueError: if a value cannot be packed.

    >>> from pytest_evalstudio.core.tool_calls import ToolCall
    >>> calls = Packed([ToolCall(name="search")], ToolCall)
    >>> len(calls), calls[0].name
    (1, 'search')
    """

    __slots__ = ("_count", "_data", "_type")

    def __init__(self, values: Sequence[T], type: type[T]) -> None:
        try:
            self._data = msgspec.msgpack.encode(values)
        except (TypeError, ValueError, OverflowError, RecursionError) as exc:
            raise ValueError(f"cannot be packed: {exc}") from None
        self._count = len(values)
        self._type = type

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._values()[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._values() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, memo: dict[int, Any]) -> Packed[T]:
        return self

    def __repr__(self) -> str:
        return repr(self._values())

    def _values(self) -> list[T]:
        values: list[T] = _decoder(cast(Any, self._type)).decode(self._data)
        return values


@functools.cache
def _decoder(type: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(list[type])


def packed(values: Sequence[T], type: type[T]) -> Sequence[T]:
    """Return values packed where that is possible; few and unusual ones stay as they are."""
    if len(values) < MIN_PACKED:
        return values
    try:
        return Packed(values, type)
    except ValueError:  # data of others that do not fit the types
        return values


MIN_PACKED = 4
"""Fewer values are not worth their decoding."""


def constant(values: Sequence[T]) -> tuple[T, ...]:
    """Return values as a sequence that does not change; packed ones stay packed.

    A packed one is declared as the tuple that it stands for, which types of answers have.
    """
    return cast(tuple[T, ...], values) if isinstance(values, Packed) else tuple(values)


def unpacked(values: Sequence[T]) -> tuple[T, ...]:
    """Return values as a sequence that is quick to read."""
    return tuple(values)
