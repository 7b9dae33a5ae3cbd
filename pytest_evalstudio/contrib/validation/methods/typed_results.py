"""Typed results of steps, written to and read from state files and records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pytest_evalstudio.core.errors import DataError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R")


def json_ready(results: DataclassInstance | Mapping[str, Any]) -> dict[str, Any]:
    """Return a step's results as its state file and the record hold them; unset fields are left out."""
    plain = dict(results) if isinstance(results, Mapping) else results
    ready: dict[str, Any] = msgspec.to_builtins(plain, enc_hook=_number)
    return ready


def _number(value: Any) -> Any:
    """Return a numpy number as Python's."""
    return value.item()


def shallow(part: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a dataclass by name, to join it with others."""
    return {item.name: getattr(part, item.name) for item in fields(part)}


def read_results(step: str, figures: Mapping[str, Any], kind: type[R]) -> R:
    """Read a step's results as a type; keys that the type does not have are ignored.

    Args:
        step: id, for the message.
        figures: as the step's state file holds them.
        kind: a dataclass.

    Raises:
        DataError: if a key is missing or has a value of another type.
    """
    try:
        return msgspec.convert(dict(figures), kind)
    except msgspec.ValidationError as exc:
        raise DataError(
            f"the results of this step cannot be read: {exc}; run it again", source=step
        ) from None
