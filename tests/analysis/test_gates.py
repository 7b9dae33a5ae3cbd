"""Gates: what may be written, and when they are met."""

from __future__ import annotations

import math

import pytest

from pytest_evalstudio.analysis.gates import check_gate, evaluate_gates, parse_gate
from pytest_evalstudio.analysis.leaderboards import leaderboards
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric
from support.records import RecordBuilder, evaluator, metric, score

METRICS = {
    "quality": [Metric("score", primary=True), Metric("other")],
    "rouge": [Metric("rouge_1"), Metric("rouge_l", primary=True)],
    "perplexity": [Metric("perplexity", better="lower", range=(1.0, math.inf), primary=True)],
}


@pytest.mark.parametrize(
    ("text", "function", "id", "metric_key", "percent", "sign", "limit"),
    [
        ("rouge.rouge_l >= 0.3", "mean", "rouge", "rouge_l", 0, ">=", 0.3),
        ("  quality<1e-2 ", "mean", "quality", "", 0, "<", 0.01),
        ("pass_rate(rouge) > .9", "pass_rate", "rouge", "", 0, ">", 0.9),
        ("p5(quality.other) >= -1", "percentile", "quality", "other", 5, ">=", -1.0),
        ("p99( quality ) <= 40", "percentile", "quality", "", 99, "<=", 40.0),
        ("my-judge >= 1", "mean", "my-judge", "", 0, ">=", 1.0),
    ],
)
def test_a_gate_is_read(text, function, id, metric_key, percent, sign, limit):
    gate = parse_gate(text)
    assert (gate.function, gate.evaluator, gate.metric, gate.percent, gate.sign, gate.limit) == (
        function,
        id,
        metric_key,
        percent,
        sign,
        limit,
    )


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "a comparison with a number is missing"),
        ("rouge", "a comparison with a number is missing"),
        ("rouge == 0.3", "a comparison with a number is missing"),
        ("rouge >= high", "'high' is not a number"),
        ("rouge >= nan", "'nan' is not a number"),
        ("rouge >= 30%", "'30%' is not a number"),
        (">= 0.3", "term before the sign is missing"),
        ("p0(rouge) >= 1", "'p0' is neither pass_rate nor a percentile"),
        ("p100(rouge) >= 1", "'p100' is neither"),
        ("median(rouge) >= 1", "'median' is neither"),
        ("pass_rate(rouge.rouge_l) >= 1", "without a metric: pass_rate(rouge)"),
        ("rouge.rouge.l >= 1", "names no evaluator"),
        ("p95() >= 1", "names no evaluator"),
        ("0.3 <= rouge", "'rouge' is not a number"),
        ("a b >= 1", "'a b' is not a term"),
    ],
)
def test_a_malformed_gate_says_what_is_wrong_and_how_to_write_it(text, fact):
    with pytest.raises(ConfigurationError) as exc_info:
        parse_gate(text)
    assert fact in str(exc_info.value)
    assert "e.g. 'rouge.rouge_l >= 0.3'" in str(exc_info.value)
    assert repr(text.strip()) in str(exc_info.value)


def test_unknown_names_are_answered_with_the_nearest():
    check_gate(parse_gate("rouge.rouge_l >= 0.3"), METRICS)
    check_gate(parse_gate("p95(quality) >= 0.3"), METRICS)
    with pytest.raises(ConfigurationError, match="Did you mean 'rouge'"):
        check_gate(parse_gate("rogue >= 0.3"), METRICS)
    with pytest.raises(ConfigurationError, match=r"Did you mean 'rouge_l'.*It has: rouge_1, rouge_l"):
        check_gate(parse_gate("rouge.rouge_L >= 0.3"), METRICS)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("pass_rate(rouge) >= 95", "95 is outside the range of a pass rate, 0 to 1; write 0.95 for 95 %"),
        ("rouge >= 1.5", "1.5 is outside the range of rouge_l, 0 to 1"),
        ("rouge.rouge_1 >= -0.1", "-0.1 is outside the range of rouge_1, 0 to 1"),
        ("p95(perplexity) <= 0.5", "0.5 is outside the range of perplexity, 1 or more"),
    ],
)
def test_a_limit_that_no_model_can_reach_is_refused(text, fact):
    with pytest.raises(ConfigurationError) as exc_info:
        check_gate(parse_gate(text), METRICS)
    assert fact in str(exc_info.value)


@pytest.mark.parametrize(
    "text", ["pass_rate(rouge) >= 1", "rouge < 0", "perplexity <= 1e9", "p1(quality.other) > 0.99"]
)
def test_a_limit_at_the_end_of_the_range_is_accepted(text):
    check_gate(parse_gate(text), METRICS)


@pytest.fixture
def evaluated():
    builder = RecordBuilder(
        evaluator("quality", metric(), metric("other", primary=False)),
        evaluator("unused"),
        models=("one", "two"),
    )
    for name, values in (("one", (0.0, 1.0, 1.0)), ("two", (0.5, 0.75, 1.0))):
        for key, value in zip("abc", values, strict=True):
            builder.add(
                key,
                name,
                {"outcomes": {"quality": {**score(value), "scores": {"score": value, "other": None}}}},
            )
    boards = leaderboards(builder.run, builder.typed_items, {})

    def evaluate(text, models=None):
        return evaluate_gates([parse_gate(text)], boards, models or {"m-one": "one", "m-two": "two"})[0]

    return evaluate


@pytest.mark.parametrize(
    ("text", "met", "values"),
    [
        ("quality >= 0.6", True, (2 / 3, 0.75)),
        ("quality > 0.75", False, (2 / 3, 0.75)),
        ("quality.score <= 0.75", True, (2 / 3, 0.75)),
        ("pass_rate(quality) >= 0.7", False, (2 / 3, 1.0)),
        ("p50(quality) >= 0.75", True, (1.0, 0.75)),
        ("p50(quality) < 1", False, (1.0, 0.75)),
    ],
)
def test_every_model_must_meet_it(evaluated, text, met, values):
    result = evaluated(text)
    assert result.met is met
    assert tuple(result.values.values()) == pytest.approx(values)


def test_the_line_for_the_terminal_names_each_model(evaluated):
    result = evaluated("quality > 0.7")
    assert result.missed == ("m-one",)
    assert result.text == "quality > 0.7: not met (one 0.6667; two 0.75)"


@pytest.mark.parametrize(
    "text",
    ["quality.other >= 0", "pass_rate(unused) >= 0", "p5(quality.other) <= 1", "unused <= 1", "nobody <= 1"],
)
def test_no_scored_row_is_not_met(evaluated, text):
    result = evaluated(text)
    assert not result.met
    assert "no scored row" in result.text


def test_a_model_that_was_never_put_to_the_evaluator_is_not_held_to_its_gate(evaluated):
    result = evaluated("quality >= 0", {"m-one": "one", "m-other": "of another folder"})
    assert (result.met, list(result.values)) == (True, ["m-one"])


def test_a_model_without_a_scored_row_does_not_meet_it():
    builder = RecordBuilder(evaluator("quality"), models=("one", "mute"))
    builder.add("a", "one", {"outcomes": {"quality": score(1.0)}})
    builder.add("a", "mute", {"outcomes": {"quality": {"status": "not_applicable", "reason": "no answer"}}})
    boards = leaderboards(builder.run, builder.typed_items, {})
    (result,) = evaluate_gates([parse_gate("quality >= 0")], boards, {"m-one": "one", "m-mute": "mute"})
    assert (result.met, result.missed) == (False, ("m-mute",))
