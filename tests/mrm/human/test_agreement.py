"""Agreement of raters, against published examples and other implementations."""

from __future__ import annotations

import itertools
import random

import pytest
from nltk.metrics.agreement import AnnotationTask
from sklearn.metrics import cohen_kappa_score

from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.mrm.human.agreement import agreement, krippendorff_alpha


def rows(*raters: str) -> list[list[str]]:
    """Units of raters' lines, `.` for none."""
    return [
        [said for said in unit if said != "."]
        for unit in zip(*(line.split() for line in raters), strict=True)
    ]


@pytest.mark.parametrize(
    ("units", "alpha"),
    [
        pytest.param(rows("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"), 0.095, id="A, binary, two raters"),
        pytest.param(
            rows("a a b b d c c c e d d a", "b a b b b c c c e d d d"), 0.692, id="B, nominal, two raters"
        ),
        pytest.param(
            rows(
                "1 2 3 3 2 1 4 1 2 . . .",
                "1 2 3 3 2 2 4 1 2 5 . 3",
                ". 3 3 3 2 3 4 2 2 5 1 .",
                "1 2 3 3 2 4 4 1 2 5 1 .",
            ),
            0.743,
            id="C, nominal, four raters, values missing",
        ),
    ],
)
def test_alpha_of_the_examples_in_krippendorffs_paper(units: list[list[str]], alpha: float) -> None:
    assert krippendorff_alpha(units) == pytest.approx(alpha, abs=0.0005)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_nltks(seed: int) -> None:
    rng = random.Random(seed)
    said = [(rater, item, rng.choice("110")) for rater in "xyz" for item in range(20) if rng.random() < 0.8]
    units = [[label for _, one, label in said if one == item] for item in range(20)]
    assert krippendorff_alpha(units) == pytest.approx(
        AnnotationTask([entry for entry in said if len(units[entry[1]]) > 1]).alpha()
    )


@pytest.mark.parametrize("units", [[], [[1], [0]], [[1, 1], [1, 1, 1]]])
def test_alpha_says_nothing_where_nothing_varies(units: list[list[int]]) -> None:
    assert krippendorff_alpha(units) is None


def test_figures_of_two_raters() -> None:
    one, other = [1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]
    labels = [
        Label(key=str(at), model_key="m", label=label, rater=rater)
        for rater, said in (("al", one), ("bo", other))
        for at, label in enumerate(said)
    ]
    found = agreement([*labels, Label(key="alone", model_key="m", label=1, rater="al")])
    assert found["raters"] == {"al": 7, "bo": 6}
    assert found["shared"] == 6
    assert found["percent"] == pytest.approx(4 / 6)
    assert found["cohen_kappa"] == pytest.approx(cohen_kappa_score(one, other))
    assert found["krippendorff_alpha"] == pytest.approx(
        krippendorff_alpha(list(zip(one, other, strict=True)))
    )


def test_three_raters_agree_by_pairs() -> None:
    said = {"al": 5, "bo": 4, "cy": 1}
    labels = [Label(key="a", model_key="m", label=level, rater=rater) for rater, level in said.items()]
    found = agreement(labels, good_from=4)
    assert found["percent"] == pytest.approx(
        sum(a == b for a, b in itertools.combinations([True, True, False], 2)) / 3
    )
    assert found["cohen_kappa"] is None


def test_one_rater_agrees_with_nobody() -> None:
    found = agreement([Label(key="a", model_key="m", label=1)])
    assert (found["raters"], found["shared"], found["percent"], found["krippendorff_alpha"]) == (
        {"": 1},
        0,
        None,
        None,
    )
