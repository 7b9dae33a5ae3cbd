"""Figures of agreement against scikit-learn's and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, cohen_kappa_score, confusion_matrix, roc_auc_score

from pytest_evalstudio.stats.calibration import (
    BINS,
    area_under_roc,
    brier_score,
    calibration_error,
    error_rates,
)


def random_sample(seed: int, count: int = 120, *, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    probabilities = rng.random(count).round(1 if ties else 16)
    return probabilities, rng.random(count) < probabilities**2


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("ties", [False, True])
def test_area_and_brier_score_are_scikit_learns(seed: int, ties: bool) -> None:
    probabilities, good = random_sample(seed, ties=ties)
    assert area_under_roc(probabilities, good) == pytest.approx(roc_auc_score(good, probabilities))
    assert brier_score(probabilities, good) == pytest.approx(brier_score_loss(good, probabilities))


@pytest.mark.parametrize("seed", range(10))
def test_the_calibration_error_is_that_of_scikit_learns_bins(seed: int) -> None:
    probabilities, good = random_sample(seed)
    shares, means = calibration_curve(good, probabilities, n_bins=BINS, strategy="uniform")
    counts = np.histogram(probabilities, bins=np.linspace(0, 1, BINS + 1))[0]
    expected = (np.abs(shares - means) * counts[counts > 0]).sum() / len(good)
    assert calibration_error(probabilities, good) == pytest.approx(expected)


def test_the_calibration_error_of_what_is_certain_and_true_is_0() -> None:
    assert calibration_error(np.array([0.0, 1.0, 1.0]), np.array([False, True, True])) == 0.0
    assert calibration_error(np.array([1.0, 0.0]), np.array([False, True])) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_errors_are_those_of_the_confusion_matrix(seed: int) -> None:
    probabilities, good = random_sample(seed)
    passes = probabilities >= 0.5
    (bad_fails, bad_passes), (good_fails, good_passes) = confusion_matrix(good, passes)
    result = error_rates(passes, good)
    assert result.type_1 == pytest.approx(good_fails / (good_fails + good_passes))
    assert result.type_2 == pytest.approx(bad_passes / (bad_fails + bad_passes))
    assert result.kappa == pytest.approx(cohen_kappa_score(good, passes))
    assert result.type_1_interval[0] < result.type_1 < result.type_1_interval[1]


def test_errors_of_a_kind_that_does_not_occur_are_none() -> None:
    result = error_rates(np.array([True, False]), np.array([True, True]))
    assert (result.type_1, result.type_2, result.type_2_interval) == (0.5, None, None)
