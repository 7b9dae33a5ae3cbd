"""Specification of the options of a plugin: type, default, choices and description."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from typing import Any

from msgspec import Struct

from pytest_evalstudio.core.plugins.declaring import parameters

_ATTRIBUTES = re.compile(r"^Attributes:\n(?P<body>(?:[ \t]+.*\n?|\n)+)", re.MULTILINE)
_ENTRY = re.compile(r"^    (?P<names>\w+(?:, \w+)*): (?P<text>.*(?:\n {5,}.*)*)", re.MULTILINE)


class ParameterSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Option of a plugin.

    Attributes:
        name: key in a configuration.
        type: type as the class declares it.
        default: value if none is given; "" where one must be given.
        choices: allowed values; empty for any value of the type.
        description: meaning, from the class's docstring; "" where it has none.
    """

    name: str
    type: str
    default: Any = None
    choices: tuple[Any, ...] = ()
    description: str = ""


def parameter_specs(cls: type) -> tuple[ParameterSpec, ...]:
    """Return the options of a plugin's dataclass, in order.

    >>> @dataclasses.dataclass
    ... class Example:
    ...     '''Example.
    ...
    ...     Attributes:
    ...         limit: longest answer, in words.
    ...     '''
    ...     limit: int = 5
    >>> [(spec.name, spec.type, spec.default, spec.description) for spec in parameter_specs(Example)]
    [('limit', 'int', 5, 'longest answer, in words.')]
    """
    defaults = parameters(cls)
    fields = {field.name: field for field in dataclasses.fields(cls)} if defaults else {}
    described = _descriptions(cls)
    return tuple(
        ParameterSpec(
            name=name,
            type=_type_name(fields[name].type),
            default=default,
            choices=_choices(cls, name),
            description=described.get(name, ""),
        )
        for name, default in defaults.items()
    )


def _descriptions(cls: type) -> dict[str, str]:
    """Return the entries of the section "Attributes" of the docstrings of a class and its bases."""
    described: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        section = _ATTRIBUTES.search(inspect.cleandoc(each.__doc__ or "") + "\n")
        for entry in _ENTRY.finditer(section["body"]) if section else ():
            described |= dict.fromkeys(entry["names"].split(", "), " ".join(entry["text"].split()))
    return described


def _type_name(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _choices(cls: type, name: str) -> tuple[Any, ...]:
    """Return the values of a Literal annotation."""
    try:
        annotation = typing.get_type_hints(cls).get(name)
    except (NameError, TypeError):  # other people's annotations may name what is imported for typing only
        return ()
    return typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()
