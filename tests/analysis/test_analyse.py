"""The analysis of a record as a whole."""

from __future__ import annotations

import random

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.stats.clustered import clustered_share
from pytest_evalstudio.stats.intervals import wilson_interval
from support.records import RecordBuilder, boolean_evaluator, evaluator, flip, metric, perturbed, score


def quality(value, **more):
    return {"outcomes": {"quality": score(value)}, **more}


def test_answers_without_a_time_have_none(tmp_path):
    builder = RecordBuilder(models=("one", "two"))
    for key, time_s in (("a", 0.0), ("b", 3.0)):
        builder.add(key, "one", quality(1.0, actual_duration=time_s))
        builder.add(key, "two", quality(1.0, actual_duration=0.0))
    first_model, second_model = analyse(builder.write(tmp_path), {}).models
    assert first_model.duration_s.mean == 3.0
    assert second_model.duration_s is None


def test_verdicts_models_and_data_are_counted(tmp_path):
    builder = RecordBuilder(models=("one", "two"))
    builder.add(
        "a",
        "one",
        quality(1.0, actual_duration=1.0, cost=0.5, usage={"input_tokens": 10}, categories=["fees"]),
    )
    builder.add(
        "b", "one", quality(0.0, actual_duration=3.0, input="?" * 50), quality(0.0, actual_duration=2.0)
    )
    builder.add(
        "a",
        "two",
        {"error": "down", "retries": 2, "outcomes": {"quality": {"status": "error", "reason": "down"}}},
    )
    builder.items.append({**builder.items[0], "key": "c", "rows": [], "verdicts": {}, "verdict": "skipped"})
    result = analyse(builder.write(tmp_path), {})
    assert result.verdicts == {
        "passed": 1,
        "failed": 1,
        "error": 1,
        "skipped": 1,
        "xfailed": 0,
        "xpassed": 0,
        "not_run": 0,
    }
    first_model, second_model = result.models
    assert (
        first_model.rows,
        first_model.answered,
        first_model.failed,
        first_model.retries,
        first_model.cost,
        first_model.unpriced,
    ) == (3, 3, 0, 0, 0.5, 2)
    assert (first_model.duration_s.mean, first_model.duration_s.median, first_model.duration_s.greatest) == (
        2.0,
        2.0,
        3.0,
    )
    assert first_model.usage == {"input_tokens": 10}
    assert (
        second_model.rows,
        second_model.answered,
        second_model.failed,
        second_model.retries,
        second_model.duration_s,
        second_model.cost,
    ) == (
        1,
        0,
        1,
        2,
        None,
        None,
    )
    assert (result.dataset.items, result.dataset.cases, result.dataset.rows) == (4, 3, 4)
    assert result.dataset.categories == {"fees": 1}
    assert (result.dataset.lengths["question"].n, result.dataset.lengths["question"].greatest) == (2, 50)


def flipping():
    builder = RecordBuilder(
        evaluator("quality", metric(), metric("other", primary=False)),
        boolean_evaluator(),
        models=("one", "two"),
    )
    both = {"text_matching": {"status": "score", "scores": {"model_passes": 1.0, "model_failures": 0.0}}}
    for name in ("one", "two"):
        for key in "abcd":
            builder.add(
                key,
                name,
                {
                    "outcomes": {
                        "quality": {"status": "score", "scores": {"score": 1.0, "other": None}},
                        **both,
                    }
                },
            )
            extra = perturbed(key, "comma:HIGH")
            extra["categories"].append("fees")
            flips = [flip(key)] if key == "a" and name == "one" else []
            row = {
                "outcomes": {"quality": {"status": "score", "scores": {"score": 0.6, "other": 0.5}}, **both},
                **extra,
            }
            builder.add(f"{key}-comma", name, row, flips=flips)
    builder.add(
        "a-copy",
        "two",
        quality(1.0, **perturbed("a", "copy")),
        flips=[flip("a", direction="fail_to_pass", perturbators=["copy"])],
    )
    builder.add("lone-comma", "one", quality(1.0, **perturbed("not-in-this-run", "comma:HIGH")))
    return builder


