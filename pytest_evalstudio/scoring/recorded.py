"""Values as records hold them: personal data and secrets masked, as the fields of their types declare it."""

from __future__ import annotations

import enum
import functools
import operator
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct, structs

from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.tracing import trace_and_span
from pytest_evalstudio.scoring.identifiers import document_names, safe_identifier
from pytest_evalstudio.scoring.masking import masked, masked_items, masked_key, masked_texts

S = TypeVar("S", bound=Struct)
Mask = Callable[[str], str]
"""Returns what a record holds of a text that is not empty."""
Recorder = Callable[[Any, str], Any]
"""Returns what a record holds of a value, the value itself where nothing changes; takes the case's folder."""

_MAX_CHARS = 20_000
"""Length of a text that is `Kept.LONG`."""
_MAX_SECRET_CHARS = 10_000
"""Longer than any secret that is masked: private keys have up to 6,500 characters."""
_NUMBERS = frozenset({int, float, bool, type(None)})
_KEPT = object()
"""In place of the default of a field that a record has."""


def recorded(value: S, folder: str = "") -> S:
    """Return a value as a record holds it; the value itself where nothing changes.

    Args:
        folder: of the case; names of documents below it start there.
    """
    changes = recorded_changes(value, folder)
    return structs.replace(value, **changes) if changes else value


def recorded_fields(value: Struct, cls: type[Struct], folder: str = "") -> dict[str, Any]:
    """Return the fields that a value has of one of its types as a record holds them, by name."""
    fields = zip(cls.__struct_fields__, _plan(cls).values(value), strict=True)
    return {**dict(fields), **recorded_changes(value, folder, cls)}


def recorded_changes(value: Struct, folder: str = "", cls: type[Struct] | None = None) -> dict[str, Any]:
    """Return the fields of a value that a record holds otherwise, by name."""
    return _changes(_plan(cls or value.__class__), value, folder)


def _changes(plan: _Plan, value: Struct, folder: str) -> dict[str, Any]:
    changes = {}
    for (name, mask, record, default), before in zip(plan.changing, plan.changing_values(value), strict=True):
        if mask is not None:
            # Most fields have their default, which is empty. Another one is left out of a record only as the
            # same object, so that an equal text of a file would be there in one process and not in another.
            if before and before is not default:
                after = mask(before)
                if after == default:
                    changes[name] = default
                elif after != before:
                    changes[name] = after
        elif record is None:
            if before != default:
                changes[name] = default
        elif (before or before.__class__ is MappingProxyType) and (
            after := record(before, folder)
        ) is not before:
            changes[name] = after
    return changes


class _Plan(NamedTuple):
    """Fields of a type, in their order.

    Attributes:
        changing: those that a record may hold otherwise: name; mask of a text; recorder of another value,
            None where it is not kept; and default, of a text and of what is not kept.
        changing_values: returns their values, all by one call, since an answer can have hundreds of steps.
        values: returns the values of all fields.
    """

    changing: tuple[tuple[str, Mask | None, Recorder | None, Any], ...]
    changing_values: Callable[[Struct], tuple[Any, ...]]
    values: Callable[[Struct], tuple[Any, ...]]


@functools.cache
def _plan(cls: type[Struct]) -> _Plan:
    hints = typing.get_type_hints(cls, include_extras=True)
    fields: list[tuple[str, Mask | None, Recorder | None, Any]] = []
    for field in structs.fields(cls):
        marks, base = _declaration(hints[field.name])
        mask = record = None
        default: Any = _KEPT
        if Kept.NOT in marks:
            default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        elif base is str:
            mask = _mask(marks)
            default = _KEPT if mask is None else field.default
        else:
            record = _recorder(marks, base)
        if mask is not None or record is not None or default is not _KEPT:
            fields.append((field.name, mask, record, default))
    return _Plan(tuple(fields), _values([name for name, *_ in fields]), _values(cls.__struct_fields__))


