"""The state of a labelling: labels of which answers count for which statement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.calibration.labelling.cases import choose_population
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling, labelling, labelling_of
from pytest_evalstudio.formats.labels import Label
from support.labelled_answers import drawn_scores, judged, record_of

RANDOM = {"k000": 1, "k002": 0, "k004": 1}
FOR_CURVE = {"k001": 1, "k003": 0}


def labelled(folder: Path, labels: dict[str, int]) -> Labelling:
    record = record_of(folder, [0.1, 0.3, 0.5, 0.7, 0.9, 0.95])
    population = choose_population(record, read_scores([record]), ["quality.quality"])
    at = {key: number for number, key in enumerate(f"k{number:03}" for number in range(6))}
    draws = [Drawn(at=at[key], round=1, part="conformal", reason="random") for key in RANDOM]
    draws += [Drawn(at=at[key], round=1, part="curve", reason="uncertain") for key in FOR_CURVE]
    ratings = [Label(key=key, model_key="m-one", label=label) for key, label in labels.items()]
    return labelling_of(population, ratings, draws)


def test_labels_for_the_curve_are_not_among_those_drawn_at_random(tmp_path: Path) -> None:
    state = labelled(tmp_path, RANDOM | FOR_CURVE)

    assert state.done == 5
    assert state.at_random == {(key, "m-one") for key in RANDOM}
    assert state.good_at_random == {(key, "m-one"): bool(label) for key, label in RANDOM.items()}


def test_answers_without_a_label_or_that_were_not_drawn_are_neither_good_nor_bad(tmp_path: Path) -> None:
    state = labelled(tmp_path, {"k000": 1, "k001": 1, "k005": 0})

    assert state.good_at_random == {("k000", "m-one"): True}
    assert state.beyond == 1


def rated(state: Labelling, rater: str = "") -> list[Label]:
    """Labels of all answers drawn so far, by their scores."""
    judge = judged(doubt=0.0)
    return [
        Label(
            key=case.key,
            model_key=case.model_key,
            label=judge(case.key, case.scores["quality.quality"]),
            rater=rater,
            answer_id=case.answer_id,
        )
        for case in state.cases
    ]


def test_rounds_are_drawn_until_all_labels_are_given(tmp_path: Path) -> None:
    record = record_of(tmp_path, drawn_scores(60))
    population = choose_population(record, read_scores([record]), ["quality.quality"])
    state = labelling(population, [], size=20, rounds=2, seed=1)
    assert (len(state.drawn), state.done, state.wanted, state.is_complete) == (10, 0, 20, False)
    first = rated(state)
    state = labelling(population, first, size=20, rounds=2, seed=1)
    assert (len(state.drawn), state.done, state.is_complete) == (20, 10, False)
    reasons = [each.reason for each in state.drawn if each.round == 2 and each.part == "curve"]
    assert "uncertain" in reasons, "the curve of the first round's labels draws the second"
    assert "spread" not in reasons
    state = labelling(population, rated(state), size=20, rounds=2, seed=1)
    assert (state.done, state.is_complete, state.is_exhaustive) == (20, True, False)
    results = state.results()
    assert (results.metrics, results.labelled, results.wanted) == (("quality.quality",), 20, 20)


def test_labels_of_one_kind_draw_the_next_round_without_a_curve(tmp_path: Path) -> None:
    record = record_of(tmp_path, drawn_scores(60))
    population = choose_population(record, read_scores([record]), ["quality.quality"])
    first = [replace(label, label=1) for label in rated(labelling(population, [], size=20, rounds=2, seed=1))]
    state = labelling(population, first, size=20, rounds=2, seed=1)
    assert {each.reason for each in state.drawn if each.part == "curve"} == {"spread"}


def test_more_labels_than_answers_are_complete_with_all_of_them(tmp_path: Path) -> None:
    record = record_of(tmp_path, [0.1, 0.4, 0.6, 0.9])
    population = choose_population(record, read_scores([record]), ["quality.quality"])
    state = labelling(
        population, rated(labelling(population, [], size=9, rounds=1, seed=1)), size=9, rounds=1, seed=1
    )
    assert (state.wanted, state.is_complete, state.is_exhaustive) == (4, True, True)


def test_labels_that_do_not_count_are_counted_by_their_reason(tmp_path: Path) -> None:
    record = record_of(tmp_path, drawn_scores(20))
    population = choose_population(record, read_scores([record]), ["quality.quality"])
    state = labelling(population, [], size=4, rounds=1, seed=1)
    full_state = labelling(population, [], size=20, rounds=1, seed=1)
    positions = {each.at for each in state.drawn}
    next_entry = next(
        each for each in full_state.drawn if each.part == "conformal" and each.at not in positions
    )
    other = population.cases[next_entry.at]
    first, second, *_ = rated(state)
    ratings = [
        first,
        replace(second, answer_id="a1"),
        Label(key=other.key, model_key=other.model_key, label=1),
        Label(key="gone", model_key="m-one", label=1),
        Label(key="gone too", model_key="m-one", label=1),
    ]
    results = labelling(population, ratings, size=4, rounds=1, seed=1).results()
    assert results.labelled == 1
    assert results.not_counted == {"outdated": 1, "not_drawn": 1, "unknown": 2}


def test_levels_are_good_from_the_one_that_is_named(tmp_path: Path) -> None:
    record = record_of(tmp_path, [0.1, 0.4, 0.6, 0.9])
    population = choose_population(record, read_scores([record]), ["quality.quality"])
    ratings = [Label(key=f"k00{number}", model_key="m-one", label=number + 1) for number in range(3)]
    divided = [replace(ratings[0], rater="bo", label=5)]
    state = labelling(population, [*ratings, *divided], size=4, rounds=1, seed=1, good_from=3)
    assert [state.is_good((f"k00{number}", "m-one")) for number in range(4)] == [None, False, True, None]
    assert state.results().divided == ("k000",)
