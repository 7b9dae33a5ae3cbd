from __future__ import annotations

import math

import pytest
from msgspec import structs

from pytest_evalstudio.core.cases import Case, Relationship
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.origins import origin
from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.core.repeats import PassPolicy
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from pytest_evalstudio.scoring.verdicts import flips, missed_lines, verdict
from pytest_evalstudio.stats.sequential import Sprt
from support.toys import toy_registry

PLAN = Plan(toy_registry(), configuration({"evaluators": []}))


def reading(**thresholds):
    return PLAN.get("reading", {"thresholds": thresholds})


def outcome(value, size=1.0, **more):
    return Outcome.score({"value": value, "size": size, "free": 1.0}, **more)


@pytest.mark.parametrize(
    ("thresholds", "value", "size", "passed", "missed"),
    [
        pytest.param({}, 0.5, 99.0, True, (), id="equality passes; a secondary metric does not decide"),
        pytest.param({}, 0.49, 1.0, False, ("value",), id="below"),
        pytest.param({"size": 2.0}, 0.5, 2.0, True, (), id="equality passes where lower is better"),
        pytest.param({"size": 2.0}, 0.5, 2.1, False, ("size",), id="above, where lower is better"),
        pytest.param({"size": 2.0}, 0.1, 2.1, False, ("value", "size"), id="both"),
        pytest.param({"value": math.inf}, 0.1, 1.0, None, (), id="an infinite threshold never decides"),
        pytest.param({"value": -math.inf}, 0.1, 1.0, None, (), id="nor one below everything"),
        pytest.param({"value": math.inf, "size": 2.0}, 0.1, 1.0, True, (), id="the finite one decides"),
        pytest.param({"value": 0.0}, None, 1.0, None, (), id="a metric without a value does not decide"),
        pytest.param(
            {"value": 0.0, "size": 0.5}, None, 1.0, False, ("size",), id="another one with a value does"
        ),
    ],
)
def test_pass_and_fail(thresholds, value, size, passed, missed):
    result = verdict(reading(**thresholds), [outcome(value, size, reason="so")])
    assert (result.status, result.passed, result.missed, result.reason) == ("score", passed, missed, "so")
    assert (result.pass_k, dict(result.min)) == (None, {})


def test_repeats_are_held_against_the_threshold_by_their_mean():
    result = verdict(reading(size=3.0), [outcome(0.25, 2.0), outcome(0.75, 5.0, reason="second")])
    assert result.scores == {"value": 0.5, "size": 3.5, "free": 1.0}
    assert (result.passed, result.missed, result.reason) == (False, ("size",), "second")
    assert result.min == {"value": 0.25, "size": 2.0, "free": 1.0}


@pytest.mark.parametrize(("values", "pass_k"), [((0.5, 0.9), 1.0), ((0.4, 0.9), 0.0), ((0.1, 0.1), 0.0)])
def test_pass_k_is_one_where_every_repeat_passes(values, pass_k):
    assert verdict(reading(), [outcome(value) for value in values]).pass_k == pass_k


def test_one_repeat_in_error_is_an_error_of_the_whole():
    result = verdict(reading(), [outcome(1.0), Outcome.error("down"), Outcome.not_applicable("x")])
    assert (result.status, result.passed, result.reason, dict(result.scores)) == ("error", None, "down", {})


def test_repeats_that_are_not_applicable_do_not_count():
    result = verdict(reading(), [Outcome.not_applicable("x"), outcome(0.75), outcome(0.25)])
    assert (result.scores["value"], result.passed) == (0.5, True)
    no_scores = verdict(reading(), [Outcome.not_applicable("x"), Outcome.not_applicable("y")])
    assert (no_scores.status, no_scores.passed, no_scores.reason) == ("not_applicable", None, "x")


def test_a_metric_that_was_never_scored_has_no_mean():
    result = verdict(reading(), [outcome(None), outcome(None)])
    assert (result.scores["value"], result.passed, result.missed) == (None, None, ())
    assert "value" not in result.min


def test_the_mean_of_a_metric_is_over_the_repeats_that_have_it():
    assert verdict(reading(), [outcome(0.2), outcome(None), outcome(0.4)]).scores["value"] == pytest.approx(
        0.3
    )


def test_a_line_for_each_missed_threshold_and_the_reason_once():
    selected = reading(size=2.0)
    assert missed_lines(selected, verdict(selected, [outcome(0.125, 3.0, reason="because")])) == [
        "reading: value 0.125 < 0.5: because",
        "reading: size 3 > 2",
    ]
    assert missed_lines(selected, verdict(selected, [outcome(0.0), outcome(0.25)])) == [
        "reading: value 0.125 < 0.5 (mean; least 0)"
    ]


