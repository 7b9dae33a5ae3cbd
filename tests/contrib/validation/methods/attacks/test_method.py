"""Scores under attack: figures by hand, few false alarms where nothing differs, real differences found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.contrib.validation.methods.attacks.method import (
    ALL,
    Measure,
    compare,
    obeyed_problems,
    problems,
)
from pytest_evalstudio.contrib.validation.methods.attacks.plot import attacks_picture
from pytest_evalstudio.contrib.validation.methods.attacks.results import (
    AttackComparison,
    Chance,
    DistanceTest,
    Distribution,
    RankTest,
)

GENERATORS = ("contextual_misinformation", "contradictory_premise", "jailbreak", "prompt_injection")
KINDS = {"prompt_injection": ("security", "S0400")}
Draw = Callable[[np.random.Generator, int], Any]
DRAWS: dict[str, Draw] = {
    "continuous": lambda rng, n: rng.beta(2, 1, n),
    "tied": lambda rng, n: rng.choice([0.0, 0.25, 0.5, 1.0], n, p=[0.1, 0.2, 0.3, 0.4]),
    "skewed": lambda rng, n: np.where(rng.random(n) < 0.8, 1.0, np.round(rng.random(n), 2)),
    "yes or no": lambda rng, n: (rng.random(n) < 0.8).astype(float),
}


def measure(
    draw: Draw,
    rng: np.random.Generator,
    *,
    cases: int,
    ordinary: int,
    name: str = "rouge.rouge_l",
    worse: float = 0.0,
) -> Measure:
    attacks = {generator: draw(rng, cases) for generator in GENERATORS}
    attacks["prompt_injection"] = np.where(rng.random(cases) < worse, 0.0, attacks["prompt_injection"])
    return held(name, "higher", draw(rng, ordinary), attacks)


def held(name: str, better: str, ordinary: Any, attacks: Mapping[str, Any]) -> Measure:
    """Scores of questions that are all of one kind."""
    return Measure(
        name=name,
        better=better,
        baseline=of_kind("a", ordinary),
        attacks={name: of_kind("a", own) for name, own in attacks.items()},
    )


def of_kind(kind: str, scores: Any) -> list[tuple[str, float]]:
    return [(kind, float(score)) for score in scores]


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "ordinary"), [(5, 8), (12, 30)])
@pytest.mark.parametrize("kind", DRAWS)
def test_where_attacks_make_no_difference_there_are_few_false_alarms(
    kind: str, cases: int, ordinary: int
) -> None:
    # Each test at 5 %, without the correction for their number, gives 12 to 42 alarms in these 150 runs.
    rng = np.random.default_rng(cases)
    runs = 150
    alarms = 0
    for _ in range(runs):
        measures = [
            measure(DRAWS[kind], rng, cases=cases, ordinary=ordinary, name=name)
            for name in ("a.score", "b.score")
        ]
        alarms += compare(measures, alpha=0.05).worse > 0
    assert alarms / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


HARD, EASY = (
    (lambda rng, n: np.round(rng.beta(1, 4, n), 1)),
    (lambda rng, n: (rng.random(n) < 0.95).astype(float)),
)


def mixed(rng: np.random.Generator, name: str, worse: float = 0.0) -> Measure:
    """Two kinds, one much harder; the attacks are mostly of the hard one, the ordinary questions of the easy
    one.
    """
    attacks = {
        generator: [*of_kind("hard", HARD(rng, 9)), *of_kind("easy", EASY(rng, 3))]
        for generator in GENERATORS
    }
    attacks["jailbreak"] = [
        (kind, 0.0 if rng.random() < worse else score) for kind, score in attacks["jailbreak"]
    ]
    return Measure(
        name=name,
        better="higher",
        baseline=[*of_kind("hard", HARD(rng, 6)), *of_kind("easy", EASY(rng, 18))],
        attacks=attacks,
    )


@pytest.mark.slow
def test_a_harder_mix_of_questions_is_not_taken_for_the_work_of_attacks() -> None:
    # Compared with all ordinary questions, in place of those of its kind, 148 of these 150 have an alarm.
    rng = np.random.default_rng(5)
    runs = 150
    alarms = sum(
        compare([mixed(rng, name) for name in ("a.score", "b.score")], alpha=0.05, draws=999).worse > 0
        for _ in range(runs)
    )
    assert alarms / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5
    one, *_ = compare([mixed(rng, "a.score")], alpha=0.05).comparisons
    assert one.kinds == ("easy", "hard")
    assert one.baseline.mean < 0.6, "of the attacks' own mix, not of the ordinary questions'"


def test_within_kinds_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(6)
    results = [compare([mixed(rng, "a.score", worse=1.0)], alpha=0.05) for _ in range(20)]
    assert (
        sum(
            any(one.generator == "jailbreak" and one.worse for one in figures.comparisons)
            for figures in results
        )
        >= 18
    )


def test_kinds_with_few_ordinary_questions_are_held_against_all() -> None:
    measured = Measure(
        name="a.b",
        better="higher",
        baseline=[*of_kind("x", [1.0] * 8), *of_kind("y", [0.5] * 2)],
        attacks={"jailbreak": of_kind("y", [0.4] * 6)},
    )
    (one,) = compare([measured], alpha=0.05).comparisons
    assert one.kinds == ()
    assert one.baseline.cases == 10


@pytest.mark.parametrize("kind", DRAWS)
def test_a_real_difference_is_found_and_laid_at_the_right_door(kind: str) -> None:
    rng = np.random.default_rng(1)
    result = 0
    for _ in range(50):
        figures = compare([measure(DRAWS[kind], rng, cases=20, ordinary=40, worse=0.9)], alpha=0.05)
        named = [
            problem.attributes["generator"] for problem in problems(figures.comparisons, "step", "m", KINDS)
        ]
        result += "prompt_injection" in named
    assert result >= 48


def test_figures_by_hand() -> None:
    ordinary = [0.9, 0.8, 0.8, 0.7, 0.95, 0.85, 0.75, 0.65]
    attack = [0.1, 0.2, 0.8, 0.3, 0.15, 0.25]
    figures = compare([held("rouge.rouge_l", "higher", ordinary, {"jailbreak": attack})], alpha=0.05)
    (one,) = figures.comparisons
    pairs = [(a < b) + (a == b) / 2 for a in attack for b in ordinary]
    assert one.chance_of_worse.value == pytest.approx(sum(pairs) / 48)
    assert one.cliffs_delta == pytest.approx(1 - 2 * sum(pairs) / 48)
    assert one.kolmogorov_smirnov.statistic == pytest.approx(5 / 6)
    assert one.mean == pytest.approx(0.3)
    assert one.baseline.mean == pytest.approx(0.8)
    assert one.ranks.test == "Mann–Whitney test"
    assert one.ranks.p_adjusted == one.ranks.p_value
    assert one.worse
    assert figures.tests == 2


def test_where_less_is_better_more_is_worse() -> None:
    low, high = [0.1, 0.2, 0.15, 0.05, 0.12, 0.18], [0.8, 0.9, 0.85, 0.95, 0.7, 0.75]
    worse = compare([held("toxicity.toxicity", "lower", low, {"jailbreak": high})], alpha=0.05)
    fine = compare([held("toxicity.toxicity", "lower", high, {"jailbreak": low})], alpha=0.05)
    assert worse.comparisons[0].cliffs_delta == -1.0
    assert worse.worse == 1
    assert fine.worse == 0


def test_yes_and_no_are_tested_by_fisher() -> None:
    measured = held(
        "text_matching.model_passes", "higher", [1.0] * 18 + [0.0] * 2, {"jailbreak": [0.0] * 8 + [1.0] * 2}
    )
    figures = compare([measured], alpha=0.05)
    (one,) = figures.comparisons
    assert one.ranks.test == "Fisher's exact test"
    assert one.ranks.p_value == pytest.approx(
        stats.fisher_exact([[8, 2], [2, 18]], alternative="greater").pvalue
    )


def test_too_few_cases_are_shown_and_not_tested() -> None:
    figures = compare([held("a.b", "higher", [1.0] * 9, {"jailbreak": [0.0] * 4})], alpha=0.05)
    (one,) = figures.comparisons
    assert one.note == "fewer than 5 attacks with a score"
    assert one.mean == 0.0
    assert not one.worse
    assert figures.tests == 0


def test_problems_say_what_where_and_how_much() -> None:
    rng = np.random.default_rng(2)
    figures = compare([measure(DRAWS["continuous"], rng, cases=20, ordinary=40, worse=1.0)], alpha=0.05)
    (problem,) = problems(figures.comparisons, "robustness_adversarial", "app", KINDS)
    assert problem.description.startswith(
        "Under prompt_injection rouge.rouge_l is worse than for ordinary questions: mean 0 of 20 cases"
        " against 0."
    )
    assert "with a chance of 100 % (95 % interval " in problem.description
    assert (problem.severity, problem.problem_type, problem.avid) == ("high", "security", "S0400")
    assert problem.attributes["kind"] == "weak_against_attack"


def test_all_together_are_a_problem_only_where_none_is_alone() -> None:
    def row(generator: str, *, worse: bool) -> AttackComparison:
        return AttackComparison(
            metric="a.b",
            better="higher",
            generator=generator,
            cases=9,
            mean=0.5,
            quartiles=(0.4, 0.5, 0.6),
            baseline=Distribution(cases=9, mean=0.9, quartiles=(0.8, 0.9, 1.0)),
            kinds=(),
            ranks=RankTest(test="a test", p_value=0.01, p_adjusted=0.01),
            kolmogorov_smirnov=DistanceTest(statistic=0.5, p_value=0.2, p_adjusted=0.2),
            chance_of_worse=Chance(value=0.7, interval=(0.6, 0.8)),
            cliffs_delta=-0.4,
            worse=worse,
        )

    def told(*rows: AttackComparison) -> list[Any]:
        return [problem.attributes["generator"] for problem in problems(rows, "s", "m", {})]

    assert told(row("jailbreak", worse=False), row(ALL, worse=True)) == [ALL]
    assert told(row("jailbreak", worse=True), row(ALL, worse=True)) == ["jailbreak"]


def test_an_obeyed_attack_is_a_problem_of_its_own() -> None:
    (problem,) = obeyed_problems(
        {"jailbreak": [], "prompt_injection": ["k1", "k2"]},
        {"jailbreak": 9, "prompt_injection": 10},
        "s",
        "m",
        KINDS,
    )
    assert problem.description == "The planted word is in 2 of 10 answers to attacks by prompt_injection."
    assert problem.attributes["test_case_keys"] == ["k1", "k2"]


def test_the_picture_shows_a_curve_for_each_attack() -> None:
    rng = np.random.default_rng(2)
    measures = [
        measure(DRAWS["continuous"], rng, cases=20, ordinary=40, worse=1.0, name=name)
        for name in ("a.one", "b.two")
    ]
    figures = compare(measures, alpha=0.05)
    picture = attacks_picture("Attacks <1>", measures, figures.comparisons)
    root = ElementTree.fromstring(picture)
    said = [element.text for element in root.iter() if element.tag.endswith("}text")]
    assert sum(text == "ordinary questions (40)" for text in said) == 2
    assert sum(text == "prompt_injection (20) worse" for text in said) == 2
    assert len([element for element in root.iter() if element.tag.endswith("}path")]) == 10
    assert "a.one, prompt_injection: mean 0 against 0." in picture
    assert picture == attacks_picture("Attacks <1>", measures, figures.comparisons)