def test_flip_rates_are_over_pairs_with_both_scores(tmp_path):
    rates = {(rate.group, rate.name): rate for rate in analyse(flipping().write(tmp_path), {}).flip_rates}
    overall_rate = rates["all", "all"]
    # Four questions under two models, of which one flips under one model: two metrics are one pair.
    assert (overall_rate.compared, overall_rate.pass_to_fail, overall_rate.fail_to_pass) == (8, 1, 0)
    assert overall_rate.interval == clustered_share([1, 0, 0, 0], [2, 2, 2, 2]).interval()
    assert (rates["perturbator", "comma:HIGH"].compared, rates["perturbator", "copy"].rate) == (8, 1.0)
    assert (rates["intensity", "HIGH"].compared, rates["category", "fees"].compared) == (8, 8)
    assert (
        rates["metric", "quality.score"].compared,
        rates["metric", "text_matching.model_passes"].compared,
    ) == (8, 8)
    assert ("metric", "quality.other") not in rates
    assert (rates["model", "one"].rate, rates["model", "two"].rate) == (pytest.approx(1 / 4), 0.0)


def test_rates_stand_beside_the_copies_of_the_same_scope(tmp_path):
    rates = {(rate.group, rate.name): rate for rate in analyse(flipping().write(tmp_path), {}).flip_rates}
    assert (rates["all", "all"].noise, rates["all", "all"].noise_interval) == (1.0, wilson_interval(1, 1))
    assert (rates["model", "two"].noise, rates["metric", "quality.score"].noise) == (1.0, 1.0)
    assert (
        rates["metric", "text_matching.model_passes"].noise == 1.0
    )  # no copy was judged by it: the noise of all


def test_what_changes_the_meaning_stands_apart(tmp_path):
    builder = RecordBuilder()
    builder.add("a", "one", quality(1.0))
    builder.add(
        "a-antonym",
        "one",
        quality(0.0, **perturbed("a", "antonym:HIGH")),
        flips=[flip("a", perturbators=["antonym:HIGH"], meaning_kept=False)],
    )
    builder.add("a-comma", "one", quality(0.9, **perturbed("a", "comma:LOW")))
    builder.add(
        "a-odd",
        "one",
        quality(0.9, **perturbed("a", "odd")),
        perturbed={"by": ["odd"], "meaning_kept": False},
    )
    rates = {(rate.group, rate.name): rate for rate in analyse(builder.write(tmp_path), {}).flip_rates}
    assert (rates["all", "all"].compared, rates["all", "all"].flips, ("intensity", "HIGH") in rates) == (
        1,
        0,
        False,
    )
    assert {
        name: (rate.flips, rate.meaning_kept)
        for (group, name), rate in rates.items()
        if group == "perturbator"
    } == {
        "antonym:HIGH": (1, False),
        "comma:LOW": (0, True),
        "odd": (0, False),
    }


def test_an_original_scored_beside_the_run_counts_for_its_evaluators(tmp_path):
    builder = RecordBuilder(evaluator("quality"), boolean_evaluator())
    outcomes = {"quality": score(0.0), "text_matching": {"status": "score", "scores": {"model_passes": 1.0}}}
    perturbation = {"by": ["comma:LOW"], "meaning_kept": True, "compared": ["quality"]}
    builder.add(
        "a-comma",
        "one",
        {"outcomes": outcomes, **perturbed("a", "comma:LOW")},
        flips=[flip("a")],
        perturbed=perturbation,
    )
    (overall_rate, *_) = analyse(builder.write(tmp_path), {}).flip_rates
    assert (overall_rate.compared, overall_rate.flips) == (1, 1)


