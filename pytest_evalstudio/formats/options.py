"""Validator of the options that a configuration, a case or a workflow gives to a plugin.

The fields of a plugin's dataclass declare its options; their annotations are checked by pydantic. A value
must have the declared type as TOML and JSON know it: a whole number is a number, a list is a tuple, and
nothing else is converted.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import (
    ConfigDict,
    PydanticSchemaGenerationError,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
)

from pytest_evalstudio.core.errors import ConfigurationError, nearest

T = TypeVar("T")

LONGEST_VALUE = 120
_SPOKEN: Mapping[Any, tuple[str, str]] = {
    float: ("a number", "numbers"),
    int: ("a whole number", "whole numbers"),
    str: ("a string", "strings"),
    bool: ("true or false", "values that are true or false"),
}
"""Name of each type in messages: singular, plural."""
_LISTS = (list, tuple, set, frozenset, Sequence, Collection, Iterable)
_TYPE_ERRORS = ("_type", "_parsing", "literal_error", "int_from_float", "is_instance_of", "_attributes_type")


class OptionError(ConfigurationError):
    """An option that a plugin does not have, or cannot take.

    Args:
        place: of the options, e.g. "evaluator rouge".
        key: name of the option, "" for all of them together.
        fact: the fact and the remedy.
    """

    def __init__(self, location: str, key: str, fact: str) -> None:
        at = ".".join(filter(None, (location, key)))
        super().__init__(f"{at}: {fact}" if at else fact)
        self.key = key
        self.fact = fact


def check_options(
    cls: type,
    options: Mapping[str, object],
    location: str,
    *,
    also: Collection[str] = (),
    from_text: Collection[str] = (),
) -> dict[str, object]:
    """Check names and values of options.

    Args:
        cls: dataclass whose fields are the options.
        also: further names that are allowed here; their values are left out.
        from_text: options with values from the environment, where text is converted to numbers.

    Returns:
        The options in the types that the fields declare.

    Raises:
        OptionError: for the first that is wrong.
    """
    adapters = _adapters(cls)
    checked: dict[str, Any] = {}
    for key, value in options.items():
        if key in adapters:
            checked[key] = _value(adapters[key], value, location, key, is_text=key in from_text)
        elif key not in also:
            names = [*adapters, *also]
            listed = f"Known options: {', '.join(names)}" if names else "It has none"
            raise OptionError(location, key, f"unknown option. {nearest(key, names) or listed}")
    return checked


def build(cls: type[T], options: Mapping[str, object], location: str) -> T:
    """Make an object of checked options.

    Raises:
        OptionError: if one must be given and is not, or the class refuses their values.
    """
    for item in dataclasses.fields(cls):  # type: ignore[arg-type]
        has_default = (
            item.default is not dataclasses.MISSING or item.default_factory is not dataclasses.MISSING
        )
        # Checked here, so that the error names the key of the option.
        if item.init and not has_default and item.name not in options:
            raise OptionError(location, item.name, "must be given; it has no default")
    try:
        return cls(**options)
    except (TypeError, ValueError, ConfigurationError) as exc:
        raise OptionError(location, "", str(exc)) from None


@dataclasses.dataclass(frozen=True, slots=True)
class _Adapter:
    """Check of one option; `check` is None if its annotation cannot be evaluated."""

    hint: Any
    check: TypeAdapter[Any] | None


@lru_cache(maxsize=512)
def _adapters(cls: type) -> Mapping[str, _Adapter]:
    """Return the options of a dataclass with their checks."""
    names = [item.name for item in dataclasses.fields(cls) if item.init and not item.name.startswith("_")]
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError:  # annotations that only type checkers see: the class checks for itself
        hints = {}
    return {name: _Adapter(hints.get(name, Any), _adapter(hints.get(name, Any))) for name in names}


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True))
    except PydanticSchemaGenerationError:
        # a type that pydantic does not know: the plugin itself checks its value
        return None
    except PydanticUserError:  # a type that brings its own configuration
        return TypeAdapter(hint)


def _value(adapter: _Adapter, value: object, location: str, key: str, *, is_text: bool) -> object:
    if adapter.check is None:
        return value
    try:
        if is_text:
            return adapter.check.validate_python(value)
        try:
            checked = adapter.check.validate_python(value, strict=True)
            # The value itself where it is equal: the record shows it as it was written.
            return value if checked == value else checked
        except ValidationError:  # lists of files may stand for tuples, texts for enums: the lax rules of JSON
            return adapter.check.validate_json(_json(value), strict=True)
    except TypeError:
        fact = f"expected {spoken(adapter.hint)}"
    except ValidationError as exc:
        fact = _fact(adapter.hint, exc)
    shown = "a text of the environment" if is_text else _shown(value)
    raise OptionError(location, key, f"{fact}, found {shown}")


def _json(value: object) -> str:
    """Return a value as JSON; a list of a configuration may be a tuple, and a text may be a path.

    Raises:
        TypeError: if it has no equivalent in JSON.
    """
    return json.dumps(value, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _fact(hint: object, exc: ValidationError) -> str:
    error = exc.errors(include_input=False, include_url=False)[0]
    # Messages of pydantic for a union name one of its forms only.
    if _is_union(hint) or error["type"].endswith(_TYPE_ERRORS):
        return f"expected {spoken(hint)}"
    return str(error["msg"]).lower()


def _shown(value: object) -> str:
    text = repr(value)
    # A part of a long text could be a part of a secret, which masking no longer recognises.
    return text if len(text) <= LONGEST_VALUE else f"a value of {len(text):,} characters"


def _is_union(hint: object) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def spoken(hint: object, *, many: bool = False) -> str:
    """Return a type as messages call it.

    >>> from typing import Literal
    >>> spoken(int), spoken(tuple[str, ...]), spoken(Literal["a", "b"]), spoken(float | None)
    ('a whole number', 'a list of strings', "one of 'a', 'b'", 'a number')
    """
    if hint in _SPOKEN:
        return _SPOKEN[hint][many]
    origin, arms = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin is typing.Annotated:
        return spoken(arms[0], many=many)
    if origin is typing.Literal:
        choices = ", ".join(map(repr, arms))
        return f"values out of {choices}" if many else f"one of {choices}"
    if _is_union(hint):
        named = [arm for arm in arms if arm is not type(None)]
        return " or ".join(dict.fromkeys(spoken(arm, many=many) for arm in named))
    if origin in _LISTS:
        plural = spoken(arms[0], many=True) if arms and arms[0] is not Any else ""
        return ("lists" if many else "a list") + (f" of {plural}" if plural else "")
    if origin in (dict, Mapping, typing.MutableMapping):
        return "tables" if many else "a table"
    return str(getattr(hint, "__name__", hint))
