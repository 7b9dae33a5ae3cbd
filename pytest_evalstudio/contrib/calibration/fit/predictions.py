"""Predictions for labelled answers that the curve was not fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from pytest_evalstudio.contrib.calibration.fit.curves import Fitted, Trees, fit, probabilities
from pytest_evalstudio.contrib.calibration.fit.sample import LabelledSample
from pytest_evalstudio.record.score_table import Column
from pytest_evalstudio.scoring.calibration.conformal import (
    ConformalSet,
    conformal_set,
    has_levels,
    level_distances,
)
from pytest_evalstudio.scoring.calibration.curve import level_probabilities
from pytest_evalstudio.scoring.calibration.file import Conformal, Coverage, Method
from pytest_evalstudio.stats.calibration import area_under_roc
from pytest_evalstudio.stats.conformal import conformal_quantile, nonconformity
from pytest_evalstudio.stats.risk import Cut, choose_cut
from pytest_evalstudio.stats.risk_rule import RiskRule
from pytest_evalstudio.stats.types import Booleans, Floats, Integers

LIMITED = ("max_type_i", "max_type_ii")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Labels, and the settings that a calibration is made with.

    Attributes:
        method: of the curve.
        alpha: share of labels that conformal sets may miss.
        coverage: "class" or "marginal".
        rule: of the cut.
        seed: of folds and halves.
        chooses: one of the columns is chosen by the labels, in each fold anew.
    """

    sample: LabelledSample
    columns: tuple[Column, ...]
    method: Method
    alpha: float
    coverage: Coverage
    rule: RiskRule
    seed: int
    chooses: bool = False

    def curve(self, rows: Integers) -> Fitted:
        """Return the curve that is fitted to some rows."""
        return fit(
            self.method,
            self.sample.scores[rows],
            self.sample.labels[rows],
            good_from=self.sample.good_from,
            metrics=[column.metric for column in self.columns],
            seed=self.seed,
        )

    def chosen(self, rows: Integers) -> Fit:
        """Return the settings for the column that some rows choose; the same if nothing is to be chosen."""
        if not self.chooses:
            return self
        at = _best_column(self, rows)
        sample = replace(self.sample, scores=self.sample.scores[:, [at]])
        return replace(self, sample=sample, columns=(self.columns[at],), chooses=False)

    def cut(self, curve: Fitted, rows: Integers) -> Cut:
        """Return the cut that the rule chooses by the labels of some rows."""
        likely = probabilities(curve, self.sample.scores[rows])
        good = self.sample.good[rows].astype(np.float64)
        # A limit has a margin of one answer, see `choose_cut`; the other rules have no limit to keep.
        return choose_cut(likely, good, self.rule, margin=int(self.rule.rule in LIMITED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """Predictions in the order of the tested answers.

    Attributes:
        tested: answers that curve, cut and quantiles have not seen; without folds the cut has seen their
            scores.
        probabilities: of a good answer.
        passes: verdicts by the cut.
        sets: by the quantiles of other labels.
        folds: number of the fold that an answer was tested in.
        single_areas: area under the ROC curve, in each fold, of the single metric that is best in its
            training part.
        levels: in rising order; () where the curve has none.
        level_probabilities: answers × levels, each row sums to 1; without columns where the curve has no
            levels.
    """

    tested: LabelledSample
    probabilities: Floats
    passes: Booleans
    sets: tuple[ConformalSet, ...]
    folds: Integers
    single_areas: tuple[float, ...]
    levels: tuple[int, ...]
    level_probabilities: Floats


def cross_validated(fitting: Fit) -> Predictions:
    """Return the predictions of a cross-validation whose folds divide questions."""
    labelled = fitting.sample
    size = len(labelled)
    likely = np.empty(size)
    passes, folds = np.empty(size, dtype=np.bool_), np.empty(size, dtype=np.int64)
    sets: dict[int, ConformalSet] = {}
    shares: dict[int, dict[int, float]] = {}
    singles = []
    for number, (training, test) in enumerate(labelled.folds(fitting.seed)):
        fold = fitting.chosen(training)
        rows, others = labelled.halves(training, fitting.seed)
        curve = fold.curve(rows)
        conformal = conformal_of(fold, curve, others)
        scores = fold.sample.scores[test]
        likely[test] = probabilities(curve, scores)
        passes[test] = likely[test] >= fold.cut(curve, training).probability
        folds[test] = number
        shares |= zip(test.tolist(), _level_shares(curve, scores, labelled), strict=True)
        sets |= zip(test.tolist(), _sets(curve, conformal, likely[test], scores), strict=True)
        singles += _best_single(fold, training, test)
    return Predictions(
        tested=labelled,
        probabilities=likely,
        passes=passes,
        sets=tuple(sets[row] for row in range(size)),
        folds=folds,
        single_areas=tuple(singles),
        **_by_level([shares[row] for row in range(size)]),
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
    return Predictions(
        tested=tested,
        probabilities=likely,
        passes=likely >= cut.probability,
        sets=tuple(_sets(curve, conformal, likely, tested.scores)),
        folds=np.zeros(len(others), dtype=np.int64),
        single_areas=tuple(_best_single(fitting, rows, others)),
        **_by_level(_level_shares(curve, tested.scores, fitting.sample)),
    )


class _ByLevel(TypedDict):
    levels: tuple[int, ...]
    level_probabilities: Floats


def _level_shares(curve: Fitted, scores: Floats, labelled: LabelledSample) -> list[dict[int, float]]:
    """Return the probability of each level for each row of scores; empty ones for a curve without levels."""
    if not has_levels(curve):
        return [{} for _ in scores]
    lowest = int(labelled.labels.min())
    return [level_probabilities(curve, row, lowest) for row in scores.tolist()]


def _by_level(shares: list[dict[int, float]]) -> _ByLevel:
    """Return the probabilities as a table; a level that a fold has not seen has the probability 0 there."""
    # A fold whose labels have two levels has none.
    levels = tuple(sorted({level for row in shares for level in row})) if all(shares) else ()
    table = np.array([[row.get(level, 0.0) for level in levels] for row in shares], dtype=np.float64)
    return _ByLevel(levels=levels, level_probabilities=table.reshape(len(shares), len(levels)))


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
    """Return the quantile of the nonconformity of each level; None for a curve without levels."""
    if not has_levels(curve):
        return None
    labelled = fitting.sample
    levels_of_rows = labelled.labels[rows]
    levels = np.unique(labelled.labels).tolist()
    distances = np.array(
        [
            # A level that the curve has not seen is the farthest.
            level_distances(curve, scores, min(levels)).get(label, 1.0)
            for scores, label in zip(labelled.scores[rows].tolist(), levels_of_rows.tolist(), strict=True)
        ]
    )
    marginal = float(conformal_quantile(distances, fitting.alpha))
    return {
        level: float(conformal_quantile(distances[levels_of_rows == level], fitting.alpha))
        if fitting.coverage == "class"
        else marginal
        for level in levels
    }


def _sets(curve: Fitted, conformal: Conformal, likely: Floats, scores: Floats) -> Iterator[ConformalSet]:
    saved = None if isinstance(curve, Trees) else curve
    for likelihood, row in zip(likely.tolist(), scores.tolist(), strict=True):
        yield conformal_set(conformal, likelihood, saved, row)


def _best_single(fitting: Fit, training: Integers, test: Integers) -> list[float]:
    """Return the area, on the test part, of the metric with the greatest area on the training part."""
    good = fitting.sample.good[test]
    if len(fitting.columns) < 2 or len(set(good.tolist())) < 2:
        return []
    return [area_under_roc(_directed_scores(fitting, test)[:, _best_column(fitting, training)], good)]


def _best_column(fitting: Fit, rows: Integers) -> int:
    """Return the column with the greatest area under the ROC curve on some rows, the first of equals."""
    good, scores = fitting.sample.good[rows], _directed_scores(fitting, rows)
    return int(np.argmax([area_under_roc(column, good) for column in scores.T]))


def _directed_scores(fitting: Fit, rows: Integers) -> Floats:
    """Return the scores of some rows with a sign that makes the higher one the better one."""
    signs: Floats = np.array(
        [1.0 if column.metric.better == "higher" else -1.0 for column in fitting.columns]
    )
    result: Floats = fitting.sample.scores[rows] * signs
    return result
