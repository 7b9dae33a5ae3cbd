"""Parameters of steps, checked when the workflow's file is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def check_counts(step: Any, least: Mapping[str, int]) -> None:
    """Check that parameters are whole numbers of at least a minimum; None passes if it is the default.

    Raises:
        ValueError: for the first that is not.
    """
    for name, minimum in least.items():
        value = getattr(step, name)
        if value is None and type(step).__dataclass_fields__[name].default is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            raise ValueError(f"{name} = {value!r}: expected a whole number of {minimum} or more")


def check_fractions(step: Any, *names: str, most: float = 1.0) -> None:
    """Check that parameters are numbers from 0 to 1, or to `most`.

    Raises:
        ValueError: for the first that is not.
    """
    for name in names:
        check_fraction(name, getattr(step, name), most)


def check_fraction(name: str, value: Any, most: float = 1.0) -> None:
    """Check that a value is a number from 0 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= most:
        raise ValueError(f"{name} = {value!r}: expected a number from 0 to {most:g}")


def check_names(step: Any, *names: str) -> None:
    """Check that parameters are lists of names.

    Raises:
        ValueError: for the first that is not.
    """
    for name in names:
        value = getattr(step, name)
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise ValueError(f"{name} = {value!r}: expected a list of names")


def check_text(step: Any, *names: str) -> None:
    """Check that parameters are texts; an empty one counts as not given.

    Raises:
        ValueError: for the first that is not.
    """
    for name in names:
        value = getattr(step, name)
        if not isinstance(value, str):
            raise ValueError(f"{name} = {value!r}: expected a text")
