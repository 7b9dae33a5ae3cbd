"""Choice of the probability from which on an answer passes, by the risk of wrong verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.stats.risk_rule import RiskRule
from pytest_evalstudio.stats.types import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A chosen cut.

    Attributes:
        probability: answers pass from it on, 0.0 to 1.0.
        type_1: expected share of good answers that fail.
        type_2: expected share of bad answers that pass.
        is_attained: False if no cut meets the rule's limit, or the rule is met by the same verdict on all
            answers only; the cut is then the one nearest to it.
    """

    probability: float
    type_1: float
    type_2: float
    is_attained: bool


def choose_cut(probabilities: Floats, good: Floats, rule: RiskRule, *, margin: int = 0) -> Cut:
    """Return the cut that a rule chooses.

    Args:
        probabilities: shape (n,), of a good label, 0.0 to 1.0.
        good: shape (n,); 1 for an answer that people call good and 0 for a bad one, or the probability where
            people have not labelled it. Both kinds must occur.
        rule: of the choice.
        margin: 1 counts one more answer of each kind, with a wrong verdict, against the limit. The expected
            error rate of a new answer is then at most the limit.

    Returns:
        The cut half-way between two neighbouring probabilities. Among equal ones, the middle one.

    Source: Angelopoulos, Bates et al., 2024, Conformal risk control (the margin); Elkan, 2001, The
        foundations of cost-sensitive learning (costs).

    >>> rates = choose_cut(np.array([0.2, 0.4, 0.6, 0.8]), np.array([0, 0, 1, 1]), RiskRule())
    >>> rates.probability, rates.type_1, rates.type_2
    (0.5, 0.0, 0.0)
    """
    levels, groups = np.unique(probabilities, return_inverse=True)
    goods = np.bincount(groups, weights=good, minlength=len(levels))
    bads = np.bincount(groups, weights=1 - good, minlength=len(levels))
    failing = np.concatenate([[0.0], np.cumsum(goods)])
    passing = bads.sum() - np.concatenate([[0.0], np.cumsum(bads)])
    type_1, type_2 = failing / goods.sum(), passing / bads.sum()
    if rule.rule == "max_type_i":
        bound = (failing + margin) / (goods.sum() + margin)
        return _limited(levels, type_1, type_2, _limit(rule), bound, minimised=type_2)
    if rule.rule == "max_type_ii":
        bound = (passing + margin) / (bads.sum() + margin)
        return _limited(levels, type_1, type_2, _limit(rule), bound, minimised=type_1)
    losses = (
        failing * (rule.cost_type_i or 0.0) + passing * (rule.cost_type_ii or 0.0)
        if rule.rule == "cost"
        else (type_1 + type_2) / 2
    )
    is_trivial = losses[1:-1].min(initial=np.inf) > losses.min() + 1e-12
    return _cut(levels, type_1, type_2, _best(losses), is_attained=not is_trivial)


def _limit(rule: RiskRule) -> float:
    if rule.limit is None:
        raise ValueError(f"the rule {rule.rule} needs a limit")
    return rule.limit


def _limited(
    levels: Floats, type_1: Floats, type_2: Floats, limit: float, bound: Floats, *, minimised: Floats
) -> Cut:
    """Return the cut with the smallest other error among those within the limit, the verdict not constant."""
    inner = np.zeros(len(bound), dtype=bool)
    inner[1:-1] = (type_1[1:-1] < 1) & (type_2[1:-1] < 1)
    allowed = inner & (bound <= limit + 1e-12)
    if allowed.any():
        return _cut(levels, type_1, type_2, _best(np.where(allowed, minimised, np.inf)), is_attained=True)
    nearest = np.where(inner, bound, np.inf) if inner.any() else bound
    tied = nearest <= nearest.min() + 1e-12
    return _cut(levels, type_1, type_2, _best(np.where(tied, minimised, np.inf)), is_attained=False)


def _best(losses: Floats) -> int:
    """Return the middle one of the smallest losses."""
    smallest = np.flatnonzero(losses <= losses.min() + 1e-12)
    return int(smallest[len(smallest) // 2])


def _cut(levels: Floats, type_1: Floats, type_2: Floats, index: int, *, is_attained: bool) -> Cut:
    ends = np.concatenate([[0.0], levels, [1.0]])
    return Cut(
        probability=float((ends[index] + ends[index + 1]) / 2),
        type_1=float(type_1[index]),
        type_2=float(type_2[index]),
        is_attained=is_attained,
    )
