"""Quantities of English sentences: how they are written, recognised, compared and changed."""

from pytest_evalstudio.contrib.questions.quantities.arithmetic import changed, near_misses, value_of
from pytest_evalstudio.contrib.questions.quantities.notation import MONTHS, UNITS
from pytest_evalstudio.contrib.questions.quantities.patterns import pattern, range_pattern
from pytest_evalstudio.contrib.questions.quantities.recognition import (
    Kind,
    Quantity,
    is_identifier,
    other_quantities,
    quantities,
    quantities_and_counts,
    unit_of,
)

__all__ = [
    "MONTHS",
    "UNITS",
    "Kind",
    "Quantity",
    "changed",
    "is_identifier",
    "near_misses",
    "other_quantities",
    "pattern",
    "quantities",
    "quantities_and_counts",
    "range_pattern",
    "unit_of",
    "value_of",
]
