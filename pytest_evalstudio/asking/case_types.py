"""Types of the fields of cases that Python code makes: a wrong one is a fault of that code, said at once."""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from pytest_evalstudio.core.cases import Answer, Case, Relationship, Turn
from pytest_evalstudio.core.json_data import json_data
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.formats.packed import Packed

_PARTS = (ExpectedToolCall, Relationship, Step, ToolCall, Turn)
_WORDS = {str: "a string", bool: "True or False", int: "a whole number", float: "a number"}


def case_fault(case: Case) -> str:
    """Return the first field of a case or of its answer that has another type than declared, "" for none.

    >>> case_fault(Case(key="k", question="Fee?", categories=("a", 3)))
    'categories[1]: expected a string, found 3'
    """
    return _fields_fault(case) or answer_fault(case.answer)


def answer_fault(answer: Answer) -> str:
    """Return the first field of an answer that has another type than declared, "" for none."""
    return _fields_fault(answer)


def _fields_fault(value: object, place: str = "") -> str:
    kind: Any = type(value)  # for the checker of types: classes are hashable
    for name, hint, default in _declared(kind):
        content = getattr(value, name)
        if content is not default and (fault := _fault(place + name, content, hint)):
            return fault
    return ""


@functools.cache
def _declared(kind: Any) -> tuple[tuple[str, Any, object], ...]:
    hints = get_type_hints(kind)
    declared = fields(kind) if is_dataclass(kind) else msgspec.structs.fields(kind)
    return tuple((field.name, hints[field.name], field.default) for field in declared)


def _fault(place: str, value: object, hint: Any) -> str:
    """Return the place of a value that has not the type of a hint, and the fact; "" for none."""
    kind, arguments = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        alternatives = [_fault(place, value, argument) for argument in arguments]
        return "" if "" in alternatives else alternatives[0]
    if isinstance(value, Packed):  # of a file
        return ""
    if hint is Any:
        return _json_fault(place, value)
    if kind is Literal:
        words = " or ".join(f'"{word}"' for word in arguments if word)
        return "" if value in arguments else f"{place}: expected {words}, found {_shown(value)}"
    if kind in (tuple, Sequence):
        return _items_fault(place, value, arguments[0])
    if kind is Mapping:
        if not isinstance(value, Mapping):
            return f"{place}: expected a mapping, found {_shown(value)}"
        faults = (
            _fault(f"{place}: key", key, arguments[0]) or _fault(f"{place}[{key!r}]", item, arguments[1])
            for key, item in value.items()
        )
        return next(filter(None, faults), "")
    if hint in (int, float):
        is_right = isinstance(value, (int, float) if hint is float else int) and not isinstance(value, bool)
        if is_right and isinstance(value, int) and abs(value) >= 2**63:
            return f"{place}: expected a number of at most 64 bits"
    else:
        is_right = isinstance(value, hint)
    expected = _WORDS.get(hint) or getattr(hint, "__name__", "None")
    if not is_right:
        return f"{place}: expected {expected}, found {_shown(value)}"
    return _fields_fault(value, f"{place}.") if hint in _PARTS else ""


def _json_fault(place: str, value: object) -> str:
    try:
        json_data(value)
    except ValueError as exc:
        return f"{place}{exc}"
    return ""


def _items_fault(place: str, value: object, hint: Any) -> str:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return f"{place}: expected a list, found {_shown(value)}"
    faults = (_fault(f"{place}[{index}]", item, hint) for index, item in enumerate(value))
    return next(filter(None, faults), "")


def _shown(value: object) -> str:
    """Describe a value by its type, a number or None by itself; a text may hold a secret."""
    return repr(value) if value is None or isinstance(value, int | float) else type(value).__name__
