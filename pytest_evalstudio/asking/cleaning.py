"""Answers without the secrets of the model that gave them."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from msgspec import Struct, structs

from pytest_evalstudio.asking.secrets import SHORTEST_IN_ANSWERS, Secrets
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.kept import Kept

S = TypeVar("S", bound=Struct)
Clean = Callable[[str], str]


def without_secrets(answer: Answer, secrets: Secrets) -> Answer:
    """Return an answer in which every text of the service is masked."""
    return _cleaned_fields(answer, lambda text: secrets.mask(text, shortest=SHORTEST_IN_ANSWERS))


def _cleaned_fields(value: S, clean: Clean) -> S:
    changes = {}
    for name in _fields_of_services(type(value)):
        before = getattr(value, name)
        after = _cleaned(before, clean)
        if after != before:
            changes[name] = after
    return structs.replace(value, **changes) if changes else value


@functools.cache
def _fields_of_services(cls: type[Struct]) -> tuple[str, ...]:
    """Return the fields that a service may write; a new one is among them.

    Not those that this package sets: codes, and what no record has, such as the paths of stored files.
    """
    hints = typing.get_type_hints(cls, include_extras=True)
    return tuple(
        name
        for name, hint in hints.items()
        if not {Kept.PLAIN, Kept.NOT} & {*getattr(hint, "__metadata__", ())}
        and typing.get_origin(hint) is not Literal
    )


def _cleaned(value: Any, clean: Clean) -> Any:
    """Return a value with all its texts cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Struct):
        return _cleaned_fields(value, clean)
    if isinstance(value, Mapping):
        return {key: _cleaned(item, clean) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_cleaned(item, clean) for item in value)
    return value
