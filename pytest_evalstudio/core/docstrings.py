"""Summary of a class or function: the first paragraph of its docstring."""

from __future__ import annotations


def summary_of(documented: object) -> str:
    """Return the first paragraph of a docstring on one line, "" where it has none.

    >>> summary_of(dict)[:17]
    'dict() -> new emp'
    """
    return " ".join((documented.__doc__ or "").strip().partition("\n\n")[0].split())
