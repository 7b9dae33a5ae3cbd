"""Insights: made where the data support them, and only there."""

from __future__ import annotations

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.core.problems import INSIGHT_TYPES
from support.records import RecordBuilder, boolean_evaluator, evaluator, flip, metric, perturbed, score


@pytest.fixture
def insights(tmp_path):
    def find(builder):
        result = analyse(builder.write(tmp_path), {}).insights
        assert all(insight.insight_type in INSIGHT_TYPES and insight.actions for insight in result)
        return result

    return find


def quality(value, **more):
    return {"outcomes": {"quality": score(value)}, **more}


def two_models(first_scores, second_scores, **evaluator_changes):
    builder = RecordBuilder(evaluator("quality", **evaluator_changes), models=("one", "two"))
    for key, (first, second) in zip("abcdef", zip(first_scores, second_scores, strict=True), strict=False):
        builder.add(key, "one", quality(first))
        builder.add(key, "two", quality(second))
    return builder


def test_best_and_worst_model(insights):
    best, worst = insights(two_models([0.9, 0.8], [0.6, 0.7]))
    assert "the best model is 'one' (Score 0.85, 95 % interval 0.8 to 0.9)" in best.description
    assert (worst.attributes["model"], worst.attributes["score"]) == ("m-two", pytest.approx(0.65))


def test_lower_is_better_turns_the_order(insights):
    builder = RecordBuilder(
        evaluator("quality", metric(better="lower", threshold=1.0)), models=("one", "two")
    )
    for key in "ab":
        builder.add(key, "one", quality(0.9))
        builder.add(key, "two", quality(0.1))
    assert insights(builder)[0].attributes["model"] == "m-two"


def test_models_whose_intervals_overlap_are_not_ranked(insights):
    builder = two_models([0.9, 0.8, 0.7, 0.6], [0.85, 0.75, 0.65, 0.6])
    assert not any(
        "best model" in text.description or "worst" in text.description for text in insights(builder)
    )


def test_one_answer_ranks_no_models(insights):
    assert insights(two_models([0.9], [0.6])) == ()


def test_ties_one_model_and_zero_durations_give_none(insights):
    assert insights(two_models([0.9, 0.7], [0.7, 0.9])) == ()
    single_model = RecordBuilder()
    single_model.add("a", "one", quality(0.9, actual_duration=1.0, cost=1.0))
    assert insights(single_model) == ()


def test_of_three_models_a_shared_lead_has_no_best_but_a_worst(insights):
    builder = RecordBuilder(models=("one", "two", "three"))
    for name, value in (("one", 0.9), ("two", 0.9), ("three", 0.6)):
        for key in "ab":
            builder.add(key, name, quality(value))
    (result,) = insights(builder)
    assert "the worst model is 'three'" in result.description


def test_a_boolean_evaluator_tells_the_most_accurate_and_the_best_retrieving_model(insights):
    builder = RecordBuilder(boolean_evaluator(), models=("one", "two"))
    for name, passes, retrieval in (("one", 1.0, 0.0), ("two", 0.0, 1.0)):
        scores = {
            "model_passes": passes,
            "model_retrieval_failures": retrieval,
            "model_generation_failures": 0.0,
        }
        for key in "abcdef":
            builder.add(key, name, {"outcomes": {"text_matching": {"status": "score", "scores": scores}}})
    texts = [insight.description for insight in insights(builder)]
    assert any("most accurate model is 'one'" in text for text in texts)
    assert any("least accurate model is 'two'" in text for text in texts)
    assert any("best retrieving model is 'one'" in text for text in texts)
    assert any(
        "for 6 prompts the retrieval of model 'two' failed and its answer did not" in text for text in texts
    )


def test_fastest_and_cheapest(insights):
    builder = RecordBuilder(models=("one", "two"))
    for key in "ab":
        builder.add(key, "one", quality(0.9, actual_duration=2.0, cost=0.5))
        builder.add(key, "two", quality(0.9, actual_duration=0.5, cost=0.25))
    fast, cheap = insights(builder)
    assert (fast.insight_type, fast.attributes["fastest_model"], fast.attributes["slowest_s"]) == (
        "efficiency",
        "m-two",
        2.0,
    )
    assert (
        cheap.insight_type,
        cheap.attributes["cheapest_model_name"],
        cheap.attributes["highest_cost"],
    ) == ("cost", "two", 0.5)


TIMES = {
    "one answer of each model": ([1.0], [9.0], None),
    "intervals that overlap": ([0.9, 1.0, 1.1], [1.0, 1.1, 1.2], None),
    "intervals that do not overlap": ([0.9, 1.0, 1.1], [2.0, 2.1, 2.2], "m-one"),
    "one slow answer": ([1.0, 1.0, 1.0], [1.0, 1.0, 9.0], None),
}


