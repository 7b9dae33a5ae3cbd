"""Predictions for labelled answers that the curve was not fitted to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.engine.scoring.calibration import level_probabilities
from pytest_evalstudio.formats.calibration import Conformal, Coverage, Logistic
from pytest_evalstudio.mrm.data.results import Column
from pytest_evalstudio.mrm.steps.human_calibration.curves import Fitted, probabilities
from pytest_evalstudio.mrm.steps.human_calibration.sample import Sample
from pytest_evalstudio.stats.calibration import area_under_roc
from pytest_evalstudio.stats.conformal import conformal_quantile, nonconformity
from pytest_evalstudio.stats.ordinal import ordinal_nonconformity
from pytest_evalstudio.stats.risk import Cut, RiskRule, choose_cut
from pytest_evalstudio.stats.types import Booleans, Floats, Integers

LIMITED = ("max_type_i", "max_type_ii")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Labels, and the settings that a calibration is made with.

    Attributes:
        curve: fits a curve to rows of the sample.
        alpha: share of labels that conformal sets may miss.
        coverage: "class" or "marginal".
        rule: of the cut.
        seed: of folds and halves.
    """

    sample: Sample
    columns: tuple[Column, ...]
    curve: Callable[[Integers], Fitted]
    alpha: float
    coverage: Coverage
    rule: RiskRule
    seed: int

    def cut(self, curve: Fitted, rows: Integers) -> Cut:
        """Return the cut that the rule chooses by the labels of some rows."""
        likely = probabilities(curve, self.sample.scores[rows])
        good = self.sample.good[rows].astype(np.float64)
        return choose_cut(likely, good, self.rule, margin=int(self.rule.rule in LIMITED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """Predictions in the order of the tested answers.

    Attributes:
        tested: answers that curve, cut and quantiles have not seen; without folds the cut has seen their
            scores.
        probabilities: of a good answer.
        passes: verdicts by the cut.
        bad_limits, good_limits: largest nonconformity of the labels in an answer's conformal set.
        level_distances: nonconformity of each level of an answer, and the largest one of the levels in its
            set; None without levels.
        folds: number of the fold that an answer was tested in.
        single_areas: area under the ROC curve, in each fold, of the single metric that is best in its
            training part.
    """

    tested: Sample
    probabilities: Floats
    passes: Booleans
    bad_limits: Floats
    good_limits: Floats
    level_distances: tuple[tuple[Mapping[int, float], Mapping[int, float]], ...] | None
    folds: Integers
    single_areas: tuple[float, ...]


def cross_validated(fitting: Fit) -> Predictions:
    """Return the predictions of a cross-validation whose folds divide questions."""
    labelled = fitting.sample
    size = len(labelled)
    likely, bad_limits, good_limits = np.empty(size), np.empty(size), np.empty(size)
    passes, folds = np.empty(size, dtype=np.bool_), np.empty(size, dtype=np.int64)
    levels: list[tuple[Mapping[int, float], Mapping[int, float]]] = [({}, {})] * size
    singles = []
    for number, (training, test) in enumerate(labelled.folds(fitting.seed)):
        rows, others = labelled.halves(training, fitting.seed)
        curve = fitting.curve(rows)
        conformal = conformal_of(fitting, curve, others)
        likely[test] = probabilities(curve, labelled.scores[test])
        passes[test] = likely[test] >= fitting.cut(curve, training).probability
        bad_limits[test], good_limits[test] = conformal.limits
        folds[test] = number
        for row, distances in zip(test.tolist(), _distances(curve, labelled, test, conformal), strict=True):
            levels[row] = distances, conformal.levels or {}
        singles += _best_single(fitting, training, test)
    return Predictions(
        tested=labelled,
        probabilities=likely,
        passes=passes,
        bad_limits=bad_limits,
        good_limits=good_limits,
        level_distances=tuple(levels) if any(limits for _, limits in levels) else None,
        folds=folds,
        single_areas=tuple(singles),
    )


def held_out(
    fitting: Fit, curve: Fitted, conformal: Conformal, cut: Cut, rows: Integers, others: Integers
) -> Predictions:
    """Return the predictions for the answers drawn at random, which the curve was not fitted to.

    Args:
        rows: that the curve was fitted to.
        others: drawn at random.
    """
    tested = fitting.sample.only(others)
    likely = probabilities(curve, tested.scores)
    bad_limit, good_limit = conformal.limits
    return Predictions(
        tested=tested,
        probabilities=likely,
        passes=likely >= cut.probability,
        bad_limits=np.full(len(others), bad_limit),
        good_limits=np.full(len(others), good_limit),
        level_distances=(
            tuple(
                (distances, conformal.levels)
                for distances in _distances(curve, fitting.sample, others, conformal)
            )
            if conformal.levels is not None
            else None
        ),
        folds=np.zeros(len(others), dtype=np.int64),
        single_areas=tuple(_best_single(fitting, rows, others)),
    )


def conformal_of(fitting: Fit, curve: Fitted, rows: Integers) -> Conformal:
    """Return the conformal prediction by the labels of rows that the curve was not fitted to."""
    labelled, alpha = fitting.sample, fitting.alpha
    good = labelled.good[rows]
    distances = nonconformity(probabilities(curve, labelled.scores[rows]), good)
    by_class = fitting.coverage == "class"
    return Conformal(
        alpha=alpha,
        quantile=float(conformal_quantile(distances, alpha)),
        labels=len(rows),
        kind=fitting.coverage,
        quantile_good=float(conformal_quantile(distances[good], alpha)) if by_class else None,
        quantile_bad=float(conformal_quantile(distances[~good], alpha)) if by_class else None,
        levels=_level_quantiles(fitting, curve, rows),
    )


def _level_quantiles(fitting: Fit, curve: Fitted, rows: Integers) -> dict[int, float] | None:
    """Return the quantile of the ordinal nonconformity of each level; None without an ordinal curve."""
    if not isinstance(curve, Logistic) or curve.cuts is None:
        return None
    labelled = fitting.sample
    given = labelled.labels[rows]
    levels = np.unique(labelled.labels).tolist()
    distances = np.array(
        [
            by_level.get(label, 1.0)
            for by_level, label in zip(
                _level_distances(curve, labelled, rows, min(levels)), given.tolist(), strict=True
            )
        ]
    )
    marginal = float(conformal_quantile(distances, fitting.alpha))
    return {
        level: float(conformal_quantile(distances[given == level], fitting.alpha))
        if fitting.coverage == "class"
        else marginal
        for level in levels
    }


def _distances(
    curve: Fitted, labelled: Sample, rows: Integers, conformal: Conformal
) -> list[Mapping[int, float]]:
    if conformal.levels is None or not isinstance(curve, Logistic):
        return [{}] * len(rows)
    return _level_distances(curve, labelled, rows, min(conformal.levels))


def _level_distances(
    curve: Logistic, labelled: Sample, rows: Integers, lowest: int
) -> list[Mapping[int, float]]:
    """Return the nonconformity of each level, for each row."""
    distances: list[Mapping[int, float]] = []
    for scores in labelled.scores[rows].tolist():
        shares = level_probabilities(curve, scores, lowest)
        distances.append(dict(zip(shares, ordinal_nonconformity([*shares.values()]), strict=True)))
    return distances


def _best_single(fitting: Fit, training: Integers, test: Integers) -> list[float]:
    """Return the area, on the test part, of the metric with the greatest area on the training part."""
    labelled = fitting.sample
    good = labelled.good
    if len(fitting.columns) < 2 or len(set(good[test].tolist())) < 2:
        return []
    signs = np.array([1 if column.metric.better == "higher" else -1 for column in fitting.columns])
    scores = labelled.scores * signs
    areas = [area_under_roc(scores[training, at], good[training]) for at in range(len(signs))]
    return [area_under_roc(scores[test, int(np.argmax(areas))], good[test])]
