"""Agreement of raters, against published examples and other implementations."""

from __future__ import annotations

import random

import pytest
from nltk.metrics.agreement import AnnotationTask
from sklearn.metrics import cohen_kappa_score

from pytest_evalstudio.stats.agreement import cohen_kappa, krippendorff_alpha


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_scikit_learns(seed: int) -> None:
    rng = random.Random(seed)
    first = [rng.random() < 0.6 for _ in range(30)]
    second = [label if rng.random() < 0.7 else not label for label in first]
    assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))


@pytest.mark.parametrize("labels", [[], [True, True], [False]])
def test_kappa_is_undefined_where_nothing_varies(labels: list[bool]) -> None:
    assert cohen_kappa(labels, labels) is None


def rows(*raters: str) -> list[list[str]]:
    """Units of raters' lines, `.` for none."""
    return [
        [label for label in unit if label != "."]
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
    votes = [(rater, item, rng.choice("110")) for rater in "xyz" for item in range(20) if rng.random() < 0.8]
    units = [[label for _, unit, label in votes if unit == item] for item in range(20)]
    assert krippendorff_alpha(units) == pytest.approx(
        AnnotationTask([entry for entry in votes if len(units[entry[1]]) > 1]).alpha()
    )


@pytest.mark.parametrize("units", [[], [[1], [0]], [[1, 1], [1, 1, 1]]])
def test_alpha_says_nothing_where_nothing_varies(units: list[list[int]]) -> None:
    assert krippendorff_alpha(units) is None
