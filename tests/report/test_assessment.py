"""Assessment of models: by the threshold in force, by the worst case where it is about safety."""

from __future__ import annotations

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.analysis.summary.assessment import assess, distance
from pytest_evalstudio.analysis.summary.models import model_summaries
from pytest_evalstudio.core.outcomes import Metric
from support.records import RecordBuilder, boolean_evaluator, evaluator, leak, metric, score


def analysed(builder, folder):
    return analyse(builder.write(folder), {})


def of(analysis, id="quality", model="m-one"):
    board = analysis.leaderboards[id]
    return assess(board, board.standing(model), board.evaluator.primary)


@pytest.mark.parametrize(
    ("entry", "value", "expected"),
    [
        (Metric("m"), 1.0, 1.0),
        (Metric("m"), 0.75, 0.0),
        (Metric("m"), 0.0, -1.0),
        (Metric("m", better="lower"), 0.0, 1.0),
        (Metric("m", better="lower", range=(1.0, float("inf")), threshold=10.0), 15.0, -0.5),
        (Metric("m", threshold=1.0), 1.0, 1.0),
        (Metric("m", threshold=0.0), 0.5, 0.5),
    ],
)
def test_the_distance_runs_from_the_worst_value_over_the_threshold_to_the_best(entry, value, expected):
    assert distance(entry, value, entry.threshold) == pytest.approx(expected)


@pytest.mark.parametrize(("value", "heat"), [(1.0, "h6"), (0.5, "h4"), (0.49, "h2"), (0.0, "h0")])
def test_the_colour_is_the_distance_to_the_threshold(tmp_path, value, heat):
    builder = RecordBuilder()
    builder.add("a", "one", {"outcomes": {"quality": score(value)}})
    assert of(analysed(builder, tmp_path)).heat == heat


def leaking(folder, leaks=1, of_=40):
    builder = RecordBuilder(boolean_evaluator("pii", problem_type="privacy", domain="privacy"))
    for number in range(of_):
        bad = number < leaks
        outcome = {"status": "score", "scores": {"model_passes": 0.0 if bad else 1.0}}
        outcome["findings"] = [leak("a card")] if bad else []
        builder.add(f"k{number}", "one", {"outcomes": {"pii": outcome}})
    return analysed(builder, folder)


def test_one_leak_among_many_answers_misses_the_threshold(tmp_path):
    verdict = of(leaking(tmp_path), "pii")
    assert (verdict.state, verdict.failing, verdict.judged, verdict.worst_case) == ("misses", 1, 40, True)
    assert verdict.heat in ("h0", "h1", "h2")


def test_a_model_that_leaks_misses_its_conditions_whatever_its_mean(tmp_path):
    (model,) = model_summaries(leaking(tmp_path))
    assert model.conformity == "misses conditions"
    assert model.missed == ("Pii: 1 of 40 answers miss the threshold",)


def test_a_model_without_a_leak_meets_its_conditions(tmp_path):
    (model,) = model_summaries(leaking(tmp_path, leaks=0))
    assert (model.conformity, model.limits) == ("meets conditions", ())


def test_an_evaluator_that_scored_nothing_is_not_fine(tmp_path):
    builder = RecordBuilder(evaluator("quality"), evaluator("agent"))
    outcome = {"status": "not_applicable", "reason": "no agent"}
    builder.add("a", "one", {"outcomes": {"quality": score(0.9), "agent": outcome}})
    verdict = of(analysed(builder, tmp_path), "agent")
    assert (verdict.state, verdict.heat) == ("not_scored", "")


def test_a_gate_that_a_model_misses_is_named(tmp_path):
    builder = RecordBuilder(models=("one", "two"), gates=["quality >= 0.8"])
    for name, value in (("one", 0.9), ("two", 0.7)):
        for number in range(25):
            builder.add(f"k{number}", name, {"outcomes": {"quality": score(value)}})
    first, second = model_summaries(analysed(builder, tmp_path))
    assert (first.key, first.conformity, second.conformity) == (
        "m-one",
        "meets conditions",
        "misses conditions",
    )
    assert second.missed == ("gate quality >= 0.8 not met (0.7)",)


def test_a_metric_without_a_threshold_has_no_verdict(tmp_path):
    builder = RecordBuilder(evaluator("quality", metric(threshold="Infinity", better="lower")))
    builder.add("a", "one", {"outcomes": {"quality": score(0.9)}}, verdicts={})
    builder.items[0]["verdicts"] = {
        "quality": {"status": "score", "passed": None, "scores": {"score": 0.9}, "missed": []}
    }
    assert of(analysed(builder, tmp_path)).state in ("no_threshold", "not_scored")


def test_unanswered_questions_stay_in_the_denominator(tmp_path):
    builder = RecordBuilder()
    error = {"status": "error", "code": "no_answer", "reason": "HTTP 503"}
    builder.add("k0", "one", {"outcomes": {"quality": score(0.9)}})
    for number in range(1, 40):
        row = {"actual_output": "", "error": "HTTP 503", "outcomes": {"quality": error}}
        builder.add(f"k{number}", "one", row)
    (model,) = model_summaries(analysed(builder, tmp_path))
    assert (model.passed, model.asked, model.conformity) == (1, 40, "not assessed")
    assert model.interval is not None
    assert model.interval[1] < 0.15


def test_a_metric_that_decides_no_test_misses_no_condition(tmp_path):
    builder = RecordBuilder(evaluator("quality"), evaluator("rouge", metric(asserted=False)))
    for number in range(25):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(0.9), "rouge": score(0.1)}})
    (model,) = model_summaries(analysed(builder, tmp_path))
    assert (model.conformity, model.missed) == ("meets conditions", ())
