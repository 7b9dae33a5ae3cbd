"""The comparison of two sets of paired scores by scipy, statsmodels and random weights.

It shares no code with the package: p values are those of scipy, the adjustment is that of statsmodels, and
the limits are quantiles of drawn means where the package integrates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

RESAMPLES = 9_999
WEIGHTS = 100_000
LOWER, UPPER, RISE = 0.045, 0.005, 0.0005


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Results of one metric.

    Attributes:
        is_exact: whether p has no random part, all sign flips being enumerated.
    """

    difference: float
    p: float
    p_adjusted: float
    interval: tuple[float, float]
    verdict: str
    is_exact: bool


def reference(
    pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, width: float = 1.0
) -> dict[str, Reference]:
    """Return the reference of each metric; higher is better, all decide, the tolerance is 5 % of `width`."""
    differences = {name: np.asarray(new) - np.asarray(base) for name, (base, new) in pairs.items()}
    tests = {name: _p_of_a_drop(*pairs[name]) for name in pairs}
    changed = [name for name, values in differences.items() if values.any()]
    adjusted = dict.fromkeys(pairs, 1.0)
    if changed:
        p_values = multipletests([tests[name][0] for name in changed], method="holm")[1]
        adjusted |= zip(changed, p_values, strict=True)
    return {
        name: Reference(
            difference=float(values.mean()),
            p=tests[name][0],
            p_adjusted=float(adjusted[name]),
            interval=(interval := _interval(values, width, is_drop=adjusted[name] <= 0.05)),
            verdict=_verdict(values, float(adjusted[name]), interval, width),
            is_exact=tests[name][1],
        )
        for name, values in differences.items()
    }


def _p_of_a_drop(base: Sequence[float], new: Sequence[float]) -> tuple[float, bool]:
    """Return the one-sided p of a paired test, and whether it is exact."""
    differences = np.asarray(new) - np.asarray(base)
    moved = differences[differences != 0]
    if not moved.size:
        return 1.0, True
    if set(base) | set(new) <= {0.0, 1.0}:
        falls, rises = int((moved < 0).sum()), int((moved > 0).sum())
        p = float(stats.binomtest(falls, falls + rises, alternative="greater").pvalue)
        two_sided = mcnemar([[0, falls], [rises, 0]], exact=True).pvalue
        assert math.isclose(
            min(1.0, 2 * min(p, 1 - p + _point(falls, falls + rises))), two_sided, rel_tol=1e-9
        )
        return p, True
    result = stats.permutation_test(
        (moved,),
        lambda values, axis: np.mean(values, axis=axis),
        permutation_type="samples",
        vectorized=True,
        alternative="less",
        n_resamples=np.inf if len(moved) <= 16 else RESAMPLES,
        rng=np.random.default_rng(1),
    )
    return float(result.pvalue), len(moved) <= 16


def _point(falls: int, total: int) -> float:
    return float(stats.binom.pmf(falls, total, 0.5))


def _interval(
    differences: np.ndarray,  # type: ignore[type-arg]
    width: float,
    *,
    is_drop: bool,
) -> tuple[float, float]:
    """Return quantiles over random weights of the differences and of one of the greatest size."""
    weights = np.random.default_rng(2).dirichlet(np.ones(len(differences) + 1), WEIGHTS)
    below = weights @ np.append(differences, -width)
    above = weights @ np.append(differences, width)
    low, high = float(np.quantile(below, LOWER)), float(np.quantile(above, 1 - UPPER))
    if low > 0 and np.quantile(below, RISE) <= 0:
        low = 0.0
    return low, min(high, 0.0) if is_drop else max(high, 0.0)


def _verdict(
    differences: np.ndarray,  # type: ignore[type-arg]
    p: float,
    interval: tuple[float, float],
    width: float,
) -> str:
    if p <= 0.05 and differences.mean() < 0:
        return "worse"
    return "not worse" if interval[0] > -0.05 * width else "inconclusive"
