"""Small turns of phrase that problems and insights share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from pytest_evalstudio.analysis.aggregators import Sample
from pytest_evalstudio.text.figures import counted


def cases(sample: Sample, noun: str = "row") -> str:
    """Return the number of rows and the keys of the first ones, where they are known.

    >>> cases(Sample(count=2, keys=["a", "b"]))
    "2 rows ('a', 'b')"
    """
    keys = ", ".join(repr(key) for key in sample.keys[:3])
    more = ", …" if sample.count > 3 else ""
    number = counted(sample.count, noun)
    return f"{number} ({keys}{more})" if keys else number


class RowAttributes(TypedDict):
    """Attributes of a problem or insight that say which model and which rows it is about."""

    model: str
    model_name: str
    test_case_keys: list[str]
    row_keys: list[str]


def row_attributes(model: str, name: str, keys: Sequence[str]) -> RowAttributes:
    """Return the attributes that name the model and the rows."""
    return {
        "model": model,
        "model_name": name,
        "test_case_keys": list(keys),
        "row_keys": [f"{key}_{model}" for key in keys],
    }
