"""Agreement of raters of the same answers."""

from __future__ import annotations

import itertools

import pytest
from sklearn.metrics import cohen_kappa_score

from pytest_evalstudio.calibration.labelling.agreement import agreement
from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.stats.agreement import krippendorff_alpha


def test_figures_of_two_raters() -> None:
    one, other = [1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]
    labels = [
        Label(key=str(at), model_key="m", label=label, rater=rater)
        for rater, said in (("al", one), ("bo", other))
        for at, label in enumerate(said)
    ]
    found = agreement([*labels, Label(key="alone", model_key="m", label=1, rater="al")])
    assert found.raters == {"al": 7, "bo": 6}
    assert found.shared == 6
    assert found.percent == pytest.approx(4 / 6)
    assert found.cohen_kappa == pytest.approx(cohen_kappa_score(one, other))
    assert found.krippendorff_alpha == pytest.approx(krippendorff_alpha(list(zip(one, other, strict=True))))


def test_three_raters_agree_by_pairs() -> None:
    said = {"al": 5, "bo": 4, "cy": 1}
    labels = [Label(key="a", model_key="m", label=level, rater=rater) for rater, level in said.items()]
    found = agreement(labels, good_from=4)
    assert found.percent == pytest.approx(
        sum(a == b for a, b in itertools.combinations([True, True, False], 2)) / 3
    )
    assert found.cohen_kappa is None


def test_one_rater_agrees_with_nobody() -> None:
    found = agreement([Label(key="a", model_key="m", label=1)])
    assert (found.raters, found.shared, found.percent, found.krippendorff_alpha) == (
        {"": 1},
        0,
        None,
        None,
    )
