"""Multinomial calibration: weights, figures and sets compared with other implementations; controls."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.calibration.fit.calibrate import Calibrated, calibrate
from pytest_evalstudio.contrib.calibration.fit.curves import fit, probabilities
from pytest_evalstudio.contrib.calibration.fit.description import describe
from pytest_evalstudio.contrib.calibration.fit.figures import level_agreement
from pytest_evalstudio.contrib.calibration.fit.predictions import Predictions
from pytest_evalstudio.contrib.calibration.fit.results import LeftOut, RefusalCode
from pytest_evalstudio.contrib.calibration.fit.sample import LabelledSample, TooFewLabels
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.formats.labels import read_labels
from pytest_evalstudio.scoring.calibration.conformal import conformal_set
from pytest_evalstudio.scoring.calibration.curve import level_probabilities, probability, threshold
from pytest_evalstudio.scoring.calibration.file import Calibration, Softmax, load_calibration
from support.labelled import write_labels, write_record

NONE_LEFT_OUT = LeftOut(without_answer=0, without_score={})


def graded(count: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return scores, and levels 1 to 3 that rise with them."""
    rng = np.random.default_rng(seed)
    scores = rng.random(count)
    return scores, 1 + np.digitize(scores + rng.normal(0, noise, count), [0.35, 0.7])


def fitted(scores: np.ndarray, labels: np.ndarray, *metrics: Metric, good_from: int = 3) -> Softmax:
    curve = fit("multinomial", scores, labels, good_from=good_from, metrics=metrics, seed=0)
    assert isinstance(curve, Softmax)
    return curve


def calibrated(folder: Path, scores: Any, labels: Any, **options: Any) -> Calibrated:
    record = write_record(folder, list(scores), **{k: options.pop(k) for k in ("better",) if k in options})
    table = read_labels(write_labels(folder / "labels.csv", list(labels)), levels=True)
    return calibrate(
        read_scores([record]), table, ["quality"], **{"method": "multinomial", "good_from": 3, **options}
    )


@pytest.mark.parametrize("width", [1, 2])
def test_weights_and_probabilities_are_those_of_the_penalised_likelihood(width: int) -> None:
    rng = np.random.default_rng(5)
    scores = rng.random((300, width))
    labels = 1 + np.digitize(scores.sum(axis=1) / width + rng.normal(0, 0.2, 300), [0.35, 0.7])
    curve = fitted(scores, labels, *(Metric(f"m{number}") for number in range(width)))
    standard = (scores - scores.mean(axis=0)) / scores.std(axis=0)

    def loss(parameters: np.ndarray) -> float:
        intercepts, weights = parameters[:3], parameters[3:].reshape(3, width)
        exponents = standard @ weights.T + intercepts
        likelihood = exponents[np.arange(300), labels - 1] - logsumexp(exponents, axis=1)
        return float((weights**2).sum() / 2 - likelihood.sum() + intercepts.sum() ** 2)

    best = minimize(loss, np.zeros(3 + 3 * width), method="BFGS", options={"gtol": 1e-7}).x
    assert curve.levels == [1, 2, 3]
    assert curve.intercepts == pytest.approx(best[:3].tolist(), abs=1e-4)
    assert np.array(curve.weights) == pytest.approx(best[3:].reshape(3, width), abs=1e-4)
    assert np.sum(curve.weights, axis=0) == pytest.approx(0.0, abs=1e-5)
    exponents = standard @ best[3:].reshape(3, width).T + best[:3]
    expected = np.exp(exponents - logsumexp(exponents, axis=1, keepdims=True))
    table = np.array([[*level_probabilities(curve, row).values()] for row in scores.tolist()])
    assert table == pytest.approx(expected, abs=1e-4)
    assert table.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert probabilities(curve, scores) == pytest.approx(table[:, 2])


