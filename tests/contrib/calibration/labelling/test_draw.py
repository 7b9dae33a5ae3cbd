"""Which answers are labelled: half at random whatever their scores, half where the curve learns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.contrib.calibration.fit.curves import fit, probabilities
from pytest_evalstudio.contrib.calibration.labelling.cases import LabelledCase
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn, draw
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.stats.conformal import conformal_quantile, nonconformity
from support.labelled_answers import candidate


def candidates(count: int = 100, topics: int = 4) -> list[LabelledCase]:
    positions = np.random.default_rng(5).random(count)
    return [
        candidate(f"k{at:03}", "m", place=float(place), topic=str(at % topics))
        for at, place in enumerate(positions)
    ]


def logistic(those: Sequence[LabelledCase], cutoff: float) -> Any:
    """A curve that does not depend on labels."""
    return lambda rows: np.array([1 / (1 + np.exp(-20 * (case.place - cutoff))) for case in those])


def draw_cases(
    those: Sequence[LabelledCase], labelled: set[int] | None = None, **options: Any
) -> list[Drawn]:
    results = {"size": 40, "rounds": 4, "seed": 0, "probabilities": logistic(those, 0.5), **options}
    return draw(those, labelled or set(), **results)


def all_rounds(those: Sequence[LabelledCase], **options: Any) -> list[Drawn]:
    result: list[Drawn] = []
    while len(more := draw_cases(those, {entry.at for entry in result}, **options)) > len(result):
        result = more
    return result


def test_rounds_come_one_after_the_other() -> None:
    those = candidates()
    first = draw_cases(those)
    assert [entry.round for entry in first] == [1] * 10
    assert draw_cases(those, {entry.at for entry in first[:9]}) == first
    second = draw_cases(those, {entry.at for entry in first})
    assert second[:10] == first
    assert [entry.round for entry in second[10:]] == [2] * 10


@pytest.mark.parametrize(("size", "rounds"), [(40, 4), (41, 3), (40, 1), (99, 7), (100, 2)])
def test_half_of_each_sample_is_for_the_quantile(size: int, rounds: int) -> None:
    result = all_rounds(candidates(), size=size, rounds=rounds)
    assert len({entry.at for entry in result}) == len(result) == size
    assert Counter(entry.part for entry in result) == {"conformal": -(-size // 2), "curve": size // 2}
    counts = Counter(entry.round for entry in result)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_what_is_drawn_at_random_depends_on_neither_scores_nor_labels() -> None:
    those = candidates()
    mirrored = [candidate(case.key, case.model_key, place=1 - case.place, topic="") for case in those]
    parts = [
        {
            entry.at
            for entry in all_rounds(population, probabilities=logistic(population, cutoff))
            if entry.part == "conformal"
        }
        for population, cutoff in ((those, 0.5), (those, 0.9), (mirrored, 0.2))
    ]
    assert parts[0] == parts[1] == parts[2]


def test_it_is_a_random_sample() -> None:
    """Over many seeds each answer is drawn as often as any other."""
    those = candidates(50)
    counts = Counter(
        entry.at
        for seed in range(400)
        for entry in draw_cases(those, size=20, rounds=1, seed=seed)
        if entry.part == "conformal"
    )
    # each is drawn with a probability of 0.2: 80 times, standard deviation 8
    assert set(counts) == set(range(50))
    assert 80 - 5 * 8 < min(counts.values()) <= max(counts.values()) < 80 + 5 * 8
    assert np.std(list(counts.values())) < 12


def test_the_first_round_is_spread_over_scores_and_topics() -> None:
    those = candidates(400)
    spread = [entry for entry in draw_cases(those, size=40, rounds=2) if entry.part == "curve"]
    assert {entry.reason for entry in spread} == {"spread"}
    assert sorted(int(those[entry.at].place * 10) for entry in spread) == list(range(10))
    assert len({those[entry.at].topic for entry in spread}) > 1


def test_later_rounds_are_uncertain_but_for_one_in_five() -> None:
    those = candidates(400)
    result = all_rounds(those, size=40, rounds=2)
    second_round = [entry for entry in result if entry.round == 2 and entry.part == "curve"]
    assert Counter(entry.reason for entry in second_round) == {"uncertain": 8, "random": 2}
    doubtful = [those[entry.at].place for entry in second_round if entry.reason == "uncertain"]
    assert max(abs(place - 0.5) for place in doubtful) < 0.05


def test_without_a_curve_later_rounds_are_spread() -> None:
    assert {
        entry.reason
        for entry in all_rounds(candidates(), probabilities=lambda rows: None)
        if entry.part == "curve"
    } == {"spread"}


def test_what_is_labelled_stays_when_the_curve_changes() -> None:
    those = candidates(200)
    complete = all_rounds(those)
    labelled = {entry.at for entry in complete}
    second_draw = draw_cases(those, labelled, probabilities=logistic(those, 0.8))
    assert {entry.at for entry in second_draw} == labelled
    more = draw_cases(those, labelled, size=60, rounds=6, probabilities=logistic(those, 0.8))
    assert labelled < {entry.at for entry in more}


def test_what_is_labelled_stays_when_answers_come_and_go() -> None:
    those = candidates(200)
    order = {entry.at for entry in all_rounds(those) if entry.part == "conformal"}
    fewer = those[:-4]
    remaining = {entry.at for entry in all_rounds(fewer) if entry.part == "conformal"}
    assert len(order & remaining) >= len(order) - 4


def test_more_labels_than_answers_are_all_of_them() -> None:
    result = all_rounds(candidates(25))
    assert {entry.at for entry in result} == set(range(25))


def test_two_answers_of_one_score() -> None:
    ties = [candidate(str(at), "m", place=1.0) for at in range(30)]
    assert len(all_rounds(ties, size=20, rounds=2, probabilities=lambda rows: np.full(30, 0.5))) == 20


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 4])
def test_the_sets_cover_new_answers_though_the_curve_was_fitted_where_it_is_uncertain(rounds: int) -> None:
    """Mean coverage of answers never seen, over draws of everything: at least 0.9, by theory 0.905."""
    metric, covered = Metric("quality"), []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores, new = rng.beta(4, 1.5, 200), rng.beta(4, 1.5, 500)
        good, new_good = (
            rng.random(len(values)) < 1 / (1 + np.exp(-12 * (values - 0.65))) for values in (scores, new)
        )
        those = [candidate(f"{at:03}", "m", place=float(value)) for at, value in enumerate(scores)]

        def curve(rows: Any, scores: Any = scores, good: Any = good) -> Any:
            if len(set(good[rows])) < 2:
                return None
            return probabilities(
                fit(
                    "logistic",
                    scores[rows][:, None],
                    good[rows].astype(int),
                    good_from=1,
                    metrics=[metric],
                    seed=0,
                ),
                scores[:, None],
            )

        result = all_rounds(those, seed=seed, rounds=rounds, probabilities=curve)
        rows, others = (
            [entry.at for entry in result if entry.part == part] for part in ("curve", "conformal")
        )
        fitted = fit(
            "logistic", scores[rows][:, None], good[rows].astype(int), good_from=1, metrics=[metric], seed=0
        )
        quantile = conformal_quantile(
            nonconformity(probabilities(fitted, scores[others][:, None]), good[others]), 0.1
        )
        covered.append((nonconformity(probabilities(fitted, new[:, None]), new_good) <= quantile).mean())
    # standard deviation of one: 0.066 (Beta(19, 2)); of the mean of 60: 0.009
    assert np.mean(covered) == pytest.approx(0.905, abs=0.03)


def test_of_eleven_labels_for_the_curve_three_are_random() -> None:
    """One in five, and one for the rest of them."""
    second = [entry for entry in all_rounds(candidates(), size=44, rounds=2) if entry.round == 2]
    assert Counter(entry.reason for entry in second if entry.part == "curve") == {"random": 3, "uncertain": 8}
