"""Flips by hand: what is counted, against what it is held, and what becomes a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from pytest_evalstudio.contrib.validation.methods.variations.method import Variation, find_flips, problems
from pytest_evalstudio.contrib.validation.methods.variations.plot import flips_picture
from pytest_evalstudio.contrib.validation.methods.variations.results import MetricFlips
from pytest_evalstudio.stats.intervals import wilson_interval


def variation(number: int, by: str, before: bool, after: bool, **more: Any) -> Variation:
    """A variation of case `number` by a perturbator; before and after say whether the evaluators failed
    it.
    """
    topic = f"topic:{number % 2}"
    turned = "" if before == after else "pass_to_fail" if after else "fail_to_pass"
    values = {
        "key": f"k{number}-{by}",
        "meaning_kept": True,
        "is_copy": by == "copy",
        "categories": (topic, "generator:simple_factual"),
        "scores": {"rouge.rouge_l": (0.9 - before * 0.8, 0.9 - after * 0.8)},
        "flips": {"rouge.rouge_l": turned} if turned else {},
        "compared": ("rouge.rouge_l",),
    }
    return Variation(
        original=f"k{number}", perturbator=by, failed_before=before, failed=after, **(values | more)
    )


def variations_of(by: str, turned: int, recoveries: int = 0, cases: int = 20, **more: Any) -> list[Variation]:
    """So many cases of which some turn to fail, and some, that failed, turn back."""
    return [
        variation(number, by, turned <= number < turned + recoveries, number < turned, **more)
        for number in range(cases)
    ]


METRICS = {"rouge.rouge_l": "higher"}


def test_flips_are_counted_by_perturbator_and_direction() -> None:
    result = find_flips([*variations_of("comma:LOW", 6, 2), *variations_of("qwerty", 1)], METRICS, alpha=0.05)
    comma, qwerty = result.by_perturbator
    assert (
        comma.name,
        comma.cases,
        comma.pass_to_fail,
        comma.fail_to_pass,
        comma.passed_before,
    ) == ("comma:LOW", 20, 6, 2, 18)
    assert comma.rate == 0.4
    assert tuple(comma.interval) == wilson_interval(8, 20)
    assert comma.metrics == {"rouge.rouge_l": MetricFlips(compared=20, pass_to_fail=6, fail_to_pass=2)}
    assert asdict(comma.drops[0]) | {"p_value": 0, "p_adjusted": 0} == {
        "metric": "rouge.rouge_l",
        "cases": 20,
        "mean": pytest.approx(0.8 * 4 / 20),
        "worse": 6,
        "better": 2,
        "p_value": 0,
        "p_adjusted": 0,
        "lower": False,
    }
    assert qwerty.pass_to_fail_keys == ("k0-qwerty",)


def test_topics_and_kinds_count_an_original_once() -> None:
    result = find_flips([*variations_of("comma:LOW", 4), *variations_of("qwerty", 6)], {}, alpha=0.05)
    assert [
        (row.name, row.cases, row.flipped, row.variations, row.pass_to_fail) for row in result.by_topic
    ] == [
        ("0", 10, 3, 20, 5),
        ("1", 10, 3, 20, 5),
    ]
    (kind,) = result.by_kind
    assert (kind.name, kind.flipped, tuple(kind.interval)) == (
        "simple_factual",
        6,
        wilson_interval(6, 20),
    )


def test_what_copies_do_too_is_no_finding() -> None:
    flicker = [entry for number in range(2) for entry in variations_of("copy", 6, key=f"copy{number}")]
    noisy = find_flips([*variations_of("comma:LOW", 6), *flicker], {}, alpha=0.05)
    assert noisy.copies.pass_to_fail == 12
    assert problems(noisy, "step", "m") == []
    steady = find_flips(
        [*variations_of("comma:LOW", 7), *variations_of("copy", 0), *variations_of("copy", 0)], {}, alpha=0.05
    )
    (problem,) = problems(steady, "step", "m")
    assert steady.by_perturbator[0].p_value == pytest.approx((1 / 4) ** 7)
    assert problem.description.startswith(
        "Perturbator comma:LOW turns 7 of 20 cases from pass to fail (35 %, 95 % interval 18.1 % to 56.7 %;"
    )
    assert "against 0 of 40 when asked again unchanged" in problem.description
    assert (problem.severity, problem.problem_type) == ("high", "robustness")
    assert problem.attributes["kind"] == "sensitive_to_perturbator"
    assert problem.attributes["test_case_keys"] == [f"k{number}-comma:LOW" for number in range(7)]


def test_scores_that_drop_without_a_flip_are_a_finding() -> None:
    dropping = variations_of("comma:LOW", 0, scores={"rouge.rouge_l": (0.9, 0.8)})
    (problem,) = problems(find_flips(dropping, METRICS, alpha=0.05), "step", "m")
    assert "worsens rouge.rouge_l by 0.1 on average of 20 cases" in problem.description
    assert problem.severity == "low"
    better = variations_of("comma:LOW", 0, scores={"rouge.rouge_l": (0.9, 0.8)})
    assert problems(find_flips(better, {"rouge.rouge_l": "lower"}, alpha=0.05), "step", "m") == []


def test_flips_back_alone_are_no_problem() -> None:
    assert problems(find_flips(variations_of("comma:LOW", 0, 9), METRICS, alpha=0.05), "step", "m") == []


def test_what_changes_the_meaning_stands_apart() -> None:
    result = find_flips(
        [*variations_of("antonym:HIGH", 15, meaning_kept=False), *variations_of("comma:LOW", 1)],
        METRICS,
        alpha=0.05,
    )
    assert [row.name for row in result.by_perturbator] == ["comma:LOW"]
    assert [(row.name, row.pass_to_fail) for row in result.meaning_changed] == [("antonym:HIGH", 15)]
    assert result.by_topic[0].variations == 10
    assert problems(result, "step", "m") == []


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_where_no_perturbator_matters_there_are_few_false_findings(noise: float) -> None:
    rng = np.random.default_rng(11)
    alarms = sum(
        bool(problems(find_flips(_noise(rng, noise), METRICS, alpha=0.05), "s", "m")) for _ in range(400)
    )
    assert alarms / 400 <= 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5


def _noise(rng: np.random.Generator, noise: float) -> list[Variation]:
    """A model that flickers: each answer to a case is another draw, whatever was asked."""
    result: list[Variation] = []
    for number in range(20):
        middle = 0.5 + rng.choice([-1, 1]) * (0.5 - noise) * 0.8
        draw: Sequence[float] = np.round(middle + rng.normal(0, 0.3, 7), 1).tolist()
        for by, score in zip(("copy", "copy", "a", "b", "c", "d"), draw[1:], strict=True):
            result.append(
                variation(number, by, draw[0] < 0.5, score < 0.5, scores={"rouge.rouge_l": (draw[0], score)})
            )
    return result


def test_the_picture_shows_each_row_with_its_interval() -> None:
    result = find_flips(
        [
            *variations_of("comma:LOW", 7),
            *variations_of("qwe<rty", 1),
            *variations_of("copy", 0),
            *variations_of("copy", 0),
        ],
        {},
        alpha=0.05,
    )
    picture = flips_picture("Flips & more", result)
    root = ElementTree.fromstring(picture)
    labels = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {
        "comma:LOW",
        "qwe<rty",
        "asked again unchanged",
        "7 of 20 (−7 +0)",
        "0 of 40 (−0 +0)",
        "simple_factual",
    } <= set(labels)
    assert "comma:LOW: 35 %, 95 % interval 18.1 % to 56.7 %, 7 pass to fail, 0 fail to pass" in picture
    assert picture == flips_picture("Flips & more", result)


def test_the_exact_test_has_the_whole_level_where_scores_only_repeat_the_verdicts() -> None:
    """Five of 20 cases turn to fail: p = 1/32 by McNemar's exact test, between 0.025 and 0.05."""
    verdicts = [
        variation(
            number, "comma:LOW", False, number < 5, scores={"m.passes": (1.0, float(number >= 5))}, flips={}
        )
        for number in range(20)
    ]
    (exact_flips,) = find_flips(verdicts, {"m.passes": "higher"}, alpha=0.05).by_perturbator
    assert exact_flips.p_value == 1 / 32
    assert exact_flips.drops == ()
    assert exact_flips.beyond_chance
    (graded,) = find_flips(variations_of("comma:LOW", 5), METRICS, alpha=0.05).by_perturbator
    assert len(graded.drops) == 1
    assert not graded.beyond_chance
