"""The picture of a calibration: its labels, bands and threshold are where the scores are."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from pytest_evalstudio.contrib.calibration.labelling.cases import AnswerPopulation
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn
from pytest_evalstudio.contrib.calibration.labelling.picture import BOTTOM, LEFT, RIGHT, TOP, WIDTH, picture
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling, labelling_of
from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.plots.colours import BAD, GOOD, GROUND
from pytest_evalstudio.record.score_table import Scores, TableAnswer
from pytest_evalstudio.scoring.calibration.file import (
    CalibratedMetric,
    Calibration,
    Conformal,
    Decision,
    Logistic,
)
from support.labelled_answers import candidate

SCORES = {"low": 0.0, "lower": 0.25, "higher": 0.75, "high": 1.0, "unlabelled": 0.5}
LABELS = {"low": 0, "lower": 1, "higher": 1, "high": 1}
NAMES = ("e.m", "e.n")


def calibration(metrics: int = 1, quantile: float = 0.3) -> Calibration:
    """Probability 1 / (1 + exp(-10 (score - 0.5))) of one metric; of two, their sum."""
    return Calibration(
        method="logistic",
        metrics=[
            CalibratedMetric(evaluator="e", metric=name[2:], better="higher") for name in NAMES[:metrics]
        ],
        curve=Logistic(
            intercept=0.0,
            weights=[1.0] * metrics,
            means=[0.5] * metrics,
            scales=[0.1] * metrics,
            logs=[False] * metrics,
        ),
        labels=4,
        conformal=Conformal(alpha=0.1, quantile=quantile, labels=4),
        decision=Decision(rule="balanced", probability=0.5),
    )


def labelling() -> Labelling:
    """Labels of two answers drawn at random and two for the curve, the fifth answer has none."""
    scores = Scores()
    for key, value in SCORES.items():
        scores.answers["f", key, "m"] = TableAnswer(
            file="f",
            key=key,
            model_key="m",
            test_key="",
            categories=(),
            scores={name: {1: value} for name in NAMES},
        )
    cases = tuple(replace(candidate(key, "m", place=value), verdict=True) for key, value in SCORES.items())
    population = AnswerPopulation(scores=scores, columns=(), cases=cases, without_score=0)
    draws = [
        Drawn(at=at, round=1, part="conformal" if at in (0, 3) else "curve", reason="random")
        for at in range(len(cases))
    ]
    ratings = [Label(key=key, model_key="m", label=value) for key, value in LABELS.items()]
    return labelling_of(population, ratings, draws)


def elements(svg: str, name: str) -> list[ET.Element]:
    return [element for element in ET.fromstring(svg).iter() if element.tag.endswith(f"}}{name}")]


def titles(svg: str, name: str) -> list[str]:
    return ["".join(child.text or "" for child in element) for element in elements(svg, name)]


def text_of(svg: str) -> str:
    return " ".join("".join(element.itertext()) for element in ET.fromstring(svg).iter())


def test_each_label_is_a_dot_at_its_score_filled_where_it_was_drawn_at_random() -> None:
    svg = picture(labelling(), calibration(), 0.5)
    dots = [dot for dot in elements(svg, "circle") if len(dot)]  # those of the legend have no title
    assert ["".join(dot.itertext()) for dot in dots] == [
        "low: 0, bad",
        "lower: 0.25, good",
        "higher: 0.75, good",
        "high: 1, good",
    ]
    assert [dot.get("fill") for dot in dots] == [BAD, GROUND, GROUND, GOOD]
    # The axis has 3 % of the range on each side.
    width = WIDTH - RIGHT - LEFT
    expected = [LEFT + width * (score + 0.03) / 1.06 for score in (0.0, 0.25, 0.75, 1.0)]
    assert [float(dot.get("cx") or 0) for dot in dots] == pytest.approx(expected, abs=0.11)
    heights = [float(dot.get("cy") or 0) for dot in dots]
    assert heights[0] > heights[1] > TOP
    assert heights[0] < BOTTOM


def test_counts_threshold_and_quantiles_are_described() -> None:
    text = text_of(picture(labelling(), calibration(), 0.5))
    assert "Calibration of e.m by 4 labels" in text
    assert (
        "3 good and 1 bad answers; threshold 0.5; conformal quantiles 0.3 of good and 0.3 of bad answers for"
        " alpha = 0.1." in text
    )
    assert "no threshold; conformal" in text_of(picture(labelling(), calibration(), None))


@pytest.mark.parametrize(
    ("quantile", "names"), [(0.3, ["bad", "neither", "good"]), (0.7, ["bad", "good or bad", "good"])]
)
def test_bands_have_the_conformal_set_of_their_scores(quantile: float, names: list[str]) -> None:
    """A quantile of 0.3 ends the sets at probabilities of 0.3 and 0.7: scores of 0.415 and 0.585."""
    svg = picture(labelling(), calibration(quantile=quantile), 0.5)
    bands = [title for title in titles(svg, "rect") if " to " in title]
    assert [title.partition(": ")[2] for title in bands] == names
    low, _, high = bands[1].partition(":")[0].partition(" to ")
    assert (float(low), float(high)) == pytest.approx(
        (0.415, 0.585), abs=0.0025
    )  # the grid has steps of 0.0018
    assert bands[0].startswith("-0.03 to ")
    areas = [rect for rect in elements(svg, "rect") if " to " in "".join(rect.itertext())]
    assert {(rect.get("y"), rect.get("height")) for rect in areas} == {(str(TOP), str(BOTTOM - TOP))}
    assert bands[2].partition(":")[0].endswith(" to 1.03")


def test_only_sets_that_need_a_person_are_marked_so_in_the_legend() -> None:
    text = text_of(picture(labelling(), calibration(), 0.5))
    assert "neither: a person should look" in text
    assert "good: a person" not in text
    assert "good or bad" not in text
    assert "Conformal set, right for 90 % of all answers" in text


def test_several_metrics_have_their_probability_as_axis() -> None:
    svg = picture(labelling(), calibration(metrics=2), 0.5)
    assert "calibrated probability of e.m, e.n" in text_of(svg)
    # Two scores of 0.25 are 5 standard deviations below their means together: 1 / (1 + exp(5)).
    assert "lower: 0.006693, good" in titles(svg, "circle")


def test_a_threshold_outside_the_scores_is_not_drawn() -> None:
    inner_plot, outer_plot = (picture(labelling(), calibration(), limit) for limit in (0.5, 9.0))
    assert len(elements(outer_plot, "line")) == len(elements(inner_plot, "line")) - 1


def test_dots_of_one_label_are_shifted_to_rows() -> None:
    """Probability 0 and 1 have 12 % of the height to the edges; the rows are 6 apart."""
    svg = picture(labelling(), calibration(), 0.5)
    heights = [float(dot.get("cy") or 0) for dot in elements(svg, "circle") if len(dot)]
    bad, good = (BOTTOM - (BOTTOM - TOP) * share / 1.24 for share in (0.12, 1.12))
    assert heights == pytest.approx([bad - 12, good - 6, good, good + 6], abs=0.11)


def test_marks_of_the_legend_are_squares() -> None:
    marks = [rect for rect in elements(picture(labelling(), calibration(), 0.5), "rect") if not len(rect)]
    legend = [(rect.get("width"), rect.get("height")) for rect in marks if rect.get("width") == "14"]
    assert legend == [("14", "14")] * 3
