"""Small turns of phrase that problems and insights share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_evalstudio.engine.analysis.run_info import number
from pytest_evalstudio.engine.analysis.tallies import Sample


def rounded(value: Any) -> str:
    """A number of a message, at most four decimals.

    >>> rounded(0.123456), rounded(3), rounded("Infinity")
    ('0.1235', '3', 'infinite')
    """
    found = number(value)
    if found in (float("inf"), float("-inf")):
        return "infinite"
    return f"{found:.4f}".rstrip("0").rstrip(".") if abs(found) >= 0.0001 or not found else f"{found:.2g}"


def cases(sample: Sample, noun: str = "row") -> str:
    """How many, with the keys of the first.

    >>> cases(Sample(count=2, keys=["a", "b"]))
    "2 rows ('a', 'b')"
    """
    keys = ", ".join(repr(key) for key in sample.keys[:3])
    more = ", …" if sample.count > 3 else ""
    return f"{sample.count} {noun}{'' if sample.count == 1 else 's'} ({keys}{more})"


def row_attributes(model: str, name: str, keys: Sequence[str]) -> dict[str, Any]:
    """The attributes that tell which model and which rows."""
    return {"model": model, "model_name": name, "test_case_keys": list(keys), "row_keys": [f"{key}_{model}" for key in keys]}
