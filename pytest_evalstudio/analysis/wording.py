"""Small turns of phrase that problems and insights share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from pytest_evalstudio.analysis.aggregators import Sample
from pytest_evalstudio.text.figures import counted

_LEVEL = 0.05
"""Level of the tests; a p value near it has a digit more."""


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


def p_text(p: float) -> str:
    """Return a p value, in as many digits as show on which side of the level it is.

    >>> p_text(0.0625), p_text(0.0469), p_text(0.0001), p_text(1.0)
    ('p 0.06', 'p 0.047', 'p < 0.001', 'p > 0.99')
    """
    if p < 0.001:
        return "p < 0.001"
    if p > 0.99:
        return "p > 0.99"
    digits = 3 if p < 0.01 or abs(p - _LEVEL) < 0.005 else 2
    return f"p {round(p, digits):g}"