def _values(names: Sequence[str]) -> Callable[[Struct], tuple[Any, ...]]:
    """Return a function that returns the values of some fields."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    # Of one name, attrgetter returns the value alone.
    return lambda value: tuple(getattr(value, name) for name in names)


def _declaration(hint: Any) -> tuple[tuple[Any, ...], Any]:
    """Return what a record keeps of a field, and its type, without None."""
    marks: Sequence[Any] = ()
    if typing.get_origin(hint) is typing.Annotated:
        hint, *marks = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (hint,) = (each for each in typing.get_args(hint) if each is not type(None))
    return tuple(marks), hint


def _mask(marks: tuple[Any, ...]) -> Mask | None:
    """Return the mask of a text by its declaration, None for one that stays as it is."""
    if Kept.PLAIN in marks:
        return None
    return next((_MASKS[mark] for mark in marks if mark in _MASKS), masked)


def _recorder(marks: tuple[Any, ...], base: Any) -> Recorder | None:
    """Return the recorder of a field that is no text, None for what stays as it is."""
    if Kept.PLAIN in marks:
        return _object if typing.get_origin(base) is Mapping else None
    return _documents if Kept.DOCUMENTS in marks else _of_type(base)


def _of_type(hint: Any) -> Recorder | None:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _NUMBERS or origin is Literal or (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        return None
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _recorder_of_struct(hint)
    if origin in (tuple, Sequence):
        marks, base = _declaration(arguments[0])
        if base is not str:
            return functools.partial(_each, _recorder(marks, base))
        mask = _mask(marks)
        return functools.partial(_each, None) if mask is None else functools.partial(_each_text, mask)
    if origin in (dict, Mapping) and arguments[1] in (int, float):
        return _with_masked_keys
    return _masked_data


def _recorder_of_struct(cls: type[Struct]) -> Recorder:
    """Return `recorded` for one type; an answer can have hundreds of steps, so its plan is looked up once."""
    plan: _Plan | None = None

    def record(value: Struct, folder: str) -> Struct:
        nonlocal plan
        if plan is None:  # not before the first value: types contain each other
            plan = _plan(cls)
        changes = _changes(plan, value, folder)
        return structs.replace(value, **changes) if changes else value

    return record


def _each(record: Recorder | None, values: Iterable[Any], folder: str) -> tuple[Any, ...]:
    before = values if isinstance(values, tuple) else tuple(values)
    if record is None:
        return before
    after = [record(value, folder) if value else value for value in before]
    for new, old in zip(after, before, strict=True):
        if new is not old:
            return tuple(after)
    return before


def _each_text(mask: Mask, values: Iterable[str], folder: str) -> tuple[str, ...]:
    before = values if isinstance(values, tuple) else tuple(values)
    after = tuple([mask(text) if text else text for text in before])
    return before if after == before else after


def _documents(names: tuple[str, ...], folder: str) -> tuple[str, ...]:
    relative = document_names(names, folder)
    return names if relative == names else relative


def _header(text: str) -> str:
    return text if any(trace_and_span(text)) else ""


def _long(text: str) -> str:
    if len(text) <= _MAX_CHARS:
        return masked(text)
    # A part of a secret is not recognised as one, so the text is masked beyond the cut first.
    shown = masked(text[: _MAX_CHARS + _MAX_SECRET_CHARS])[:_MAX_CHARS]
    return f"{shown}… ({len(text):,} characters)"


_MASKS: Mapping[Kept, Mask] = {Kept.ID: safe_identifier, Kept.LONG: _long, Kept.TRACE: _header}


def _object(values: Mapping[str, Any], folder: str) -> Mapping[str, Any]:
    return values if values.__class__ is dict else dict(values)


def _with_masked_keys(values: Mapping[str, float], folder: str) -> Mapping[str, float]:
    if values.__class__ is dict and all(masked_key(key) == key for key in values):
        return values
    return masked_items(values, _unchanged)


def _unchanged(value: float) -> float:
    return value


def _masked_data(value: Any, folder: str) -> Any:
    """Return JSON data with all texts masked; the same object where all are, as nearly all are."""
    if value.__class__ is not dict:
        return masked_texts(value)
    data: dict[str, Any] = {}
    is_unchanged = True
    # Nearly all values are texts; a call of `masked_texts` for each takes longer than masking them.
    for key, item in value.items():
        if masked_key(key) != key:
            return masked_items(value, masked_texts)
        if item.__class__ is str:
            data[key] = text = masked(item)
            is_unchanged = is_unchanged and text == item
        elif item.__class__ in _NUMBERS:
            data[key] = item
        else:
            data[key] = masked_texts(item)
            is_unchanged = False
    return value if is_unchanged else data
