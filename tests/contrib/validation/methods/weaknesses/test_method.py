"""Weak points: those that are there are found, and nothing is where nothing is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.validation.methods.weaknesses import permuting
from pytest_evalstudio.contrib.validation.methods.weaknesses.method import (
    describe,
    find_all_weaknesses,
    find_weaknesses,
)
from pytest_evalstudio.contrib.validation.methods.weaknesses.permuting import without_shared_part
from pytest_evalstudio.contrib.validation.methods.weaknesses.results import MetricWeaknesses
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer
from support.records import RecordBuilder, evaluator, metric, perturbed, score

TOPICS = ("accounts", "cards", "fees", "loans")
TYPES = ("inference", "numbers", "simple", "yes_or_no")
QUALITY = Metric("quality", primary=True, threshold=0.5)


def scores_of(
    *answers: tuple[str, Sequence[str], float | None],
    metric: Metric = QUALITY,
    models: Sequence[str] = ("m",),
) -> Scores:
    """Answers as (key, categories, score); the models answer alike."""
    result = Scores(
        columns={f"e.{metric.key}": Column(evaluator="e", metric=metric)},
        model_names={model: f"model {model}" for model in models},
    )
    for key, categories, value in answers:
        for model in models:
            answer = TableAnswer(
                file="f", key=key, model_key=model, test_key="", categories=tuple(categories)
            )
            if value is not None:
                answer.scores[f"e.{metric.key}"] = {1: value}
            result.answers["f", key, model] = answer
    return result


def planted(
    rng: np.random.Generator,
    draw: Callable[[np.random.Generator, str, str], float],
    count: int = 240,
    **more: Any,
) -> Scores:
    """Cases of random topics and types of questions, whose scores are drawn by these."""
    answers = []
    for number in range(count):
        topic, kind = rng.choice(TOPICS), rng.choice(TYPES)
        answers.append((str(number), (f"topic:{topic}", f"query_type:{kind}"), draw(rng, topic, kind)))
    return scores_of(*answers, **more)


def weak(result: MetricWeaknesses) -> list[dict[str, str]]:
    return [dict(cell.by) for cell in result.cells if cell.weak]


def test_a_weak_topic_is_found() -> None:
    result = find_weaknesses(
        planted(np.random.default_rng(1), lambda rng, topic, _: rng.beta(4, 4 if topic == "fees" else 1)),
        "quality",
    )
    assert {"topic": "fees"} in weak(result)
    assert all(cell.get("topic") == "fees" for cell in weak(result))
    cell = next(cell for cell in result.cells if cell.by == {"topic": "fees"})
    assert cell.p_adjusted <= 0.025
    assert cell.effect.interval[0] > 0.5
    assert cell.difference < 0


def test_a_weak_pair_is_found_where_neither_topic_nor_type_is_weak_elsewhere() -> None:
    def draw(rng: np.random.Generator, topic: str, kind: str) -> float:
        return float(rng.random() < (0.2 if (topic, kind) == ("loans", "numbers") else 0.95))

    result = find_weaknesses(planted(np.random.default_rng(2), draw, 400), "e.quality")
    assert {"query_type": "numbers", "topic": "loans"} in weak(result)
    assert result.test == "Permutation test of chunks"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["passes", "scores", "ties", "better is lower"])
def test_where_nothing_is_weak_hardly_anything_is_flagged(kind: str) -> None:
    draws: dict[str, Callable[[np.random.Generator, str, str], float]] = {
        "passes": lambda rng, *_: float(rng.random() < 0.8),
        "scores": lambda rng, *_: rng.beta(5, 2),
        "ties": lambda rng, *_: float(rng.choice([0.0, 0.25, 0.5, 1.0], p=[0.1, 0.1, 0.2, 0.6])),
        "better is lower": lambda rng, *_: float(rng.poisson(2)),
    }
    metric = Metric("quality", better="lower", threshold=5.0) if kind == "better is lower" else QUALITY
    simulated = (planted(np.random.default_rng(seed), draws[kind], 120, metric=metric) for seed in range(80))
    # Without the correction for several cells, 39 to 54 of the 80 have a cell with p <= 0.05.
    assert sum(find_weaknesses(scores, "quality").weak > 0 for scores in simulated) <= 7, (
        "5 % of 80, and two standard errors"
    )


def test_several_models_are_no_further_witnesses() -> None:
    """Four models that answer alike prove no more than one."""
    draw = {"draw": lambda rng, topic, _: rng.beta(4, 2.5 if topic == "fees" else 1.8)}
    single_model = find_weaknesses(planted(np.random.default_rng(3), **draw, count=60), "quality")
    four_models = find_weaknesses(
        planted(np.random.default_rng(3), **draw, count=60, models=("a", "b", "c", "d")), "quality"
    )
    assert four_models.cells == single_model.cells
    assert four_models.cases == 60


def test_a_case_counts_with_the_mean_of_its_models_and_a_model_can_be_chosen() -> None:
    scores = scores_of(*((str(n), ["a" if n < 6 else "b"], 1.0) for n in range(12)), models=("m", "n"))
    for n in range(6):
        scores.answers["f", str(n), "n"].scores["e.quality"] = {1: 0.0}
    cell = {"all": None, "m": "m", "n": "model n"}
    means = {
        name: find_weaknesses(scores, "quality", model=model).cells[0].mean for name, model in cell.items()
    }
    assert means == {"all": 0.5, "m": 1.0, "n": 0.0}
    with pytest.raises(ConfigurationError, match=r"no one model is called 'model o'\. Did you mean 'model "):
        find_weaknesses(scores, "quality", model="model o")


def test_a_lower_score_is_no_weakness_where_lower_is_better() -> None:
    low = [(str(n), ["a" if n < 20 else "b"], 0.1 if n < 20 else 0.9) for n in range(60)]
    metric = Metric("quality", better="lower")
    assert weak(find_weaknesses(scores_of(*low), "quality")) == [{"category": "a"}]
    assert weak(find_weaknesses(scores_of(*low, metric=metric), "quality")) == [{"category": "b"}]


def test_cells_with_few_cases_are_shown_and_not_tested() -> None:
    rows = [(str(n), ["rare" if n < 4 else "common"], 0.0 if n < 4 else 1.0) for n in range(60)]
    result = find_weaknesses(scores_of(*rows), "quality")
    notes = {cell.by["category"]: (cell.note, cell.p_value, cell.weak) for cell in result.cells}
    assert notes == {
        "common": ("fewer than 5 cases beside it", None, False),
        "rare": ("fewer than 5 cases", None, False),
    }
    assert result.tests == 0
    assert find_weaknesses(scores_of(*rows), "quality", min_cases=4).weak == 1


def test_a_pair_that_is_one_of_its_categories_is_not_tested_again() -> None:
    rows = [
        (str(n), ["topic:a", "kind:x"] if n < 10 else ["topic:b", "kind:y"], float(n % 2)) for n in range(30)
    ]
    result = find_weaknesses(scores_of(*rows), "quality")
    assert result.tests == 4
    assert [cell.note for cell in result.cells if len(cell.by) == 2] == [
        "the same cases as kind:x",
        "the same cases as kind:y",
    ]


def test_figures_of_a_cell_by_hand() -> None:
    rows = [(str(n), ["a" if n < 5 else "b"], (0.2, 0.4, 0.5, 0.6, 0.8)[n % 5]) for n in range(10)]
    cell = find_weaknesses(scores_of(*rows), "quality").cells[0]
    assert (cell.cases, cell.least, cell.greatest) == (5, 0.2, 0.8)
    assert (cell.mean, cell.quartiles, cell.pass_share) == (
        pytest.approx(0.5),
        pytest.approx((0.4, 0.5, 0.6)),
        0.6,
    )
    assert (cell.difference, cell.effect.value) == (0.0, 0.5)


def test_what_is_left_out_is_counted() -> None:
    scores = scores_of(
        *((str(n), ["a", "b"][n % 2 :], 1.0) for n in range(12)), ("none", [], 1.0), ("unscored", ["a"], None)
    )
    scores.answers["f", "p", "m"] = TableAnswer(
        file="f", key="p", model_key="m", test_key="", categories=("a",), source="0"
    )
    assert find_weaknesses(scores, "quality").left_out == {
        "perturbed": 1,
        "without_score": 1,
        "without_category": 1,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"metric": "qualty"}, "have no metric 'qualty'. Did you mean 'quality'", id="metric"),
        pytest.param(
            {"by": ["topics"]}, "no case has a category of 'topics'. Did you mean 'topic'", id="dimension"
        ),
        pytest.param({"alpha": 0.0}, "alpha = 0.0: must lie between 0 and 1", id="alpha"),
        pytest.param({"min_cases": 1}, "min_cases = 1: must be 2 or more", id="cases"),
    ],
)
def test_what_makes_no_sense_is_told(options: dict[str, Any], message: str) -> None:
    scores = scores_of(*((str(n), ["topic:a"], 1.0) for n in range(12)))
    with pytest.raises(ConfigurationError, match=message):
        find_weaknesses(scores, **{"metric": "quality", **options})


def test_results_without_categories_are_told() -> None:
    with pytest.raises(DataError, match=r"no answer has both a score by e\.quality and a category"):
        find_weaknesses(scores_of(("a", [], 1.0)), "quality")


def record(folder: Path) -> Path:
    builder = RecordBuilder(evaluator("quality", metric("score"), metric("other", primary=False)))
    for number in range(40):
        value = 0.1 if number < 20 else 0.9
        outcomes = {"quality": score(value + number / 1000)}
        builder.add(
            f"k{number}",
            "one",
            {"categories": ["topic:fees" if number < 20 else "topic:cards"], "outcomes": outcomes},
        )
    builder.add(
        "p",
        "one",
        {
            "outcomes": {"quality": score(0.0)},
            **perturbed("k30", "comma:HIGH"),
            "categories": ["topic:cards", "perturbed"],
        },
    )
    return builder.write(folder)


def test_the_command_says_what_is_weak_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weakness", str(record(tmp_path)), "--by", "topic"]) == 1
    output = capsys.readouterr().out
    assert "WEAK topic:fees      20 cases" in output
    assert "left out of the answers: 1 perturbed" in output
    assert (
        "Permutation test of chunks, one-sided, each cell against the rest; 2 tests, correction:"
        " Westfall–Young (step-down, all metrics); weak where p <= 0.05" in output
    )


def test_the_command_exits_with_0_where_nothing_is_weak(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weakness", str(record(tmp_path)), "--min-cases", "30"]) == 0
    assert "nothing is weak, as far as so many cases can tell" in capsys.readouterr().out


def test_what_is_told_names_every_cell() -> None:
    lines = list(
        describe(find_weaknesses(planted(np.random.default_rng(1), lambda rng, *_: rng.random()), "quality"))
    )
    assert sum("topic:fees" in line for line in lines) == 1 + len(TYPES)


@pytest.mark.parametrize("level", ["topic", "query_type"])
def test_cases_that_share_chunks_are_no_false_alarms(level: str) -> None:
    """Nothing is weak; the cases of a chunk have a common deviation as large as their own."""
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        answers, groups = [], {}
        for chunk in range(30):
            common, topic = rng.normal(), TOPICS[chunk % 4]
            for number in range(6):
                key = f"{chunk}_{number}"
                kind = TYPES[number % 4]
                answers.append((key, (f"topic:{topic}", f"query_type:{kind}"), common + rng.normal()))
                groups[key] = str(chunk)
        (result,) = find_all_weaknesses(
            scores_of(*answers), ["quality"], by=[level], groups=groups, seed=seed
        )
        alarms += result.weak > 0
    assert alarms <= 4


def test_all_metrics_are_corrected_together() -> None:
    rng = np.random.default_rng(5)
    answers = [(str(n), (f"topic:{TOPICS[n % 4]}",), rng.normal() - 1.2 * (n % 4 == 2)) for n in range(80)]
    scores = scores_of(*answers)
    for copy in range(20):
        key = f"noise{copy}"
        scores.columns[f"e.{key}"] = Column(evaluator="e", metric=Metric(key, threshold=0.5))
        for answer in scores.answers.values():
            answer.scores[f"e.{key}"] = {1: float(rng.normal())}
    single_result = find_weaknesses(scores, "quality")
    joint_result = find_all_weaknesses(scores, list(scores.columns))[0]
    fees = [
        next(cell for cell in result.cells if cell.by == {"topic": "fees"})
        for result in (single_result, joint_result)
    ]
    assert fees[0].p_adjusted < fees[1].p_adjusted <= 0.025


def test_the_seed_fixes_the_result() -> None:
    scores = planted(np.random.default_rng(7), lambda rng, *_: rng.beta(4, 2), 60)
    assert find_all_weaknesses(scores, ["quality"], seed=1) == find_all_weaknesses(
        scores, ["quality"], seed=1
    )


@pytest.mark.parametrize("topics", [("fees", "cards"), ("fees", "fees")], ids=["other topics", "same topics"])
def test_cases_of_two_files_with_the_same_keys_are_kept_apart(topics: tuple[str, str]) -> None:
    def two_files(key_of: Callable[[str, int], str]) -> Scores:
        rng = np.random.default_rng(3)
        result = scores_of()
        for file, topic in zip("fg", topics, strict=True):
            for number in range(20):
                kind = TYPES[number % 4]
                key = key_of(file, number)
                answer = TableAnswer(
                    file=file,
                    key=key,
                    model_key="m",
                    test_key="",
                    categories=(f"topic:{topic if number % 2 else 'loans'}", f"query_type:{kind}"),
                )
                answer.scores["e.quality"] = {1: float(rng.random())}
                result.answers[file, key, "m"] = answer
        return result

    same_keys = find_weaknesses(two_files(lambda file, number: str(number)), "quality")
    assert same_keys == find_weaknesses(two_files(lambda file, number: f"{file}{number}"), "quality")


def test_what_a_chunk_shares_is_subtracted() -> None:
    rng = np.random.default_rng(2)
    common = np.repeat(rng.normal(size=60) * 2, 5)
    residual = rng.normal(size=300)
    scores = {("f", str(number)): float(value) for number, value in enumerate(common + residual)}
    groups = {str(number): str(number // 5) for number in range(300)}
    rest = np.array(list(without_shared_part(scores, groups).values()))
    assert np.corrcoef(rest, common)[0, 1] < 0.3
    assert np.corrcoef(rest, residual)[0, 1] > 0.85
    assert without_shared_part(scores, {}) == scores


def test_single_categories_and_pairs_divide_the_level() -> None:
    families = [
        permuting._Family("topic", False, [(0, (("topic", name),)) for name in "ab"]),
        permuting._Family("generator", False, [(0, (("generator", "x"),))] * 2),
        permuting._Family("topic", True, [(0, (("generator", "x"), ("topic", "a")))] * 4),
    ]
    weights = [10.0, 2.0, 4.0]  # topics are fixed in chunks of five cases: 2 cells times 5 cases of a unit
    shares = [permuting._share(number, families, weights) for number in range(3)]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == pytest.approx([0.75, 0.15, 0.1])
    assert permuting._share(0, families[:1], weights[:1]) == 1.0
