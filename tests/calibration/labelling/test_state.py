"""The state of a labelling: labels of which answers count for which statement."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.calibration.labelling.cases import choose_population
from pytest_evalstudio.calibration.labelling.draw import Drawn
from pytest_evalstudio.calibration.labelling.state import Labelling, labelling_of
from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.validation.stored_scores import read_scores
from support.labelled_answers import record_of

RANDOM = {"k000": 1, "k002": 0, "k004": 1}
FOR_CURVE = {"k001": 1, "k003": 0}


def labelled(folder: Path, labels: dict[str, int]) -> Labelling:
    record = record_of(folder, [0.1, 0.3, 0.5, 0.7, 0.9, 0.95])
    population = choose_population(record, read_scores([record]), ["quality.quality"])
    at = {key: number for number, key in enumerate(f"k{number:03}" for number in range(6))}
    drawn = [Drawn(at=at[key], round=1, part="conformal", reason="random") for key in RANDOM]
    drawn += [Drawn(at=at[key], round=1, part="curve", reason="uncertain") for key in FOR_CURVE]
    ratings = [Label(key=key, model_key="m-one", label=label) for key, label in labels.items()]
    return labelling_of(population, ratings, drawn)


def test_labels_for_the_curve_are_not_among_those_drawn_at_random(tmp_path: Path) -> None:
    state = labelled(tmp_path, RANDOM | FOR_CURVE)

    assert state.done == 5
    assert state.at_random == {(key, "m-one") for key in RANDOM}
    assert state.good_at_random == {(key, "m-one"): bool(label) for key, label in RANDOM.items()}


def test_answers_without_a_label_or_that_were_not_drawn_are_neither_good_nor_bad(tmp_path: Path) -> None:
    state = labelled(tmp_path, {"k000": 1, "k001": 1, "k005": 0})

    assert state.good_at_random == {("k000", "m-one"): True}
    assert state.beyond == 1