@pytest.mark.parametrize(("first_times", "second_times", "fastest"), TIMES.values(), ids=TIMES)
def test_a_model_is_the_fastest_only_beyond_the_noise(insights, first_times, second_times, fastest):
    builder = RecordBuilder(models=("one", "two"))
    for name, times in (("one", first_times), ("two", second_times)):
        for key, time in zip("abc", times, strict=False):
            builder.add(key, name, quality(0.9, actual_duration=time))
    claims = [insight.attributes for insight in insights(builder) if insight.insight_type == "efficiency"]
    assert [claim["fastest_model"] for claim in claims] == ([fastest] if fastest else [])


def test_a_slowest_model_without_a_fastest_one(insights):
    builder = RecordBuilder(models=("one", "two", "three"))
    for key, noise in zip("abc", (0.0, 0.1, 0.2), strict=True):
        builder.add(key, "one", quality(0.9, actual_duration=1.0 + noise))
        builder.add(key, "two", quality(0.9, actual_duration=1.05 + noise))
        builder.add(key, "three", quality(0.9, actual_duration=5.0 + noise))
    (claim,) = (insight for insight in insights(builder) if insight.insight_type == "efficiency")
    assert claim.description == "The slowest model is 'three' with 5.1 s per answer on average."
    assert "fastest_model" not in claim.attributes


@pytest.mark.parametrize(
    ("first_fields", "second_fields"),
    [
        pytest.param({"actual_duration": 0.0}, {"actual_duration": 1.0}, id="a model without times"),
        pytest.param({"cost": 0.0}, {"cost": 0.0}, id="all costs zero"),
        pytest.param({"cost": None}, {"cost": 1.0}, id="a cost that is not known"),
    ],
)
def test_no_comparison_of_what_is_not_known(insights, first_fields, second_fields):
    builder = RecordBuilder(models=("one", "two"))
    builder.add("a", "one", quality(0.9, **first_fields))
    builder.add("a", "two", quality(0.9, **second_fields))
    assert insights(builder) == ()


def test_the_most_difficult_prompt_and_those_no_model_answers(insights):
    result = insights(two_models([0.9, 0.1, 0.2, 0.9], [0.9, 0.1, 0.3, 0.2]))
    weak = [insight for insight in result if insight.insight_type == "weak_point"]
    assert "the most difficult prompt is 'What about b?'; 2 of 2 models fail it" in weak[0].description
    assert weak[1].attributes["test_case_keys"] == ["b", "c"]
    assert "no model passes 2 prompts ('What about b?', 'What about c?')" in weak[1].description


def test_equally_difficult_prompts_have_no_hardest(insights):
    texts = [insight.description for insight in insights(two_models([0.1, 0.1, 0.9], [0.2, 0.2, 0.9]))]
    assert not any("most difficult" in text for text in texts)


def test_the_least_grounded_sentence(insights):
    builder = RecordBuilder(evaluator("grounded", metric(), needs=["context", "actual_output"]))
    fragments = [
        {"start": 0, "end": 8, "scores": {"score": 0.9}},
        {"part": "answer", "start": 9, "end": 20, "scores": {"score": 0.2}},
    ]
    builder.add(
        "a",
        "one",
        {"actual_output": "Is true. Is made up.", "outcomes": {"grounded": score(0.2, fragments=fragments)}},
    )
    builder.add(
        "b",
        "one",
        {"outcomes": {"grounded": score(0.6, fragments=[{"start": 0, "end": 3, "scores": {"score": 0.6}}])}},
    )
    *_, result = insights(builder)
    assert "the least grounded sentence is 'Is made up.' of model 'one' (Score 0.2)" in result.description
    assert result.attributes["test_case_keys"] == ["a"]


def sensitive(flipped, copies_flipped, compared=20):
    builder = RecordBuilder()
    for number in range(compared):
        builder.add(f"k{number}", "one", quality(0.9))
        for name, turned in (("comma:LOW", number < flipped), ("copy", number < copies_flipped)):
            flips = [flip(f"k{number}", perturbators=[name])] if turned else []
            builder.add(
                f"k{number}-{name}", "one", quality(0.6, **perturbed(f"k{number}", name)), flips=flips
            )
    return builder


def test_the_perturbation_that_turns_more_than_noise_does(insights):
    (result,) = insights(sensitive(12, 0))
    assert result.insight_type == "robustness"
    assert "most sensitive to comma:LOW: 60 % of 20 pairs flip" in result.description
    assert result.attributes["noise"] == 0.0


def test_flips_within_the_noise_are_no_insight(insights):
    assert insights(sensitive(5, 3)) == ()


def test_a_run_of_one_model_has_a_hardest_prompt(insights):
    builder = RecordBuilder()
    for key, value in (("a", 0.9), ("b", 0.1), ("c", 0.3)):
        builder.add(key, "one", {"input": f"What about {key}?", "outcomes": {"quality": score(value)}})
    (hardest,) = insights(builder)
    assert "the hardest prompt is 'What about b?' (Score 0.1); 2 of 3 prompts fail." in hardest.description
    assert hardest.attributes["test_case_keys"] == ["b"]
