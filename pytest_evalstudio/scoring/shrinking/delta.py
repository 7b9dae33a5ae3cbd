"""Delta debugging: the smallest part of some changes that still has an effect."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def ddmin(changes: Sequence[T]) -> Generator[tuple[T, ...], bool, tuple[T, ...]]:
    """Yield parts of some changes to be tested, and return a 1-minimal part.

    A part is 1-minimal if it has the effect, and loses it without any one of its changes. The caller sends
    whether each part has the effect. It takes at most k² + 3k tests for k changes, and about 2·log₂(k) where
    a single change has the effect. A part may be yielded more than once.

    Args:
        changes: all together have the effect, none of them has not.

    Source: Zeller and Hildebrandt, 2002 (IEEE Transactions on Software Engineering 28, 183–200), `ddmin`.

    >>> parts = ddmin("abcd")
    >>> part, tests = next(parts), 0
    >>> try:
    ...     while True:
    ...         part, tests = parts.send("c" in part), tests + 1
    ... except StopIteration as end:
    ...     print(end.value, tests + 1)
    ('c',) 3
    """
    current = tuple(changes)
    count = 2
    while len(current) > 1:
        parts = _parts(current, count)
        for part in parts:
            if (yield part):
                current, count = part, 2
                break
        else:
            # The complements of two parts are these parts.
            for index in range(len(parts)) if count > 2 else ():
                complement = tuple(
                    change for number, part in enumerate(parts) if number != index for change in part
                )
                if (yield complement):
                    current, count = complement, max(count - 1, 2)
                    break
            else:
                if count >= len(current):
                    break
                count = min(len(current), 2 * count)
    return current


def _parts(changes: tuple[T, ...], count: int) -> list[tuple[T, ...]]:
    """Return consecutive parts whose sizes differ by at most one."""
    bounds = [len(changes) * number // count for number in range(count + 1)]
    return [changes[start:end] for start, end in pairwise(bounds)]