def test_a_value_just_beyond_its_threshold_is_printed_with_the_digits_that_differ():
    selected = reading(size=2.0)
    assert missed_lines(selected, verdict(selected, [outcome(0.499999, 2.00001)])) == [
        "reading: value 0.499999 < 0.5",
        "reading: size 2.00001 > 2",
    ]


def test_the_reason_of_a_failed_mean_is_that_of_a_failing_repeat():
    outcomes = [outcome(0.6, reason="fine"), outcome(0.1, reason="the fee is missing")]
    assert verdict(reading(), outcomes).reason == "the fee is missing"
    passing = [outcome(0.9, reason="fine"), outcome(0.2, reason="the fee is missing")]
    assert verdict(reading(), passing).reason == "fine"


def perturbed_task(*categories, source=True):
    model = ModelInfo(key="m", label="m")
    original = EvalTask(name="o", model=model, case=Case(key="o", question="q"))
    link = Relationship(type="perturbation_source", target="o")
    case = Case(key="p", question="q!", relationships=(link,), categories=categories)
    return EvalTask(name="p", model=model, case=case, source=original if source else None)


def flips_of(
    selected, before, after, *, strict=True, by="perturbed_by:comma:PerturbationIntensity.HIGH", source=True
):
    before_and_after = {selected: verdict(selected, [after])}, {selected: verdict(selected, [before])}
    return flips(perturbed_task(by, source=source), *before_and_after, origin([by]), strict=strict)


def test_a_flip_from_pass_to_fail_fails_the_case():
    [flip] = flips_of(reading(), outcome(0.5), outcome(0.25))
    assert (flip.evaluator, flip.metric, flip.direction, flip.source) == (
        "reading",
        "value",
        "pass_to_fail",
        "o",
    )
    assert (flip.source_score, flip.score, flip.threshold) == (0.5, 0.25, 0.5)
    assert (flip.perturbators, flip.meaning_kept, flip.fails) == (("comma:HIGH",), True, True)


def test_a_flip_from_fail_to_pass_is_a_flip_and_fails_nothing():
    [flip] = flips_of(reading(), outcome(0.25), outcome(0.5))
    assert (flip.direction, flip.fails) == ("fail_to_pass", False)


def test_only_the_flip_of_an_asserted_metric_fails():
    [flip] = flips_of(reading(), outcome(1.0, size=1.0), outcome(1.0, size=11.0))
    assert (flip.metric, flip.direction, flip.fails) == ("size", "pass_to_fail", False)
    [asserted] = flips_of(reading(size=10.0), outcome(1.0, size=1.0), outcome(1.0, size=11.0))
    assert asserted.fails


def test_flips_can_be_reported_only():
    [flip] = flips_of(reading(), outcome(0.5), outcome(0.25), strict=False)
    assert not flip.fails


@pytest.mark.parametrize("by", ["antonym", "contextual_misinformation", "encoding_base64", "encoding_base16"])
def test_a_flip_under_a_perturbator_that_changes_the_meaning_fails_nothing(by):
    [flip] = flips_of(
        reading(), outcome(0.5), outcome(0.25), by=f"perturbed_by:{by}:PerturbationIntensity.LOW"
    )
    assert (flip.meaning_kept, flip.fails) == (False, False)


def test_of_complements_only_the_primary_one_flips():
    selected = PLAN.get("answered")
    yes, no = ({"model_passes": float(value), "model_failures": float(not value)} for value in (True, False))
    assert [flip.metric for flip in flips_of(selected, Outcome.score(yes), Outcome.score(no))] == [
        "model_passes"
    ]


def test_of_classification_only_the_primary_metric_flips():
    selected = PLAN.get("classification", {"thresholds": {"f1": 0.5}})
    right, wrong = (
        Outcome.score({"accuracy": value, "precision": None, "recall": None, "f1": value})
        for value in (1.0, 0.0)
    )
    assert [flip.metric for flip in flips_of(selected, right, wrong)] == ["accuracy"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (outcome(0.5), outcome(0.9)),
        (outcome(0.1), outcome(0.2)),
        (Outcome.error("down"), outcome(0.1)),
        (outcome(0.9), Outcome.error("down")),
        (outcome(0.9), Outcome.not_applicable("x")),
        (outcome(0.9), outcome(None)),
        (outcome(None), outcome(0.1)),
    ],
)
def test_without_two_scores_on_two_sides_of_the_threshold_nothing_flips(before, after):
    assert flips_of(reading(), before, after) == []


def test_a_case_that_is_no_perturbation_does_not_flip():
    assert flips_of(reading(), outcome(0.9), outcome(0.1), source=False) == []


def test_an_evaluator_that_judged_only_one_of_them_does_not_flip():
    assert (
        flips(perturbed_task(), {reading(): verdict(reading(), [outcome(0.1)])}, {}, origin([]), strict=True)
        == []
    )


