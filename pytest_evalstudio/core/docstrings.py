"""What a class says of itself: the first paragraph of its docstring."""

from __future__ import annotations


def summary_of(cls: type) -> str:
    """Return the first paragraph of a class's docstring on one line, "" where it has none.

    >>> summary_of(dict)[:17]
    'dict() -> new emp'
    """
    return " ".join((cls.__doc__ or "").strip().partition("\n\n")[0].split())
