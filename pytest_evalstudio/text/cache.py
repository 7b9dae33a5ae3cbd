"""Results for texts that several evaluators read, kept for about one batch of cases."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import Lock
from typing import Protocol, TypeVar, cast

MAX_CHARS = 4_000_000
"""Characters of the texts whose results are kept: a thousand cases with answers, contexts and references."""
ENTRY_CHARS = 200
"""Memory of an entry itself, in characters: short texts would fill it by their number."""

T = TypeVar("T")
R = TypeVar("R", covariant=True)


class TextFunction(Protocol[R]):
    """Function of a text that keeps results."""

    def __call__(self, text: str, /) -> R: ...

    def clear(self) -> None:
        """Forget all results, also those that another thread is computing."""


def cached_by_text(function: Callable[[str], T]) -> TextFunction[T]:
    """Return a function of a text that keeps its latest results, oldest first dropped.

    Unlike that of `functools.lru_cache`, its memory is bounded by the length of the texts, not by their
    number.

    Args:
        function: its results are never changed by those who read them.

    >>> lengths = cached_by_text(len)
    >>> lengths("abc"), lengths("abc")
    (3, 3)
    """
    results: dict[str, T] = {}
    lock = Lock()
    chars = clears = 0

    @functools.wraps(function)
    def cached(text: str) -> T:
        nonlocal chars
        try:
            return results[text]
        except KeyError:  # the common case is a hit, for which `in` would hash the text twice
            pass
        cleared = clears
        result = function(text)
        with lock:
            if text not in results and cleared == clears:
                results[text] = result
                chars += len(text) + ENTRY_CHARS
            while chars > MAX_CHARS:
                oldest = next(iter(results))
                del results[oldest]
                chars -= len(oldest) + ENTRY_CHARS
        return result

    def clear() -> None:
        nonlocal chars, clears
        with lock:
            results.clear()
            chars = 0
            clears += 1

    cached.clear = clear  # type: ignore[attr-defined]
    return cast(TextFunction[T], cached)
