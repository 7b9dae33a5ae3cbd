"""Application of saved curves: probability of a good label, of each level, and the score at a probability."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from pytest_evalstudio.calibration.file import Calibration, Line, Logistic, Steps

_LARGEST_LOG = 700.0  # the exponential of 710 overflows a float


def probability(curve: Logistic | Line | Steps, scores: Sequence[float]) -> float:
    """Return the probability, 0.0 to 1.0, that people call an answer with these scores good.

    Args:
        scores: finite, in the order of the calibration's metrics.

    >>> probability(Logistic(intercept=0.0, weights=[2.0], means=[0.5], scales=[0.1], logs=[False]), [0.5])
    0.5
    >>> round(probability(Line(x=[0.2, 0.6], p=[0.1, 0.9]), [0.4]), 6)
    0.5
    >>> probability(Steps(x=[0.5], p=[0.2, 0.8]), [0.5])
    0.2
    """
    if isinstance(curve, Logistic):
        values = [
            math.log1p(max(0.0, score)) if log else score
            for score, log in zip(scores, curve.logs, strict=True)
        ]
        terms = (
            weight * (score - mean) / scale
            for weight, score, mean, scale in zip(
                curve.weights, values, curve.means, curve.scales, strict=True
            )
        )
        return sigmoid(curve.intercept + sum(terms))
    (score,) = scores
    position = bisect_left(curve.x, score)
    if isinstance(curve, Steps):
        return curve.p[position]
    if position == 0 or position == len(curve.x):
        return curve.p[0 if position == 0 else -1]
    low, high = curve.x[position - 1], curve.x[position]
    share = (score - low) / (high - low)
    return curve.p[position - 1] + share * (curve.p[position] - curve.p[position - 1])


def sigmoid(value: float) -> float:
    """Return 1 / (1 + exp(−value)) for any finite value.

    >>> sigmoid(-1000.0), sigmoid(0.0), sigmoid(1000.0)
    (0.0, 0.5, 1.0)
    """
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    power = math.exp(value)
    return power / (1 + power)


def level_probabilities(curve: Logistic, scores: Sequence[float], lowest: int) -> dict[int, float]:
    """Return the probability of each level by an ordinal curve.

    Args:
        curve: with `cuts`.
        scores: finite, in the order of the calibration's metrics.
        lowest: the level below all cuts.

    >>> curve = Logistic(intercept=0, weights=[1], means=[0], scales=[1], logs=[False], cuts={2: 0, 3: -1})
    >>> {level: round(share, 3) for level, share in level_probabilities(curve, [0.0], 1).items()}
    {1: 0.5, 2: 0.231, 3: 0.269}
    """
    cuts = sorted((curve.cuts or {}).items())
    reached = [
        1.0,
        *(probability(curve.model_copy(update={"intercept": cut}), scores) for _, cut in cuts),
        0.0,
    ]
    return {
        level: max(0.0, reached[index] - reached[index + 1])
        for index, level in enumerate([lowest, *(level for level, _ in cuts)])
    }


def threshold(calibration: Calibration, chance: float | None = None) -> float | None:
    """Return the score of a single metric at which the probability reaches `chance`.

    For "higher", scores from it upwards reach `chance`; for "lower", scores down to it.

    Args:
        calibration: of one metric.
        chance: a probability; the calibration's own cut where not given.

    Returns:
        None for several metrics, and if no score separates the answers: all reach `chance`, none does, or
        the curve contradicts the metric's direction.
    """
    if len(calibration.metrics) != 1:
        return None
    chance = calibration.cut if chance is None else chance
    curve, is_higher = calibration.curve, calibration.metrics[0].better == "higher"
    if isinstance(curve, Logistic):
        weight = curve.weights[0]
        if weight == 0 or (weight > 0) != is_higher or not 0 < chance < 1:
            return None
        crossings = (
            curve.means[0] + curve.scales[0] * (math.log(chance / (1 - chance)) - curve.intercept) / weight
        )
        return (
            (math.expm1(crossings) if curve.logs[0] else crossings)
            if math.isfinite(crossings) and crossings < _LARGEST_LOG
            else None
        )
    reached = [p >= chance for p in curve.p]
    if all(reached) or not any(reached):
        return None
    if is_higher:
        first = reached.index(True)
        return (
            math.nextafter(curve.x[first - 1], math.inf)
            if isinstance(curve, Steps)
            else _crossing(curve, first - 1, first, chance)
        )
    last = len(reached) - 1 - reached[::-1].index(True)
    if last == len(reached) - 1:
        return None
    return curve.x[last] if isinstance(curve, Steps) else _crossing(curve, last + 1, last, chance)


def _crossing(curve: Line, below: int, above: int, chance: float) -> float | None:
    """Return where the line from a point below `chance` to its neighbour at or above it reaches `chance`."""
    if below < 0:
        return None
    share = (chance - curve.p[below]) / (curve.p[above] - curve.p[below])
    return curve.x[below] + share * (curve.x[above] - curve.x[below])
