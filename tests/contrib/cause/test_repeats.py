"""Decisions on repeats, against another implementation and by simulation."""

from __future__ import annotations

import random

import pytest
from scipy.stats import fisher_exact

from pytest_evalstudio.contrib.cause.repeats import (
    LEVEL,
    Counts,
    as_is_decision,
    more_often_p,
    trial_decision,
)


@pytest.mark.parametrize("counts", [Counts(4, 0), Counts(11, 9), Counts(3, 1), Counts(0, 3)])
@pytest.mark.parametrize("as_is", [Counts(0, 4), Counts(7, 13), Counts(1, 5)])
def test_the_exact_p_is_that_of_scipy(counts: Counts, as_is: Counts) -> None:
    table = [[counts.passed, counts.failed], [as_is.passed, as_is.failed]]
    assert more_often_p(counts, as_is) == pytest.approx(fisher_exact(table, alternative="greater")[1])


def test_an_application_that_passes_in_four_of_five_cases_is_hardly_ever_called_failing() -> None:
    rng = random.Random(1)
    ends = [_as_is(rng, pass_rate=0.8) for _ in range(4000)]
    # By Wald's bound, (0.2 / 0.8) ** 4 = 0.4 %.
    assert ends.count("fails") / len(ends) < 0.01
    assert ends.count("passes") / len(ends) > 0.98


def test_a_part_without_effect_hardly_ever_passes() -> None:
    rng = random.Random(2)
    ends = [_trial(rng, pass_rate=0.2, as_is=Counts(1, 5)) for _ in range(4000)]
    assert ends.count("passes") / len(ends) < 0.02


def _as_is(rng: random.Random, pass_rate: float) -> str:
    counts = Counts()
    while (decision := as_is_decision(counts, deterministic=False)) == "open":
        counts = counts.plus([rng.random() < pass_rate])
    return decision


def _trial(rng: random.Random, pass_rate: float, as_is: Counts) -> str:
    counts = Counts()
    while (decision := trial_decision(counts, as_is, LEVEL / 3, deterministic=False)) == "open":
        counts = counts.plus([rng.random() < pass_rate])
    return decision


def test_a_deterministic_application_needs_one_answer() -> None:
    assert as_is_decision(Counts(0, 1), deterministic=True) == "fails"
    assert trial_decision(Counts(1, 0), Counts(0, 1), LEVEL, deterministic=True) == "passes"
