"""Typed results of steps, read from what state files and records hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from pytest_evalstudio.core.errors import DataError

R = TypeVar("R")


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
