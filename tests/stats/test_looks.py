"""Evidence of a drop over many looks: by hand, by integration, and by simulated streams."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from pytest_evalstudio.stats.looks import (
    EFFECT_SCALE,
    drop_evidence,
    look_weight,
    mixture_evidence,
    spent_share,
)


@pytest.mark.parametrize("information", [0.5, 1.0, 7.0])
@pytest.mark.parametrize("statistic", [-2.0, 0.0, 3.0])
def test_evidence_is_the_likelihood_ratio_mixed_over_drops(statistic: float, information: float) -> None:
    score = statistic * math.sqrt(information)

    def ratio(drop: float) -> float:
        prior = 2 * norm.pdf(drop / EFFECT_SCALE) / EFFECT_SCALE
        return float(prior * math.exp(drop * score - drop**2 * information / 2))

    expected, _ = quad(ratio, 0, 60)
    assert mixture_evidence(statistic, information) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("information", [0.5, 1.0, 7.0])
def test_the_mean_of_the_evidence_without_a_drop_is_one(information: float) -> None:
    mean, _ = quad(lambda z: norm.pdf(z) * mixture_evidence(z, information), -60, 60)
    assert mean == pytest.approx(1.0, abs=1e-3)


def test_the_weights_of_all_looks_are_the_whole_budget() -> None:
    assert sum(map(look_weight, range(1, 1000))) == pytest.approx(spent_share(999))
    assert spent_share(10**9) == pytest.approx(1.0)


def test_one_look_is_the_sign_flip_statistic() -> None:
    base, new = np.ones(10), np.array([0.0] * 4 + [1.0] * 6)
    expected = 0.5 + 0.5 * mixture_evidence(4 / math.sqrt(4), 0.5)
    assert drop_evidence(np.vstack([base, new])) == pytest.approx(expected)


def test_scores_that_do_not_change_are_no_evidence() -> None:
    assert drop_evidence(np.ones((1, 5))) == 1.0
    assert drop_evidence(np.ones((30, 5))) < 1.0
    assert drop_evidence(np.full((2, 3), np.nan)) <= 1.0
    assert drop_evidence(np.ones((3, 0))) <= 1.0


def test_a_lucky_baseline_is_no_drop_however_often_it_is_looked_at() -> None:
    rng = np.random.default_rng(3)
    runs = (rng.random((201, 30)) < 0.97).astype(float)
    runs[0] = 1.0
    assert max(drop_evidence(runs[: look + 1]) for look in range(1, 201, 10)) < 20


def test_cases_without_a_score_in_some_runs_count_by_the_others() -> None:
    rng = np.random.default_rng(4)
    baseline = (rng.random((6, 300)) < 0.9).astype(float)
    worse = (rng.random((3, 300)) < 0.6).astype(float)
    scores = np.vstack([baseline, worse])
    scores[2, ::2] = np.nan
    scores[7, ::3] = np.nan
    assert drop_evidence(scores) > 20
