"""Application of saved curves: probability of a good label, of each level, and the score at a probability."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from pytest_evalstudio.scoring.calibration.file import Calibration, Line, Logistic, Softmax, Steps

# A sum with infinite terms of both signs would be NaN, which no probability is.
_MAX_VALUE, _MAX_TERM = 1e100, 1e300
_MAX_LOG = 700.0  # the exponential of 710 overflows a float


def probability(curve: Logistic | Line | Steps | Softmax, scores: Sequence[float]) -> float:
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
    if isinstance(curve, Softmax):
        shares = level_probabilities(curve, scores)
        return min(1.0, math.fsum(share for level, share in shares.items() if level >= curve.good_from))
    if isinstance(curve, Logistic):
        terms = (
            weight * (score - mean) / scale
            for weight, score, mean, scale in zip(
                curve.weights, _scaled(curve, scores), curve.means, curve.scales, strict=True
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


def _scaled(curve: Logistic | Softmax, scores: Sequence[float]) -> list[float]:
    return [
        math.log1p(max(0.0, score)) if log else score for score, log in zip(scores, curve.logs, strict=True)
    ]


def level_probabilities(
    curve: Logistic | Softmax, scores: Sequence[float], lowest: int = 0
) -> dict[int, float]:
    """Return the probability of each level by an ordinal or a multinomial curve; they sum to 1.

    Args:
        curve: an ordinal one has `cuts`.
        scores: finite, in the order of the calibration's metrics.
        lowest: the level below all cuts of an ordinal curve.

    >>> curve = Logistic(intercept=0, weights=[1], means=[0], scales=[1], logs=[False], cuts={2: 0, 3: -1})
    >>> {level: round(share, 3) for level, share in level_probabilities(curve, [0.0], 1).items()}
    {1: 0.5, 2: 0.231, 3: 0.269}
    """
    if isinstance(curve, Softmax):
        return _softmax(curve, scores)
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


def _softmax(curve: Softmax, scores: Sequence[float]) -> dict[int, float]:
    values = [
        _limited((value - mean) / scale, _MAX_VALUE)
        for value, mean, scale in zip(_scaled(curve, scores), curve.means, curve.scales, strict=True)
    ]
    exponents = [
        _limited(intercept, _MAX_TERM)
        + sum(_limited(weight * value, _MAX_TERM) for weight, value in zip(weights, values, strict=True))
        for intercept, weights in zip(curve.intercepts, curve.weights, strict=True)
    ]
    largest = max(exponents)
    powers = [math.exp(exponent - largest) for exponent in exponents]
    total = math.fsum(powers)
    return {level: power / total for level, power in zip(curve.levels, powers, strict=True)}


def _limited(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


def threshold(calibration: Calibration, chance: float | None = None) -> float | None:
    """Return the score of a single metric at which the probability reaches `chance`.

    For "higher", scores from it upwards reach `chance`; for "lower", scores down to it.

    Args:
        calibration: of one metric.
        chance: a probability; the calibration's own cut where not given.

    Returns:
        None for several metrics, and if no score separates the answers: all reach `chance`, none does, or
        the curve contradicts the metric's direction. A multinomial curve must rise or fall all the way: the
        weights of all good levels are on one side of those of all bad ones.
    """
    if len(calibration.metrics) != 1:
        return None
    chance = calibration.cut if chance is None else chance
    curve, is_higher = calibration.curve, calibration.metrics[0].better == "higher"
    if isinstance(curve, Softmax):
        return _softmax_threshold(curve, chance, is_higher=is_higher)
    if isinstance(curve, Logistic):
        weight = curve.weights[0]
        if weight == 0 or (weight > 0) != is_higher or not 0 < chance < 1:
            return None
        crossing = curve.means[0] + curve.scales[0] * (
            (math.log(chance / (1 - chance)) - curve.intercept) / weight
        )
        if not math.isfinite(crossing) or (curve.logs[0] and crossing >= _MAX_LOG):
            return None
        return math.expm1(crossing) if curve.logs[0] else crossing
    reached = [p >= chance for p in curve.p]
    if all(reached) or not any(reached):
        return None
    if is_higher:
        first = reached.index(True)
        return (
            # A score on the cut belongs to the step below.
            math.nextafter(curve.x[first - 1], math.inf)
            if isinstance(curve, Steps)
            else _crossing(curve, first - 1, first, chance)
        )
    last = len(reached) - 1 - reached[::-1].index(True)
    if last == len(reached) - 1:
        return None
    return curve.x[last] if isinstance(curve, Steps) else _crossing(curve, last + 1, last, chance)


_SEARCHED_SCALES = 1_000.0
"""Distance from the mean, in standard deviations, up to which a threshold is searched."""
_BISECTIONS = 80  # of a range of 2,000, down to the spacing of floats


def _softmax_threshold(curve: Softmax, chance: float, *, is_higher: bool) -> float | None:
    """Return the score at which the probability of the good levels reaches `chance`, by bisection."""
    sign = 1.0 if is_higher else -1.0
    weights = [(level, sign * row[0]) for level, row in zip(curve.levels, curve.weights, strict=True)]
    lowest_good = min(weight for level, weight in weights if level >= curve.good_from)
    highest_bad = max(weight for level, weight in weights if level < curve.good_from)
    if lowest_good <= highest_bad:
        return None

    def score_at(distance: float) -> float:
        score = curve.means[0] + sign * distance * curve.scales[0]
        return math.expm1(min(_MAX_LOG, score)) if curve.logs[0] else score

    below, reaching = -_SEARCHED_SCALES, _SEARCHED_SCALES
    if probability(curve, [score_at(below)]) >= chance or probability(curve, [score_at(reaching)]) < chance:
        return None
    for _ in range(_BISECTIONS):
        middle = (below + reaching) / 2
        if probability(curve, [score_at(middle)]) >= chance:
            reaching = middle
        else:
            below = middle
    return score_at(reaching)


def _crossing(curve: Line, below: int, above: int, chance: float) -> float | None:
    """Return where the line from a point below `chance` to its neighbour at or above it reaches `chance`."""
    if below < 0:
        return None
    share = (chance - curve.p[below]) / (curve.p[above] - curve.p[below])
    return curve.x[below] + share * (curve.x[above] - curve.x[below])
