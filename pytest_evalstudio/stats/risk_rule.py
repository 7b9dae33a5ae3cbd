"""The rule by which the risk of wrong verdicts chooses a threshold; it imports no numerical package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rule = Literal["balanced", "max_type_i", "max_type_ii", "cost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRule:
    """The rule by which a cut is chosen.

    A type I error is a good answer that fails, a type II error a bad answer that passes.

    Attributes:
        rule: "balanced" minimises (type I + type II) / 2; "max_type_i" and "max_type_ii" keep one error rate
            at most at `limit` and minimise the other one; "cost" minimises the expected cost.
        limit: between 0 and 1; of the two rules that have one.
        cost_type_i: of a good answer that fails; of "cost".
        cost_type_ii: of a bad answer that passes; of "cost".
    """

    rule: Rule = "balanced"
    limit: float | None = None
    cost_type_i: float | None = None
    cost_type_ii: float | None = None