def test_several_metrics_flip_at_once():
    result = flips_of(reading(size=10.0), outcome(0.9, size=1.0), outcome(0.1, size=99.0))
    assert [(flip.metric, flip.fails) for flip in result] == [("value", True), ("size", True)]


def test_a_threshold_of_the_perturbed_cases_own_hides_no_flip():
    case_reading, run_reading = reading(value=0.7), reading()
    [flip] = flips(
        perturbed_task(),
        {case_reading: verdict(case_reading, [outcome(0.6)])},
        {run_reading: verdict(run_reading, [outcome(0.9)])},
        origin([]),
        strict=True,
    )
    assert (flip.source_score, flip.score, flip.threshold) == (0.9, 0.6, 0.7)


@pytest.mark.parametrize(
    ("policy", "values", "passed"),
    [
        ("mean", (0.9, 0.2, 0.2), False),
        ("mean", (0.9, 0.9, 0.2), True),
        ("any", (0.9, 0.2, 0.2), True),
        ("any", (0.2, 0.2, 0.2), False),
        ("all", (0.9, 0.9, 0.2), False),
        ("all", (0.9, 0.9, 0.5), True),
        ("2/3", (0.9, 0.9, 0.2), True),
        ("8/10", (0.9, 0.9, 0.2), False),
        ("8/10", (0.9, 0.9, 0.9, 0.9, 0.2), True),
    ],
)
def test_a_policy_counts_repeats_that_pass_on_their_own(policy, values, passed):
    result = verdict(reading(), [outcome(value) for value in values], PassPolicy.parse(policy))
    assert (result.passed, result.policy) == (passed, policy)
    assert bool(result.missed) is not passed
    assert bool(missed_lines(reading(), result)) is not passed


def test_the_reason_is_that_of_a_repeat_that_fails():
    outcomes = [outcome(0.9, reason="fine"), outcome(0.1, reason="too short")]
    result = verdict(reading(), outcomes, PassPolicy.parse("all"))
    [line] = missed_lines(reading(), result)
    assert line == (
        'reading: 1 of 2 repeats pass (pass = "all"; value mean 0.5, least 0.1, threshold 0.5): too short'
    )


def test_repeats_flip_by_the_policy_that_decides_them():
    any_passes = PassPolicy.parse("any")
    before = {reading(): verdict(reading(), [outcome(0.9), outcome(0.9)], any_passes)}
    after = verdict(reading(), [outcome(0.9), outcome(0.0)], any_passes)
    by = "perturbed_by:comma:PerturbationIntensity.HIGH"
    assert flips(perturbed_task(by), {reading(): after}, before, origin([by]), strict=True) == []
    worse = verdict(reading(), [outcome(0.0), outcome(0.0)], any_passes)
    [flip] = flips(perturbed_task(by), {reading(): worse}, before, origin([by]), strict=True)
    assert (flip.metric, flip.direction) == ("value", "pass_to_fail")


def test_an_undecided_test_falls_back_to_the_policy():
    design = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
    outcomes = [outcome(0.9), outcome(0.9), outcome(0.0)]
    majority = verdict(reading(), outcomes, PassPolicy.parse("2/3"), design)
    assert (majority.stopped, majority.passed) == ("inconclusive", True)
    failed = verdict(reading(), [outcome(0.0)] * 3, PassPolicy.parse("any"), design)
    assert (failed.stopped, failed.passed) == ("fail", False)


def test_one_score_among_repeats_that_do_not_apply_is_a_verdict_on_repeats():
    outcomes = [Outcome.not_applicable("x"), outcome(0.75, reason="so")]
    result = verdict(reading(), outcomes)
    assert (result.repeats, result.passed, result.pass_k) == ((None, True), True, 1.0)
    assert result.min == {"value": 0.75, "size": 1.0, "free": 1.0}
    assert verdict(reading(), [outcome(0.75)]).repeats == ()


def test_repeats_that_fail_for_one_code_have_it():
    empty, other = OutcomeCode.ANSWER_WORDLESS, OutcomeCode.NOTHING_ENCODED

    def code(*repeats):
        return verdict(reading(), [outcome(value, code=code) for value, code in repeats]).code

    assert code((0.1, empty), (0.2, empty), (0.9, other)) == empty
    assert code((0.1, empty), (0.2, other)) == OutcomeCode.NONE
    assert code((0.9, OutcomeCode.NONE), (0.9, other), (0.8, empty)) == other
    assert code((0.9, OutcomeCode.NONE), (0.9, OutcomeCode.NONE)) == OutcomeCode.NONE


def test_the_reason_of_a_mean_is_the_first_one_of_a_score():
    outcomes = [
        Outcome.not_applicable("x"),
        outcome(0.9),
        outcome(0.9, reason="fine"),
        outcome(0.0, reason="low"),
    ]
    assert verdict(reading(), outcomes).reason == "fine"
    assert verdict(reading(), outcomes, PassPolicy.parse("all")).reason == "low"
    assert verdict(reading(), outcomes, PassPolicy.parse("any")).reason == "fine"


