"""Pass rates from labels and predictions: the formula of the paper, controls, and simulated coverage."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.prediction_powered import Setting, answers, labelled, simulate
from pytest_evalstudio.stats.clustered import clustered_share
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.prediction_powered import PredictionPowered
from pytest_evalstudio.stats.types import Floats

SETTING = Setting(questions=400, models=1, good=0.8, accuracy=0.9, labels=100)


def paper(truths: Floats, labelled_predictions: Floats, other_predictions: Floats) -> float:
    """PPI++ for a mean: equation 3 with the plug-in λ of section 6 (arXiv:2311.01453)."""
    n, others = len(truths), len(other_predictions)
    covariance = float(np.cov(truths, labelled_predictions)[0, 1])
    pooled = np.concatenate([labelled_predictions, other_predictions])
    tuning = covariance / ((1 + n / others) * float(np.var(pooled)))
    tuning = min(1.0, max(0.0, tuning))
    difference = float(other_predictions.mean() - labelled_predictions.mean())
    return float(truths.mean()) + tuning * difference


@pytest.mark.parametrize("accuracy", [0.6, 0.8, 0.95])
def test_one_stratum_gives_the_estimate_of_the_paper(accuracy: float) -> None:
    rng = np.random.default_rng(4)
    truths = (rng.random(500) < 0.7).astype(float)
    predictions = np.where(rng.random(500) < accuracy, truths, 1 - truths)
    labels = np.where(np.arange(500) < 100, truths, np.nan)
    powered = PredictionPowered(predictions, labels, np.zeros(500, dtype=np.int64), np.arange(500))
    estimate = powered.rate(np.ones(500, dtype=bool))
    assert estimate is not None
    assert estimate.value == pytest.approx(paper(truths[:100], predictions[:100], predictions[100:]))


def test_strata_give_the_stratified_mean() -> None:
    """By hand: 300 answers with 3 of 4 labels good, 100 with 1 of 4: 0.75 · 0.75 + 0.25 · 0.25."""
    strata = np.repeat([0, 1], [300, 100])
    labels = np.full(400, np.nan)
    labels[:4] = [1, 1, 1, 0]
    labels[300:304] = [1, 0, 0, 0]
    estimate = PredictionPowered(1.0 - strata, labels, strata, np.arange(400)).rate(np.ones(400, dtype=bool))
    assert estimate is not None
    assert estimate.value == pytest.approx(0.625)


def test_a_constant_prediction_gives_the_interval_of_the_labels_alone() -> None:
    labels = np.full(400, np.nan)
    labels[:40] = np.arange(40) < 30
    powered = PredictionPowered(np.ones(400), labels, np.zeros(400, dtype=np.int64), np.arange(400))
    estimate = powered.rate(np.ones(400, dtype=bool))
    assert powered.tuning == 0
    assert estimate is not None
    assert estimate.interval == pytest.approx(wilson_interval(30, 40, degrees=39))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_labels_of_a_few_questions_leave_doubt(value: float) -> None:
    labels = np.full(90, np.nan)
    labels[:20] = value
    every = np.ones(90, dtype=bool)
    estimate = PredictionPowered(
        np.full(90, value), labels, np.zeros(90, dtype=int), np.arange(90) // 2
    ).rate(every)
    assert estimate is not None
    assert estimate.interval == pytest.approx(wilson_interval(10 * value, 10, degrees=9))


def test_the_difference_of_a_model_to_its_copy_is_zero() -> None:
    labels = np.full(200, np.nan)
    labels[:40] = np.tile([1.0, 0.0], 20).repeat(2)[:40]
    sides = np.tile([True, False], 100)
    powered = PredictionPowered(
        np.repeat(np.arange(100) % 2, 2).astype(float), labels, np.zeros(200, dtype=int), np.arange(200) // 2
    )
    estimate = powered.difference(sides, ~sides)
    assert estimate is not None
    assert (estimate.value, *estimate.interval) == pytest.approx((0.0, 0.0, 0.0))


def test_a_stratum_without_labels_is_refused() -> None:
    labels = np.array([1.0, 0.0, np.nan, np.nan])
    with pytest.raises(ValueError, match="at least two labels"):
        PredictionPowered(np.ones(4), labels, np.array([0, 0, 1, 1]), np.arange(4))


def test_the_sample_of_a_budget_is_unbiased() -> None:
    """Strata are sampled with unequal probabilities; the mean over 2,000 samples is the run's own rate."""
    rng = np.random.default_rng(5)
    truths, scores, questions, _ = answers(rng, SETTING)
    passes = (scores >= 0.5).astype(np.int64)
    estimates = []
    for _ in range(2_000):
        labels = labelled(rng, truths, passes, np.array([30, 10]))
        estimate = PredictionPowered(passes.astype(float), labels, passes, questions).rate(
            np.ones(len(truths), dtype=bool)
        )
        assert estimate is not None
        estimates.append(estimate.value)
    error = float(np.std(estimates)) / np.sqrt(len(estimates))
    assert abs(float(np.mean(estimates)) - float(truths.mean())) < 3 * error
    assert error < 0.002


