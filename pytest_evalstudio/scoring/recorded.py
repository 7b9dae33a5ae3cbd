"""Values as records hold them: personal data and secrets masked, as the fields of their types declare it."""

from __future__ import annotations

import enum
import functools
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, structs

from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.tracing import trace_and_span
from pytest_evalstudio.scoring.identifiers import document_names, safe_identifier
from pytest_evalstudio.scoring.masking import masked, masked_items, masked_key, masked_texts

S = TypeVar("S", bound=Struct)
Recorder = Callable[[Any, str], Any]
"""Returns what a record holds of a value, the value itself where nothing changes; takes the case's folder."""

_MAX_CHARS = 20_000
"""Of a text that is `Kept.LONG`."""
_MAX_SECRET_CHARS = 10_000
"""Longer than any secret that is masked: private keys have up to 6,500 characters."""
_NUMBERS = frozenset({int, float, bool, type(None)})


def recorded(value: S, folder: str = "") -> S:
    """Return a value as a record holds it; the value itself where nothing changes.

    Args:
        folder: of the case; names of documents below it start there.
    """
    changes = recorded_changes(value, folder)
    return structs.replace(value, **changes) if changes else value


def recorded_fields(value: Struct, cls: type[Struct], folder: str = "") -> dict[str, Any]:
    """Return the fields that a value has of one of its types as a record holds them, by name."""
    fields = {name: getattr(value, name) for name in cls.__struct_fields__}
    return fields | recorded_changes(value, folder, cls)


def recorded_changes(value: Struct, folder: str = "", cls: type[Struct] | None = None) -> dict[str, Any]:
    """Return the fields of a value that a record holds otherwise, by name."""
    recorders, unrecorded = _plan(cls or type(value))
    changes = {}
    for name, record in recorders:
        before = getattr(value, name)
        # Most fields have their default, which is empty.
        if (before or before.__class__ is MappingProxyType) and (
            after := record(before, folder)
        ) is not before:
            changes[name] = after
    return changes | {name: default for name, default in unrecorded if getattr(value, name) != default}


@functools.cache
def _plan(cls: type[Struct]) -> tuple[tuple[tuple[str, Recorder], ...], tuple[tuple[str, Any], ...]]:
    """Return the recorders of a type's fields, and the fields that no record has with their defaults."""
    hints = typing.get_type_hints(cls, include_extras=True)
    unrecorded = {
        field.name: field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
        for field in structs.fields(cls)
        if Kept.NOT in _marks(hints[field.name])
    }
    recorders = ((name, _recorder(hint)) for name, hint in hints.items() if name not in unrecorded)
    return tuple((name, each) for name, each in recorders if each is not None), tuple(unrecorded.items())


def _marks(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint)[1:] if typing.get_origin(hint) is typing.Annotated else ()


def _recorder(hint: Any) -> Recorder | None:
    """Return the recorder of a field by its declaration, else by its type; None for what stays as it is."""
    marks, base = _marks(hint), typing.get_args(hint)[0] if _marks(hint) else hint
    if Kept.PLAIN in marks:
        return _object if typing.get_origin(base) is Mapping else None
    declared = next((_DECLARED[mark] for mark in marks if mark in _DECLARED), None)
    if Kept.DOCUMENTS in marks:
        return _documents
    return _of_type(base, declared or _masked)


def _of_type(hint: Any, text: Recorder) -> Recorder | None:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        (hint,) = (each for each in arguments if each is not type(None))
        return _of_type(hint, text)
    if hint is str:
        return text
    if hint in _NUMBERS or origin is Literal or (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        return None
    if isinstance(hint, type) and issubclass(hint, Struct):
        return recorded
    if origin in (tuple, Sequence):
        return functools.partial(_each, _recorder(arguments[0]))
    if origin in (dict, Mapping) and arguments[1] in (int, float):
        return _with_masked_keys
    return _masked_data


def _each(record: Recorder | None, values: Iterable[Any], folder: str) -> tuple[Any, ...]:
    before = values if isinstance(values, tuple) else tuple(values)
    if record is None:
        return before
    after = tuple(record(value, folder) if value else value for value in before)
    return before if all(new is old for new, old in zip(after, before, strict=True)) else after


def _masked(text: str, folder: str) -> str:
    return _same(text, masked(text))


def _identifier(text: str, folder: str) -> str:
    return _same(text, safe_identifier(text))


def _same(text: str, shown: str) -> str:
    """Return the text itself where both are equal: a text that was masked before comes from a cache."""
    return text if shown == text else shown


def _documents(names: tuple[str, ...], folder: str) -> tuple[str, ...]:
    relative = document_names(names, folder)
    return names if relative == names else relative


def _header(text: str, folder: str) -> str:
    return text if any(trace_and_span(text)) else ""


def _long(text: str, folder: str) -> str:
    if len(text) <= _MAX_CHARS:
        return _same(text, masked(text))
    # A part of a secret is not recognised as one, so the text is masked beyond the cut first.
    shown = masked(text[: _MAX_CHARS + _MAX_SECRET_CHARS])[:_MAX_CHARS]
    return f"{shown}… ({len(text):,} characters)"


_DECLARED: Mapping[Kept, Recorder] = {Kept.ID: _identifier, Kept.LONG: _long, Kept.TRACE: _header}


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
