"""Helpers that the decorators of all kinds share."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

SPEC = "__evalstudio__"
"""Attribute in which the decorators store the declaration for the registry."""

P = TypeVar("P")


def attach(plugin: P, spec: object) -> P:
    """Attach a declaration to its class or function."""
    setattr(plugin, SPEC, spec)
    return plugin


def check_id(kind: str, id: str) -> None:
    """Check the id of a declaration.

    Raises:
        TypeError: if it cannot be a part of names such as the fixture `eval_<id>`.
    """
    if not isinstance(id, str) or not id.isidentifier():
        raise TypeError(
            f"{kind} {id!r}: an id consists of letters, digits and underscores, e.g. 'word_count'"
        )


def check_methods(kind: str, id: str, cls: type, methods: Mapping[str, str]) -> None:
    """Check that a class has methods.

    Args:
        methods: name to signature, for the message.

    Raises:
        TypeError: for the first method that is missing.
    """
    for name, signature in methods.items():
        if not _is_method(inspect.getattr_static(cls, name, None)):
            raise TypeError(f"{kind} {id!r}: {cls.__qualname__} has no method {name}; add {signature}")


def has_method(kind: str, id: str, cls: type, name: str, signature: str) -> bool:
    """Return whether a class has an optional method.

    Raises:
        TypeError: if the class has an attribute of that name that is not a method.
    """
    value = inspect.getattr_static(cls, name, None)
    if value is None:
        return False
    if not _is_method(value):
        raise TypeError(f"{kind} {id!r}: {name} must be a method: {signature}")
    return True


def _is_method(value: object) -> bool:
    return callable(value) or isinstance(value, classmethod)


def has_property(kind: str, id: str, cls: type, name: str, content: type | tuple[type, ...]) -> bool:
    """Return whether a class gives a value that may depend on its options.

    Args:
        content: type of the value where it is a class attribute in place of a property.

    Raises:
        TypeError: if the attribute is neither a property nor such a value.
    """
    value = inspect.getattr_static(cls, name, None)
    if value is None:
        return False
    if isinstance(value, property | cached_property | content) or inspect.isdatadescriptor(value):
        return True
    raise TypeError(f"{kind} {id!r}: {name} must be a property, found {value!r}")


def names_in(kind: str, id: str, cls: type, attribute: str) -> tuple[str, ...]:
    """Return the names in a class attribute, () where the class does not have it.

    Raises:
        TypeError: if the attribute is not a tuple of strings.
    """
    value = inspect.getattr_static(cls, attribute, ())
    if not isinstance(value, tuple) or not all(isinstance(name, str) and name for name in value):
        raise TypeError(
            f"{kind} {id!r}: {attribute} must be a tuple of names, found {value!r};"
            f' write {attribute}: ClassVar = ("NAME",)'
        )
    return value


def path_options_of(kind: str, id: str, cls: type) -> tuple[str, ...]:
    """Return the options of a class that are paths.

    Raises:
        TypeError: if one of them is not an option.
    """
    paths = names_in(kind, id, cls, "path_options")
    if dataclasses.is_dataclass(cls):
        check_known(kind, id, "path_options", paths, [item.name for item in dataclasses.fields(cls)])
    return paths


def check_known(kind: str, id: str, attribute: str, names: Iterable[str], valid_names: Iterable[str]) -> None:
    """Check names in a declaration.

    Raises:
        TypeError: for the first unknown name.
    """
    valid_names = tuple(valid_names)
    for name in names:
        if name not in valid_names:
            listed = f"known: {', '.join(valid_names)}" if valid_names else "there are none"
            raise TypeError(f"{kind} {id!r}: {attribute}: {name!r} is unknown; {listed}")


def parameters(cls: type) -> dict[str, Any]:
    """Return the options of a class: field name to default, "" where one must be given."""
    if not dataclasses.is_dataclass(cls):
        return {}
    options: dict[str, Any] = {}
    for item in dataclasses.fields(cls):
        if item.name.startswith("_") or not item.init:
            continue
        if item.default is not dataclasses.MISSING:
            options[item.name] = item.default
        elif item.default_factory is not dataclasses.MISSING:
            options[item.name] = item.default_factory()
        else:
            options[item.name] = ""
    return options
