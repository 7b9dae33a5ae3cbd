"""Declarations of what a service reports beside an answer, at the field of the answer."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from msgspec import Struct


class Reported(Struct, frozen=True, kw_only=True):
    """Fact that a service reports with an answer, e.g. `Annotated[str, Kept.ID, Reported(meaning="…")]`.

    The `http` host reads it from replies, and result files and the page show it, without code of its own.

    Attributes:
        meaning: sentence for the documentation of the host.
        label: its name on the page, which leaves out a value that is empty; "" where the page does not show
            it, or not as a fact.
        is_column: whether result files have a column for it.
        read: returns the value for a part of a reply.
    """

    meaning: str
    label: str = ""
    is_column: bool = False
    read: Callable[[object], Any] = str


@functools.cache
def reported_facts(cls: type) -> Mapping[str, Reported]:
    """Return the declarations of a class by the name of their field, in its order."""
    return {
        name: mark
        for name, hint in get_type_hints(cls, include_extras=True).items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Reported)
    }
