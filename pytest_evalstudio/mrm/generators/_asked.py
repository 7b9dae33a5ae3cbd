"""A question for a quantity."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.mrm.texts.clauses import Clause
from pytest_evalstudio.mrm.texts.quantities import (
    Quantity,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question for a quantity of a clause.

    Attributes:
        answer: the quantity as written, with its bound.
        condition: regular expression of a right answer.
    """

    question: str
    quantity: Quantity
    answer: str
    condition: str
    clause: Clause
