"""Problems: what is raised, how severe it is, and that their number is bounded."""

from __future__ import annotations

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.analysis.problems import miss_severity
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.problems import AVID, PROBLEM_TYPES
from support.records import RecordBuilder, boolean_evaluator, evaluator, flip, leak, metric, perturbed, score


@pytest.fixture
def problems(tmp_path):
    def find(builder, **more):
        result = analyse(builder.write(tmp_path), {}, **more).problems
        assert all(
            problem.problem_type in PROBLEM_TYPES and problem.avid in AVID and problem.actions
            for problem in result
        )
        assert [problem.severity for problem in result] == sorted(
            (p.severity for p in result), key=["high", "medium", "low"].index
        )
        return result

    return find


def quality(value, **more):
    return {"outcomes": {"quality": score(value)}, **more}


INF = float("inf")


@pytest.mark.parametrize(
    ("changes", "value", "severity"),
    [
        pytest.param({"threshold": 0.8}, 0.41, "medium", id="higher is better, near half"),
        pytest.param({"threshold": 0.8}, 0.39, "high", id="higher is better, far half"),
        pytest.param({"threshold": 0.2, "better": "lower"}, 0.59, "medium", id="lower is better, near half"),
        pytest.param({"threshold": 0.2, "better": "lower"}, 0.61, "high", id="lower is better, far half"),
        pytest.param(
            {"threshold": 40.0, "better": "lower", "range": (1.0, INF)},
            80.0,
            "medium",
            id="no worst end, twice the threshold",
        ),
        pytest.param(
            {"threshold": 40.0, "better": "lower", "range": (1.0, INF)},
            80.1,
            "high",
            id="no worst end, beyond twice the threshold",
        ),
        pytest.param({"threshold": 2.0, "range": (-INF, INF)}, 0.5, "medium", id="no worst end below"),
        pytest.param({"threshold": 2.0, "range": (-INF, INF)}, -0.5, "high", id="far beyond an end below"),
    ],
)
def test_severity_grows_with_the_distance_in_both_directions(changes, value, severity):
    assert miss_severity(Metric("m", **changes), value, changes["threshold"]) == severity


def test_a_missed_privacy_mean_is_always_high():
    assert miss_severity(Metric("m", threshold=0.8), 0.79, 0.8, "privacy") == "high"


def test_a_mean_is_held_against_the_mean_of_its_cases_thresholds(problems):
    builder = RecordBuilder(models=("one",))
    for key, limit in (
        ("a", 0.2),
        ("b", 0.4),
        ("c", None),
    ):  # the third has the run's, 0.5: (0.2 + 0.4 + 0.5) / 3 = 0.3667
        builder.add(key, "one", quality(0.36))
        if limit is not None:
            builder.items[-1]["verdicts"]["quality"]["thresholds"] = {"score": limit}
    (result,) = problems(builder)
    assert result.attributes["threshold"] == pytest.approx(1.1 / 3)
    assert "0.36, below the threshold 0.3667" in result.description


def test_a_mean_beyond_its_threshold_is_a_problem_with_its_figures(problems):
    builder = RecordBuilder(models=("one", "two"))
    builder.add("a", "one", quality(0.4))
    builder.add("a", "two", quality(0.5))
    (result,) = problems(builder)
    assert (result.severity, result.problem_type, result.avid) == ("medium", "accuracy", "P0200")
    assert result.attributes == {
        "model": "m-one",
        "model_name": "one",
        "evaluator": "quality",
        "metric": "score",
        "threshold": 0.5,
        "score": 0.4,
    }
    assert "0.4, below the threshold 0.5 (1 scored row)" in result.description


def test_an_infinite_threshold_and_complements_of_a_boolean_metric_raise_nothing(problems):
    builder = RecordBuilder(
        evaluator("quality", metric(threshold="Infinity", better="lower", range=[0, "Infinity"])),
        boolean_evaluator(),
    )
    scores = {"model_passes": 0.6, "model_failures": 0.9}
    builder.add(
        "a",
        "one",
        {"outcomes": {"quality": score(9e9), "text_matching": {"status": "score", "scores": scores}}},
    )
    assert problems(builder) == ()


