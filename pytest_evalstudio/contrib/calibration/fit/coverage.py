"""Figures of conformal sets: coverage and sizes."""

from __future__ import annotations

import numpy as np

from pytest_evalstudio.contrib.calibration.fit.predictions import Fit, Predictions
from pytest_evalstudio.contrib.calibration.fit.results import ConformalFigures, LevelFigures
from pytest_evalstudio.scoring.calibration.file import Conformal
from pytest_evalstudio.stats.conformal import expected_coverage, min_labels
from pytest_evalstudio.stats.resampling import share_interval
from pytest_evalstudio.stats.types import Booleans, Interval

SETS = {(0,): "zero", (1,): "one", (0, 1): "both", (): "empty"}


def conformal_figures(fitting: Fit, predicted: Predictions, conformal: Conformal) -> ConformalFigures:
    """Return coverage and sizes of conformal sets, measured or expected."""
    names = [SETS[possible.labels] for possible in predicted.sets]
    if fitting.sample.drawn is None:
        overall, of_good, of_bad = _measured_coverage(predicted, fitting.seed)
    else:
        overall, of_good, of_bad = _expected_coverage(predicted, conformal)
    return ConformalFigures(
        alpha=conformal.alpha,
        kind=conformal.kind,
        quantile=conformal.quantile,
        quantile_good=conformal.quantile_good,
        quantile_bad=conformal.quantile_bad,
        labels=conformal.labels,
        coverage=overall[0],
        coverage_interval=overall[1],
        coverage_good=of_good and of_good[0],
        coverage_good_interval=of_good and of_good[1],
        coverage_bad=of_bad and of_bad[0],
        coverage_bad_interval=of_bad and of_bad[1],
        sets={name: names.count(name) for name in SETS.values()},
        levels=_level_figures(predicted, fitting.seed),
    )


_Shares = tuple[tuple[float, Interval], tuple[float, Interval] | None, tuple[float, Interval] | None]
"""Coverage of all, of good and of bad answers."""


def _measured_coverage(predicted: Predictions, seed: int) -> _Shares:
    good, clusters = predicted.tested.good, predicted.tested.cases
    covered = _covered(predicted)
    overall = share_interval(covered, np.ones(len(good), dtype=np.bool_), clusters, seed=seed)
    if overall is None:
        raise ValueError("there are no labelled answers")
    return (
        overall,
        share_interval(covered, good, clusters, seed=seed),
        share_interval(covered, ~good, clusters, seed=seed),
    )


def _covered(predicted: Predictions) -> Booleans:
    """Return a mask of the answers whose set holds people's label."""
    return np.array(
        [
            int(good) in possible.labels
            for possible, good in zip(predicted.sets, predicted.tested.good.tolist(), strict=True)
        ],
        dtype=np.bool_,
    )


def _expected_coverage(predicted: Predictions, conformal: Conformal) -> _Shares:
    """Return the expected coverage of new answers: all that could be tested gave the quantiles."""
    good = predicted.tested.good
    if conformal.kind == "marginal":
        covered = _covered(predicted)
        clusters = predicted.tested.cases
        return (
            expected_coverage(conformal.labels, conformal.alpha),
            share_interval(covered, good, clusters),
            share_interval(covered, ~good, clusters),
        )
    shares = [_of_kind(int(count), conformal.alpha) for count in (good.sum(), (~good).sum())]
    weights = [float(good.mean()), float((~good).mean())]
    mean = sum(weight * share for weight, (share, _) in zip(weights, shares, strict=True))
    low, high = (
        sum(weight * interval[end] for weight, (_, interval) in zip(weights, shares, strict=True))
        for end in (0, 1)
    )
    return (mean, (low, high)), shares[0], shares[1]


def _of_kind(count: int, alpha: float) -> tuple[float, Interval]:
    """Return the expected coverage of one kind of answers; with too few, each set holds their label."""
    return expected_coverage(count, alpha) if count >= min_labels(alpha) else (1.0, (1.0, 1.0))


def _level_figures(predicted: Predictions, seed: int) -> LevelFigures | None:
    levels = [possible.levels for possible in predicted.sets]
    if all(those is None for those in levels):
        return None
    labels = predicted.tested.labels
    # A fold whose labels have two levels has no sets of levels, which excludes no level.
    covered = np.array(
        [those is None or label in those for those, label in zip(levels, labels.tolist(), strict=True)]
    )
    sizes = [len(those or ()) for those in levels]
    overall = share_interval(covered, np.ones(len(labels), dtype=np.bool_), predicted.tested.cases, seed=seed)
    if overall is None:
        raise ValueError("there are no labelled answers")
    return LevelFigures(
        coverage=overall[0],
        coverage_interval=overall[1],
        by_level={int(level): float(covered[labels == level].mean()) for level in np.unique(labels)},
        mean_size=float(np.mean(sizes)),
    )