def test_metrics_pass_by_their_repeats_only_where_repeats_are_counted():
    outcomes = [outcome(0.9, size=11.0), outcome(0.4, size=1.0), outcome(None, size=11.0)]
    assert dict(verdict(reading(), outcomes).metric_passes) == {}
    by_any = verdict(reading(), outcomes, PassPolicy.parse("any"))
    assert dict(by_any.metric_passes) == {"value": True, "size": True}
    by_all = verdict(reading(), outcomes, PassPolicy.parse("all"))
    assert dict(by_all.metric_passes) == {"value": False, "size": False}


def test_metrics_pass_by_a_sequential_test_once_it_has_decided():
    design = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
    failing = [outcome(0.0, size=1.0)] * 3
    assert dict(verdict(reading(), failing, stopping=design).metric_passes) == {"value": False}
    assert dict(verdict(reading(), [outcome(0.9)] * 9, stopping=design).metric_passes) == {
        "value": True,
        "size": True,
    }


def test_counted_repeats_name_every_metric_that_one_of_them_misses():
    outcomes = [outcome(0.9, size=11.0), outcome(0.1, size=1.0), outcome(0.9, size=2.0)]
    selected = reading(size=10.0)
    result = verdict(selected, outcomes, PassPolicy.parse("all"))
    assert result.missed == ("value", "size")
    [line] = missed_lines(selected, result)
    assert line == (
        'reading: 1 of 3 repeats pass (pass = "all"; value mean 0.6333, least 0.1, threshold 0.5, size mean'
        " 4.667, threshold 10)"
    )


def test_a_sequential_test_that_fails_is_named_in_place_of_the_policy():
    design = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
    outcomes = [*[outcome(0.0)] * 3, Outcome.not_applicable("x")]
    [line] = missed_lines(reading(), verdict(reading(), outcomes, stopping=design))
    assert line == "reading: 0 of 3 repeats pass (sequential test; value mean 0, least 0, threshold 0.5)"


def test_a_threshold_of_a_lower_metric_is_missed_from_above():
    selected = reading(size=2.0)
    [line] = missed_lines(selected, verdict(selected, [outcome(0.9, 2.5), outcome(0.9, 3.5)]))
    assert line == "reading: size 3 > 2 (mean)"


def conversation(*messages):
    return ConversationPlan(turns=tuple(PlannedTurn(prompt=message) for message in messages))


@pytest.mark.parametrize(
    ("original", "perturbed_plan", "turn"),
    [
        (conversation("a", "b", "c"), conversation("a", "b!", "c!"), 2),
        (conversation("a", "b"), conversation("a!", "b"), 1),
        (conversation("a", "b"), conversation("a", "b"), 0),
        (None, conversation("a"), 0),
        (conversation("a"), None, 0),
    ],
)
def test_a_flip_has_the_first_turn_that_differs(original, perturbed_plan, turn):
    task = perturbed_task()
    task.source.case = structs.replace(task.source.case, plan=original)
    task.case = structs.replace(task.case, plan=perturbed_plan)
    [flip] = flips(
        task,
        {reading(): verdict(reading(), [outcome(0.1)])},
        {reading(): verdict(reading(), [outcome(0.9)])},
        origin([]),
        strict=True,
    )
    assert flip.turn == turn


def test_an_evaluator_with_other_options_is_not_the_same():
    double_reading = PLAN.get("reading", {"times": 2})
    before = {reading(): verdict(reading(), [outcome(0.9)])}
    assert (
        flips(
            perturbed_task(),
            {double_reading: verdict(double_reading, [outcome(0.1)])},
            before,
            origin([]),
            strict=True,
        )
        == []
    )
    others = {PLAN.get("answered"): verdict(reading(), [outcome(0.1)])}
    assert flips(perturbed_task(), others, before, origin([]), strict=True) == []


def test_a_metric_or_an_evaluator_without_a_score_hides_no_other_flip():
    [flip] = flips_of(reading(), outcome(None, size=1.0), outcome(None, size=99.0))
    assert flip.metric == "size"
    [flip] = flips_of(reading(), outcome(0.9, size=1.0), outcome(0.8, size=99.0))
    assert flip.metric == "size"
    other = PLAN.get("answered")
    after = {other: Verdict(status="error"), reading(): verdict(reading(), [outcome(0.1)])}
    before = {other: Verdict(status="error"), reading(): verdict(reading(), [outcome(0.9)])}
    [flip] = flips(perturbed_task(), after, before, origin([]), strict=True)
    assert (flip.evaluator, flip.metric) == ("reading", "value")