def test_probabilities_by_hand() -> None:
    curve = Softmax(
        levels=[1, 2, 5],
        good_from=2,
        intercepts=[0.0, math.log(2), 0.0],
        weights=[[0.0], [0.0], [math.log(3)]],
        means=[0.5],
        scales=[0.5],
        logs=[False],
    )
    # At the score 1, one scale above the mean, the levels are as 1 : 2 : 3.
    assert level_probabilities(curve, [1.0]) == pytest.approx({1: 1 / 6, 2: 2 / 6, 5: 3 / 6})
    assert probability(curve, [1.0]) == pytest.approx(5 / 6)
    assert sum(level_probabilities(curve, [1e300]).values()) == 1.0


def test_a_middle_level_with_another_shape_is_predicted_where_ordinal_regression_cannot(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(3)
    scores = rng.random(300)
    # Level 2 for low and for high scores alike: no order of the levels fits.
    labels = np.where(scores < 0.3, 2, np.where(scores < 0.6, 1, np.where(rng.random(300) < 0.7, 3, 2)))
    losses = [
        calibrated(tmp_path / method, scores, labels, method=method).figures.levels.log_loss
        for method in ("multinomial", "ordinal")
    ]
    assert losses[0] < losses[1] - 0.02


def test_a_perfect_metric_predicts_each_level(tmp_path: Path) -> None:
    scores, labels = graded(240, 0.0)
    result = calibrated(tmp_path, scores, labels)
    levels = result.figures.levels
    assert result.figures.is_accepted
    assert levels is not None
    assert levels.accuracy > 0.93
    assert levels.weighted_kappa is not None
    assert levels.weighted_kappa > 0.93
    assert levels.log_loss < 0.5 * levels.log_loss_of_shares
    assert result.figures.threshold == pytest.approx(0.7, abs=0.05)


def test_a_metric_that_says_nothing_is_refused_and_no_better_than_the_shares(tmp_path: Path) -> None:
    scores, labels = graded(240, 0.1)
    result = calibrated(tmp_path, np.random.default_rng(8).permutation(scores), labels)
    levels = result.figures.levels
    assert RefusalCode.AUC_HOLDS_HALF in {refusal.code for refusal in result.figures.refusals}
    assert levels is not None
    assert levels.log_loss > levels.log_loss_of_shares - 0.02
    assert abs(levels.weighted_kappa or 0.0) < 0.2
    assert levels.accuracy < 0.5


def test_figures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(9)
    table = rng.dirichlet([1.0, 1.0, 1.0], 90)
    labels = rng.integers(1, 4, 90)
    tested = LabelledSample(table[:, :1], labels, 3, np.arange(90), NONE_LEFT_OUT)
    predicted = Predictions(
        tested=tested,
        probabilities=table[:, 2],
        passes=table[:, 2] > 0.5,
        sets=(),
        folds=np.zeros(90, dtype=np.int64),
        single_areas=(),
        levels=(1, 2, 3),
        level_probabilities=table,
    )
    levels = level_agreement(predicted, 0)
    likeliest = 1 + table.argmax(axis=1)
    shares = np.bincount(labels)[1:] / 90
    assert levels is not None
    assert levels.log_loss == pytest.approx(log_loss(labels, table, labels=[1, 2, 3]))
    assert levels.log_loss_of_shares == pytest.approx(log_loss(labels, np.tile(shares, (90, 1))))
    assert levels.accuracy == pytest.approx(accuracy_score(labels, likeliest))
    assert levels.weighted_kappa == pytest.approx(cohen_kappa_score(labels, likeliest, weights="quadratic"))
    errors = []
    for level in (1, 2, 3):
        p, y = table[:, level - 1], labels == level
        bins = [(p >= low / 10) & (p < (low + 1) / 10) for low in range(10)]
        errors.append(sum(abs(y[rows].mean() - p[rows].mean()) * rows.mean() for rows in bins if rows.any()))
    assert levels.level_calibration_error == pytest.approx(np.mean(errors))


def test_too_few_labels_of_a_level_are_refused_by_number(tmp_path: Path) -> None:
    scores, labels = graded(120, 0.05)
    labels[np.flatnonzero(labels == 1)[4:]] = 2
    with pytest.raises(
        TooFewLabels,
        match=r"^too few labels, 4 of level 1: multinomial calibration needs 10 of each level; label"
        r" more, join levels, or use --method ordinal",
    ):
        calibrated(tmp_path, scores, labels)


def test_labels_with_two_levels_are_calibrated_by_logistic_regression(tmp_path: Path) -> None:
    scores, labels = graded(160, 0.1)
    binary = np.where(labels == 3, 3, 1)
    multinomial, logistic = (
        calibrated(tmp_path / method, scores, binary, method=method) for method in ("multinomial", "logistic")
    )
    assert multinomial.figures.threshold == logistic.figures.threshold
    assert multinomial.figures.levels is None
    assert "multinomial regression is logistic regression" in multinomial.figures.notes[0]


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_what_is_saved_is_read_and_gives_the_same(tmp_path: Path, better: str) -> None:
    scores, labels = graded(240, 0.1)
    scores = scores if better == "higher" else 1 - scores
    result = calibrated(tmp_path, scores, labels, better=better)
    result.save(tmp_path / "saved.json")
    loaded_calibration = load_calibration(tmp_path / "saved.json")
    assert loaded_calibration == result.calibration
    assert (loaded_calibration.version, loaded_calibration.method) == (2, "multinomial")
    assert loaded_calibration.figures["accuracy"] == result.figures.levels.accuracy
    limit = threshold(loaded_calibration)
    assert limit == result.figures.threshold
    assert probability(loaded_calibration.curve, [limit]) == pytest.approx(loaded_calibration.cut, abs=1e-9)
    lines = "\n".join(describe(result.figures))
    for name in ("log loss of levels", "accuracy of levels", "weighted kappa", "level calibration error"):
        assert name in lines


def test_no_threshold_where_the_probability_of_good_levels_does_not_rise_all_the_way() -> None:
    shape = {"levels": [1, 2, 3], "intercepts": [0.0] * 3, "means": [0.5], "scales": [0.1], "logs": [False]}
    parts = {
        "evalstudio_calibration": 2,
        "method": "multinomial",
        "metrics": [{"evaluator": "quality", "metric": "quality"}],
        "labels": 60,
        "conformal": {"alpha": 0.1, "quantile": 0.5, "labels": 60},
    }

    def of(*weights: float, good_from: int) -> float | None:
        curve = {"kind": "softmax", "good_from": good_from, "weights": [[w] for w in weights], **shape}
        return threshold(Calibration.model_validate({**parts, "curve": curve}))

    assert of(-1.0, 2.0, 1.0, good_from=3) is None
    assert of(1.0, 0.0, -1.0, good_from=3) is None
    # Between a bad level and two equal good ones the probability 1/2 is at exp(w x) = 1/2.
    assert of(0.0, 1.0, 1.0, good_from=2) == pytest.approx(0.5 - 0.1 * math.log(2))


def test_sets_of_levels_hold_the_level_of_new_answers_as_often_as_they_say(tmp_path: Path) -> None:
    scores, labels = graded(600, 0.15)
    saved = calibrated(tmp_path, scores, labels, coverage="marginal").calibration
    assert saved is not None
    new_scores, new_labels = graded(4_000, 0.15, seed=77)
    sets = [
        conformal_set(saved.conformal, probability(saved.curve, [score]), saved.curve, [score]).levels
        for score in new_scores.tolist()
    ]
    covered = np.mean([label in levels for label, levels in zip(new_labels, sets, strict=True)])
    # 300 labels give the quantile: the coverage varies by ± 0.035 around 0.9 (two standard deviations).
    assert 0.865 <= covered <= 0.935
