"""Agreement of raters of the same answers."""

from __future__ import annotations

import itertools

import pytest
from sklearn.metrics import cohen_kappa_score

from pytest_evalstudio.contrib.calibration.labelling.agreement import agreement
from pytest_evalstudio.formats.labels import Label, majority
from pytest_evalstudio.stats.agreement import krippendorff_alpha


def test_figures_of_two_raters() -> None:
    first_labels, other = [1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]
    labels = [
        Label(key=str(at), model_key="m", label=label, rater=rater)
        for rater, levels in (("al", first_labels), ("bo", other))
        for at, label in enumerate(levels)
    ]
    result = agreement([*labels, Label(key="alone", model_key="m", label=1, rater="al")])
    assert result.raters == {"al": 7, "bo": 6}
    assert result.shared == 6
    assert result.percent == pytest.approx(4 / 6)
    assert result.cohen_kappa == pytest.approx(cohen_kappa_score(first_labels, other))
    assert result.krippendorff_alpha == pytest.approx(
        krippendorff_alpha(list(zip(first_labels, other, strict=True)))
    )


def test_three_raters_agree_by_pairs() -> None:
    levels = {"al": 5, "bo": 4, "cy": 1}
    labels = [Label(key="a", model_key="m", label=level, rater=rater) for rater, level in levels.items()]
    result = agreement(labels, good_from=4)
    assert result.percent == pytest.approx(
        sum(a == b for a, b in itertools.combinations([True, True, False], 2)) / 3
    )
    assert result.cohen_kappa is None


def test_one_rater_agrees_with_nobody() -> None:
    result = agreement([Label(key="a", model_key="m", label=1)])
    assert (result.raters, result.shared, result.percent, result.krippendorff_alpha) == (
        {"": 1},
        0,
        None,
        None,
    )


def test_an_adjudicator_decides_and_is_no_rater() -> None:
    """Two raters agree on a and b, and are divided on c, d and e, of which c is decided as good."""
    ratings = {
        "al": {"a": 1, "b": 0, "c": 1, "d": 1, "e": 1},
        "bo": {"a": 1, "b": 0, "c": 0, "d": 0, "e": 0},
    }
    labels = [
        Label(key=key, model_key="m", label=label, rater=rater)
        for rater, by_key in ratings.items()
        for key, label in by_key.items()
    ]
    before = agreement(labels)
    after = agreement([*labels, Label(key="c", model_key="m", label=1, rater="cy", role="adjudicator")])
    assert (before.percent, before.undecided, before.adjudicated) == (0.4, (3, 3), 0)
    assert (after.percent, after.undecided, after.adjudicated) == (0.4, (3, 2), 1)
    assert after.raters == {"al": 5, "bo": 5}
    assert after.krippendorff_alpha == before.krippendorff_alpha
    assert before.final_percent == 1.0, "a and b, whose four labels are the final ones"
    assert after.final_percent == pytest.approx(5 / 6), "bo's label of c differs"
    outvoted = [Label(key="a", model_key="m", label=0, rater="cy", role="adjudicator")]
    assert majority([*labels, *outvoted])[0][("a", "m")] == 0