def test_simulated_intervals_cover_and_are_narrower_than_those_of_labels_alone() -> None:
    figures = simulate(SETTING, simulations=300, seed=1)
    assert min(figures.random.share, figures.budget.share) >= 0.94 - 2 * 0.0137
    assert max(figures.random.width, figures.budget.width) < 0.85 * figures.classical.width


@pytest.mark.parametrize(("accuracy", "low", "high"), [(0.5, 0.97, 1.01), (1.0, 0.5, 0.65)])
def test_controls_guess_and_perfect_evaluator(accuracy: float, low: float, high: float) -> None:
    setting = Setting(questions=400, models=1, good=0.8, accuracy=accuracy, labels=100)
    figures = simulate(setting, simulations=100, seed=2)
    assert low <= figures.random.width / figures.classical.width <= high
    assert low <= figures.budget.width / figures.classical.width <= high


def test_differences_cover_and_are_narrower_than_those_of_labels_alone() -> None:
    setting = Setting(questions=100, models=2, good=0.8, accuracy=0.9, labels=80, correlation=0.4)
    figures = simulate(setting, simulations=300, seed=3)
    assert figures.difference.share >= 0.94 - 2 * 0.0137
    assert figures.difference.width < 0.95 * figures.difference_alone.width


def test_a_rate_is_not_below_zero() -> None:
    """The corrected mean of these rows is -0.1: both labels are bad, with high predictions."""
    predictions = np.array([0.1, 0.1, 0.9, 0.6, 0.5, 0.2, 0.7, 0.3, 0.7, 0.5, 0.5, 0.8])
    labels = np.array([0, 0, 1, np.nan, 0, np.nan, 0, np.nan, np.nan, 0, np.nan, np.nan])
    strata = np.array([1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0])
    rows = np.array([0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1], dtype=bool)
    estimate = PredictionPowered(predictions, labels, strata, np.arange(12)).rate(rows)
    assert estimate is not None
    assert estimate.value == 0.0
    low, high = estimate.interval
    assert 0.0 <= low < high <= 1.0


def test_labels_of_one_question_are_worth_what_clusters_are() -> None:
    """Constant predictions, all labelled: the interval is that of the clustered share."""
    good = [3, 0, 3, 2, 3, 1, 3, 3, 0, 3, 3, 2]
    labels = np.concatenate([np.repeat([1.0, 0.0], [count, 3 - count]) for count in good])
    powered = PredictionPowered(
        np.ones(36), labels, np.zeros(36, dtype=np.int64), np.repeat(np.arange(12), 3)
    )
    estimate = powered.rate(np.ones(36, dtype=bool))
    share = clustered_share(good, [3] * 12)
    assert estimate is not None
    assert estimate.value == pytest.approx(26 / 36)
    assert estimate.interval == pytest.approx(
        wilson_interval(26 / 36 * share.effective, share.effective, degrees=11)
    )


def test_labels_of_a_single_question_leave_one_degree_of_freedom() -> None:
    """Wilson's lower bound of 1 of 1 is 1 / (1 + t²); Student's quantile with 1 degree is tan(0.475 π)."""
    labels = np.array([1.0, 1.0, np.nan, np.nan])
    powered = PredictionPowered(np.ones(4), labels, np.zeros(4, dtype=np.int64), np.array([0, 0, 1, 2]))
    estimate = powered.rate(np.ones(4, dtype=bool))
    assert estimate is not None
    assert estimate.interval == pytest.approx((1 / (1 + np.tan(0.475 * np.pi) ** 2), 1.0))
