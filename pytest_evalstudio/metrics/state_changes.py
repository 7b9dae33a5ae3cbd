"""Comparison of the states of an application."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.json_pointers import value_at
from pytest_evalstudio.metrics.matching import ABSENT, matches
from pytest_evalstudio.text.folding import fold


def unmet_expectations(state: Any, expected: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the pointers whose values do not match, with the actual values.

    Args:
        state: JSON value.
        expected: pointer to value or matcher.

    Raises:
        EvaluationError: if a pattern takes longer than 2 s, or a schema is faulty.

    >>> unmet_expectations({"status": "open"}, {"/status": "closed"})
    [('/status', 'open')]
    """
    values = ((pointer, value_at(state, pointer, ABSENT), value) for pointer, value in expected.items())
    return [(pointer, actual) for pointer, actual, value in values if not matches(actual, value)]


def changed_pointers(before: Any, after: Any) -> list[str]:
    """Return the pointers at which two states differ, the outermost ones; elements of lists by their index.

    >>> changed_pointers({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3], "c": 0})
    ['/b/1', '/c']
    """
    return list(_changes(before, after))


def _changes(before: Any, after: Any) -> Iterator[str]:
    """Yield the differences; with a stack of its own, since states may be nested deeply."""
    waiting = [("", before, after)]
    while waiting:
        pointer, old, new = waiting.pop()
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            names = dict.fromkeys((*old, *new))
            inner = [(name, old.get(name, ABSENT), new.get(name, ABSENT)) for name in names]
        elif isinstance(old, list) and isinstance(new, list):
            longest = max(len(old), len(new))
            inner = [
                (str(i), old[i] if i < len(old) else ABSENT, new[i] if i < len(new) else ABSENT)
                for i in range(longest)
            ]
        else:
            if not _equal(old, new):
                yield pointer
            continue
        waiting += reversed([(f"{pointer}/{_escaped(name)}", one, other) for name, one, other in inner])


def _equal(one: Any, other: Any) -> bool:
    if one is ABSENT or other is ABSENT:
        return one is other
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def is_covered(pointer: str, expected: Mapping[str, Any]) -> bool:
    """Return whether a change at a pointer is the subject of an expectation, at it, above or below it.

    >>> is_covered("/card/status", {"/card": {"$any": True}}), is_covered("/card", {"/cards": 1})
    (True, False)
    """
    plain = fold(pointer)
    return any(
        plain == other or plain.startswith(f"{other}/") or other.startswith(f"{plain}/")
        for other in map(fold, expected)
    )


def parsed(state: str) -> Any:
    """Return a state from its text.

    Raises:
        ValueError: if it is not JSON, e.g. since a record has cut it.
    """
    return json.loads(state)