def test_each_flip_is_a_problem_in_either_direction(problems):
    builder = RecordBuilder(models=("one", "two"))
    for name in ("one", "two"):
        builder.add("k", name, quality(1.0))
        row = quality(0.6, **perturbed("k", "comma:HIGH"), input="What, about k?")
        builder.add(
            "k-comma",
            name,
            row,
            flips=[flip("k", direction="fail_to_pass" if name == "two" else "pass_to_fail")],
        )
    result = problems(builder)
    assert [(p.severity, p.problem_type, p.avid, p.attributes["direction"]) for p in result] == [
        ("high", "robustness", "P0200", "pass_to_fail"),
        ("high", "robustness", "P0200", "fail_to_pass"),
    ]
    assert "Original question: 'What about k?'. Perturbed: 'What, about k?'" in result[0].description
    assert result[0].attributes["test_case_keys"] == ["k-comma"]


def test_flips_under_a_changed_meaning_are_one_low_problem(problems):
    builder = RecordBuilder()
    for number in range(5):
        builder.add(
            f"k{number}",
            "one",
            quality(1.0, **perturbed("k", "antonym:HIGH")),
            flips=[flip("k", meaning_kept=False, fails=False)],
        )
    (result,) = problems(builder)
    assert (result.severity, result.attributes["count"]) == ("low", 5)


def test_thousands_of_flips_are_bounded_with_one_problem_for_the_rest(problems):
    builder = RecordBuilder()
    for number in range(1_203):
        builder.add(f"k{number}", "one", quality(1.0, **perturbed("k", "comma:HIGH")), flips=[flip("k")])
    result = problems(builder)
    assert len(result) == 1_001
    assert result[-1].attributes["count"] == 203


def test_a_leak_is_high_whatever_its_finding_says_and_stands_once_over_repeats(problems):
    builder = RecordBuilder()
    row = {"outcomes": {"quality": {**score(1.0), "findings": [leak("a card number in the answer")]}}}
    builder.add("a", "one", row, row)
    (result,) = problems(builder)
    assert (result.severity, result.problem_type, result.avid, result.actions) == (
        "high",
        "privacy",
        "P0300",
        "Mask it.",
    )
    assert "a card number in the answer" in result.description


def test_a_finding_of_another_kind_keeps_its_severity(problems):
    builder = RecordBuilder()
    builder.add(
        "a",
        "one",
        {
            "outcomes": {
                "quality": {
                    **score(1.0),
                    "findings": [leak("an empty file", problem_type="data_quality", severity="low")],
                }
            }
        },
    )
    assert problems(builder)[0].severity == "low"


def test_five_thousand_empty_contexts_are_one_problem(problems):
    builder = RecordBuilder()
    for number in range(5_000):
        builder.add(f"k{number}", "one", quality(1.0, is_rag=True))
    builder.add("fine", "one", quality(1.0, is_rag=True, context=["a chunk"]))
    (result,) = problems(builder)
    assert (result.problem_type, result.severity, result.attributes["count"]) == ("retrieval", "high", 5_000)
    assert result.attributes["test_case_keys"] == [f"k{number}" for number in range(10)]


def test_a_model_that_does_not_retrieve_needs_no_context(problems):
    builder = RecordBuilder()
    builder.add("a", "one", quality(1.0, is_rag=False))
    assert problems(builder) == ()


def test_host_errors_and_retries(problems):
    builder = RecordBuilder()
    fault = {
        "outcomes": {"quality": {"status": "error", "reason": "503"}},
        "error": "503 from the service",
        "actual_output": "",
    }
    builder.add("down", "one", fault)
    builder.add("slow", "one", quality(1.0, retries=2))
    builder.add("fine", "one", quality(1.0))
    first, second = problems(builder)
    assert (first.severity, first.problem_type) == ("medium", "runtime")
    assert "did not answer 1 question ('down'): 503 from the service" in first.description
    assert (second.severity, second.attributes["test_case_keys"]) == ("low", ["slow"])
    assert "2 retries" in second.description


@pytest.mark.parametrize(
    ("method", "reason", "problem_type", "message"),
    [
        (["rules"], "metric 'score' is not a number", "robustness", "no number (NaN)"),
        (["judge"], "the judge's reply is not JSON", "runtime", "usable reply of its judge"),
        (["nli"], "text longer than max_text_chars", "runtime", "could not judge"),
    ],
)
def test_errors_of_an_evaluator_say_what_went_wrong(problems, method, reason, problem_type, message):
    builder = RecordBuilder(evaluator("quality", method=method))
    builder.add("a", "one", quality(1.0))
    builder.add("b", "one", {"outcomes": {"quality": {"status": "error", "reason": reason}}})
    (result,) = problems(builder)
    assert (result.problem_type, result.severity) == (problem_type, "medium")
    assert message in result.description
    assert reason in result.description