def test_sensitivity_curves_run_along_the_intensities(tmp_path):
    builder = RecordBuilder(models=("one", "two"))
    for name in ("one", "two"):
        for key in "ab":
            builder.add(key, name, quality(1.0))
            for level, turned in (("HIGH", True), ("LOW", key == "a" and name == "one")):
                flips = [flip(key, perturbators=[f"ocr:{level}"])] if turned else []
                builder.add(
                    f"{key}-{level}",
                    name,
                    quality(0.0 if turned else 1.0, **perturbed(key, f"ocr:{level}")),
                    flips=flips,
                )
            builder.add(f"{key}-both", name, quality(1.0, **perturbed(key, "ocr:HIGH", "comma:LOW")))
    builder.add("a-copy", "one", quality(1.0, **perturbed("a", "copy")))
    first_curve, second_curve = analyse(builder.write(tmp_path), {}).sensitivities
    assert (first_curve.perturbator, first_curve.model_name, first_curve.noise, second_curve.noise) == (
        "ocr",
        "one",
        0.0,
        None,
    )
    assert [(point.intensity, point.flips, point.compared, point.rate) for point in first_curve.points] == [
        ("LOW", 1, 2, 0.5),
        ("HIGH", 2, 2, 1.0),
    ]
    assert (second_curve.points[0].rate, second_curve.points[0].interval) == (0.0, wilson_interval(0, 2))


def test_gates_of_the_header_are_held_against_the_models_that_ran(tmp_path):
    builder = RecordBuilder(models=("one", "never-asked"), gates=["quality >= 0.5", "quality > 0.6"])
    builder.add("a", "one", quality(0.6))
    assert [gate.met for gate in analyse(builder.write(tmp_path), {}).gates] == [True, False]


def test_the_order_of_an_unfinished_record_does_not_matter(tmp_path):
    builder = flipping()
    builder.header["finished"] = None
    builder.header["files"] = {}
    first = analyse(builder.write(tmp_path), {})
    random.Random(1).shuffle(builder.items)
    second = analyse(builder.write(tmp_path), {})
    assert (first.problems, first.insights, first.flip_rates, first.models, first.dataset) == (
        second.problems,
        second.insights,
        second.flip_rates,
        second.models,
        second.dataset,
    )
    assert [board.standings for board in first.leaderboards.values()] == [
        board.standings for board in second.leaderboards.values()
    ]


def test_an_empty_run_is_analysed(tmp_path):
    result = analyse(RecordBuilder().write(tmp_path), {})
    assert (result.problems, result.insights, result.flip_rates, result.models) == ((), (), (), ())
    assert result.leaderboards["quality"].standings == ()


def test_others_see_each_item_of_the_same_pass(tmp_path):
    builder = RecordBuilder()
    builder.add("a", "one", quality(1.0))
    builder.add("b", "one", quality(1.0))
    keys = []
    analyse(builder.write(tmp_path), {}, also=[lambda item: keys.append(item.key)])
    assert keys == ["a", "b"]


def test_intensities_stand_in_their_order(tmp_path):
    builder = RecordBuilder()
    builder.add("a", "one", quality(1.0))
    for level in ("HIGH", "VERY_LOW", "MEDIUM"):
        builder.add(f"a-{level}", "one", quality(1.0, **perturbed("a", f"ocr:{level}")))
    builder.add("a-both", "one", quality(1.0, **perturbed("a", "ocr:LOW", "comma:LOW")))
    rates = analyse(builder.write(tmp_path), {}).flip_rates
    assert [rate.name for rate in rates if rate.group == "perturbator"] == [
        "ocr:VERY_LOW",
        "ocr:MEDIUM",
        "ocr:HIGH",
        "ocr:LOW+comma:LOW",
    ]
    assert [rate.name for rate in rates if rate.group == "intensity"] == ["VERY_LOW", "LOW", "MEDIUM", "HIGH"]
