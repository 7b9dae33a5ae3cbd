"""Pictures of weak points: every case and every name in its place, whatever the names, and no bigger than
they need be.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.contrib.validation.methods.weaknesses.method import find_weaknesses
from pytest_evalstudio.contrib.validation.methods.weaknesses.plot import MAX_METRICS, weakness_pictures
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer

QUALITY = Metric("quality", primary=True, threshold=0.5)
ATTACK = (
    '1_<script>alert("x")</script> & \x07 a name of a topic that nobody would want to read to its very end'
)
Draw = Callable[[np.random.Generator, str, str], float]


def random_scores(
    count: int,
    topics: Sequence[str],
    types: Sequence[str],
    draw: Draw,
    metrics: Sequence[Metric] = (QUALITY,),
) -> Scores:
    rng = np.random.default_rng(0)
    scores = Scores(
        columns={f"e.{metric.key}": Column(evaluator="e", metric=metric) for metric in metrics},
        model_names={"m": "m"},
    )
    for number in range(count):
        topic, kind = topics[rng.integers(len(topics))], types[rng.integers(len(types))]
        answer = TableAnswer(
            file="f",
            key=str(number),
            model_key="m",
            test_key="",
            categories=(f"topic:{topic}", f"generator:{kind}"),
        )
        answer.scores = {key: {1: float(draw(rng, topic, kind))} for key in scores.columns}
        scores.answers["f", str(number), "m"] = answer
    return scores


def pictured(scores: Scores, **options: Any) -> dict[str, str]:
    results = [find_weaknesses(scores, key, **options) for key in scores.columns]
    return dict(weakness_pictures(scores, results, "Demo & <co>").files)


def texts(picture: str) -> list[str]:
    return [
        "".join(part for part in text.itertext())
        for text in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    ]


def overflowing_texts(picture: str) -> list[str]:
    """Texts that begin beyond the picture, by the width that the canvas takes for them."""
    root = ET.fromstring(picture)
    width, height = (float(number) for number in root.attrib["viewBox"].split()[2:])
    return [
        "".join(text.itertext())
        for text in root.iter("{http://www.w3.org/2000/svg}text")
        if not 0 <= float(text.attrib["x"]) <= width or not 0 <= float(text.attrib["y"]) <= height
    ]


CASES = {
    "scores": random_scores(
        200, ["1_fees", "2_cards"], ["simple", "numbers"], lambda rng, *_: rng.beta(5, 2)
    ),
    "passes": random_scores(
        300, ["1_fees", "2_cards"], ["simple", "numbers"], lambda rng, *_: float(rng.random() < 0.8)
    ),
    "one topic with a bad name": random_scores(30, [ATTACK], ["simple"], lambda rng, *_: rng.random()),
    "few": random_scores(5, ["1_fees", "2_cards"], ["simple"], lambda rng, *_: rng.random()),
    "all the same": random_scores(30, ["1_fees", "2_cards"], ["simple", "numbers"], lambda *_: 0.7),
    "no upper end, lower is better": random_scores(
        60,
        ["1_a"],
        ["b", "c"],
        lambda rng, *_: rng.exponential(9),
        [Metric("ppl", better="lower", range=(0.0, float("inf")), threshold=9.0)],
    ),
    "no threshold": random_scores(
        60, ["1_a"], ["b", "c"], lambda rng, *_: rng.random(), [Metric("q", threshold=float("-inf"))]
    ),
    "20 topics, 1,000 cases": random_scores(
        1_000,
        [f"{n}_word_other" for n in range(1, 21)],
        [f"kind_{n}" for n in range(13)],
        lambda rng, *_: rng.random(),
    ),
    "more than there is room for": random_scores(
        2_000, [f"{n}_word" for n in range(1, 60)], [f"k{n}" for n in range(30)], lambda rng, *_: rng.random()
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_picture_is_sound(name: str) -> None:
    files = pictured(CASES[name])
    kinds = {re.sub(r"^e\.[a-z]+_", "", file) for file in files}
    assert kinds == {"distributions.svg", "marginals.svg", "violins.svg", "bivariate.svg"}
    for picture in files.values():
        assert "Demo & <co>" in (ET.fromstring(picture).findtext("{*}title") or "")
        assert not overflowing_texts(picture)
        assert len(picture) < 500_000
        assert "<script" not in picture
        assert "nan" not in picture


def test_each_cell_says_its_cases_and_their_mean() -> None:
    scores = random_scores(40, ["1_fees"], ["simple"], lambda rng, *_: 0.25)
    labels = texts(pictured(scores)["e.quality_bivariate.svg"])
    assert {"1_fees", "simple", "40", "0.25"} <= set(labels)


def weak_cell(rng: np.random.Generator, topic: str, kind: str) -> float:
    return rng.beta(2, 6) if (topic, kind) == ("2_cards", "numbers") else rng.beta(8, 2)


def test_a_weak_cell_has_a_frame_and_a_mark() -> None:
    scores = random_scores(240, ["1_fees", "2_cards", "3_loans"], ["simple", "numbers", "dates"], weak_cell)
    picture = pictured(scores)["e.quality_bivariate.svg"]
    assert sum(label.startswith("▼ ") for label in texts(picture)) == 1
    assert picture.count('stroke-width="3"') == 1
    assert " 3 of" not in picture
    assert "▼ weak" in texts(pictured(scores)["e.quality_violins.svg"])


def test_a_violin_is_drawn_only_of_enough_scores() -> None:
    large_plot, small_plot = (
        pictured(random_scores(count, ["1_a"], ["b"], lambda rng, *_: rng.beta(4, 2)))[
            "e.quality_violins.svg"
        ]
        for count in (40, 8)
    )
    passes = pictured(CASES["passes"])["e.quality_violins.svg"]
    assert (large_plot.count("<path"), small_plot.count("<path"), passes.count("<path")) == (2, 0, 0)
    assert small_plot.count("<circle") == 2 * (8 + 1)
    assert "A small dot is up to " in passes


def test_topics_stand_in_the_order_of_their_numbers() -> None:
    labels = texts(pictured(CASES["20 topics, 1,000 cases"])["e.quality_bivariate.svg"])
    assert [name for name in labels if name.endswith("_word_other")] == [
        f"{n}_word_other" for n in range(1, 21)
    ]


def test_what_is_not_shown_is_said() -> None:
    files = pictured(CASES["more than there is room for"])
    assert "not shown, with fewer cases: 34 rows and 14 columns" in texts(files["e.quality_bivariate.svg"])
    assert "and 29 more with better means" in texts(files["e.quality_marginals.svg"])


def test_only_some_metrics_have_pictures_of_their_own() -> None:
    metrics = [Metric(f"m{n}", primary=n == 0, threshold=0.5) for n in range(7)]
    scores = random_scores(60, ["1_a", "2_b"], ["c", "d"], lambda rng, *_: rng.random(), metrics)
    result = weakness_pictures(scores, [find_weaknesses(scores, key) for key in scores.columns])
    assert len(result.files) == 1 + 3 * MAX_METRICS
    assert len(result.left_out) == 7 - MAX_METRICS
    assert all(f"e.m{n}" in texts(result.files["distributions.svg"]) for n in range(7))


def test_the_histogram_tells_how_many_fail() -> None:
    values = iter([0.1, 0.2, 0.9, 0.8] * 10)
    labels = texts(pictured(random_scores(40, ["1_a"], ["c"], lambda *_: next(values)))["distributions.svg"])
    assert {"e.quality", "40 cases", "mean 0.5", "50 % fail"} <= set(labels)
