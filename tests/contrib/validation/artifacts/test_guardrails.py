"""The guardrail configuration of a workflow: what can be checked where answers are given, by which
thresholds.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pytest_evalstudio.contrib.validation.artifacts.guardrails import guardrails
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.schema import EvaluatorEntry


def info(id: str, *metrics: Metric, **more: Any) -> EvaluatorEntry:
    return EvaluatorEntry(
        **{
            "id": id,
            "type": id,
            "name": id,
            "metrics": tuple(replace(metric, decides=metric.primary) for metric in metrics),
            "parameters": {},
            **more,
        }
    )


def metric(key: str, threshold: float, *, primary: bool = True) -> Metric:
    return Metric(key=key, name=key, better="higher", range=(0.0, 1.0), threshold=threshold, primary=primary)


GROUNDED = info(
    "lexical_groundedness",
    metric("supported_words", 0.8),
    metric("bigrams", 0.5, primary=False),
    needs=("context", "actual_output"),
)


def test_people_s_thresholds_come_before_the_run_s() -> None:
    both = {
        GROUNDED.id: GROUNDED,
        "toxicity": info("toxicity", metric("toxicity", 0.25), needs=("actual_output",)),
    }
    result = guardrails(both, {"lexical_groundedness.supported_words": 0.71})
    assert result.model_dump() == {
        "calibrated_thresholds": {
            "lexical_groundedness": {"supported_words": 0.71},
            "toxicity": {"toxicity": 0.25},
        },
        "evaluator_ids": ["lexical_groundedness", "toxicity"],
        "not_calibrated": {"toxicity": ["toxicity"]},
        "expected": None,
        "optional": [],
    }


def test_a_metric_that_people_calibrated_decides_from_now_on() -> None:
    result = guardrails({GROUNDED.id: GROUNDED}, {"lexical_groundedness.bigrams": 0.4})
    assert result.calibrated_thresholds == {"lexical_groundedness": {"supported_words": 0.8, "bigrams": 0.4}}


def test_what_needs_more_than_there_is_at_hand_is_left_out() -> None:
    expected = info("rouge", metric("rouge_l", 0.3), needs=("expected_output", "actual_output"))
    condition = info("text_matching", metric("model_passes", 0.5), needs=("actual_output", "condition"))
    drift = info("questions_drift", metric("questions_drift", 0.1), needs=("question",), scope="model")
    instance = info("strict", metric("toxicity", 0.1), needs=("actual_output",), type="toxicity")
    assert (
        guardrails({spec.id: spec for spec in (expected, condition, drift, instance)}, {}).evaluator_ids == []
    )


def test_in_place_of_a_probability_stands_the_metric_that_it_is_made_of() -> None:
    calibrated = info(
        "lexical_groundedness",
        metric("calibrated_probability", 0.5),
        metric("supported_words", 0.66, primary=False),
        needs=("context", "actual_output"),
        calibration={"of": "supported_words"},
    )
    assert guardrails({calibrated.id: calibrated}, {}).calibrated_thresholds == {
        "lexical_groundedness": {"supported_words": 0.66}
    }


def test_an_infinite_threshold_is_none() -> None:
    result = guardrails(
        {"perplexity": info("perplexity", metric("perplexity", float("inf")), needs=("actual_output",))}, {}
    )
    assert result.model_dump() == {
        "calibrated_thresholds": {},
        "evaluator_ids": ["perplexity"],
        "not_calibrated": {},
        "expected": None,
        "optional": [],
    }