def test_negative_and_missing_costs(problems):
    builder = RecordBuilder()
    for key, cost in (("a", -1.0), ("b", None), ("c", 0.5)):
        builder.add(key, "one", quality(1.0, cost=cost))
    negative, missing = problems(builder)
    assert "negative cost for 1 answer ('a')" in negative.description
    assert "1 of 3 answers" in missing.description
    assert {p.problem_type for p in (negative, missing)} == {"cost"}


def test_a_run_without_any_cost_is_no_problem(problems):
    builder = RecordBuilder()
    builder.add("a", "one", quality(1.0))
    assert problems(builder) == ()


@pytest.mark.parametrize(
    ("settings", "problem_type", "message"),
    [
        ({"latency.max_s": 1.0}, "efficiency", "95th percentile"),
        ({"max_cost": 2.5}, "cost", "cost 3, more than max_cost = 2.5"),
        ({"storage.max_mb": 10}, "storage", "take 12 MB"),
        ({"min_test_cases": 4}, "data_quality", "scored 3 test cases"),
    ],
)
def test_limits_of_the_settings(problems, settings, problem_type, message):
    builder = RecordBuilder(settings=settings)
    for key in "abc":
        builder.add(key, "one", quality(1.0, cost=1.0, actual_duration=1.5))
    (result,) = problems(builder, storage_mb=12.0)
    assert result.problem_type == problem_type
    assert message in result.description


@pytest.mark.parametrize(
    ("of_run", "of_evaluator", "limit"), [(4, None, 4), (4, 2, None), (0, 4, 4), (4, 0, None)]
)
def test_the_number_of_cases_that_an_evaluator_needs_comes_before_that_of_the_run(
    problems, of_run, of_evaluator, limit
):
    more = {} if of_evaluator is None else {"min_test_cases": of_evaluator}
    builder = RecordBuilder(evaluator("quality", **more), settings={"min_test_cases": of_run})
    for key in "abc":
        builder.add(key, "one", quality(1.0))

    assert [problem.attributes["limit"] for problem in problems(builder)] == ([limit] if limit else [])


def test_a_guardrail_suite_in_which_nothing_was_encoded(problems):
    builder = RecordBuilder(boolean_evaluator("encoding_guardrail"))
    outcome = {"status": "score", "scores": {"model_passes": 1.0}, "reason": "nothing encoded was found"}
    builder.add("a", "one", {"outcomes": {"encoding_guardrail": outcome}})
    (result,) = problems(builder)
    assert (result.severity, result.problem_type) == ("low", "data_quality")
    builder.add("b", "one", {"outcomes": {"encoding_guardrail": {**outcome, "reason": ""}}})
    assert problems(builder) == ()


def test_flips_of_one_evaluator_on_one_case_are_one_problem_that_keeps_each(problems):
    builder = RecordBuilder(
        evaluator("quality", metric(), metric("size", primary=False)), boolean_evaluator()
    )
    builder.add("k", "one", quality(1.0))
    turned = [
        flip("k", score=0.4),
        flip("k", metric="size", source_score=0.2, score=0.9, direction="fail_to_pass"),
        flip("k", "text_matching", metric="model_passes"),
    ]
    builder.add("k-comma", "one", quality(1.0, **perturbed("k", "comma:HIGH")), flips=turned)
    first, second = problems(builder)
    assert (
        "score flipped from pass to fail (1 → 0.4, threshold 0.5); size flipped from fail to pass (0.2 → 0.9,"
        " threshold 0.5)" in first.description
    )
    assert [(entry["metric"], entry["direction"], entry["score"]) for entry in first.attributes["flips"]] == [
        ("score", "pass_to_fail", 0.4),
        ("size", "fail_to_pass", 0.9),
    ]
    assert second.attributes["evaluator"] == "text_matching"


def test_a_flip_of_an_unchanged_copy_is_called_noise(problems):
    builder = RecordBuilder()
    builder.add("k", "one", quality(1.0))
    builder.add(
        "k-copy", "one", quality(0.6, **perturbed("k", "copy")), flips=[flip("k", perturbators=["copy"])]
    )
    assert "the model's own noise" in problems(builder)[0].actions
