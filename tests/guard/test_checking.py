"""Verdicts of a guard: reliable, unreliable, uncertain, and configurations that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.guard.checking import Guard
from pytest_evalstudio.guard.results import CheckRequest
from support.guard_server import Moody, configure


def guard_of(folder: Path, *ids: str, **thresholds: dict[str, float]) -> Guard:
    registry = Registry()
    registry.add_evaluator(Moody)
    return Guard(configure(folder / "guardrails.json", *ids, **thresholds), registry=registry)


def ask(answer: str, **more) -> CheckRequest:
    return CheckRequest(answer=answer, **more)


def test_an_answer_that_passes_all_metrics_is_reliable(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "pii_leakage", "looping_detection").check(ask("It costs 5 euros."))
    assert (verdict.verdict, verdict.reasons) == ("reliable", [])
    assert [check.passed for check in verdict.metrics] == [True, True]


def test_one_failed_metric_makes_it_unreliable_and_the_reason_is_masked(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "pii_leakage", "moody").check(ask("Write to jane@bank.com."))
    assert verdict.verdict == "unreliable"
    [reason] = verdict.reasons
    assert reason.startswith("pii_leakage: model_passes 0 < 0.5")
    assert "jane@bank.com" not in reason


def test_a_broken_evaluator_makes_it_uncertain(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "moody").check(ask("please raise"))
    assert verdict.verdict == "uncertain"
    assert verdict.metrics[0].score is None


def test_a_failure_outweighs_a_doubt(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "moody", "pii_leakage").check(ask("raise jane@bank.com"))
    assert verdict.verdict == "unreliable"
    assert len(verdict.reasons) == 2


def test_where_nothing_applies_it_is_uncertain(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "lexical_groundedness").check(ask("It costs 5 euros."))
    assert (verdict.verdict, verdict.reasons) == ("uncertain", ["no evaluator applies to this answer"])


def test_thresholds_of_the_configuration_decide(tmp_path: Path) -> None:
    strict = guard_of(tmp_path, lexical_groundedness={"supported_words": 1.0})
    request = ask("It costs 5 euros today.", context=["It costs 5 euros."])
    [check] = strict.check(request).metrics
    assert (check.metric, check.threshold, check.passed) == ("supported_words", 1.0, False)
    lenient = guard_of(tmp_path, lexical_groundedness={"supported_words": 0.1})
    assert lenient.check(request).verdict == "reliable"


def test_ids_of_the_reference_engine_are_understood(tmp_path: Path) -> None:
    guard = guard_of(tmp_path, "h2o_sonar.evaluators.pii_leakage_evaluator.PiiLeakageEvaluator")
    assert guard.evaluators == ["pii_leakage"]


def test_a_batch_is_as_each_alone(tmp_path: Path) -> None:
    guard = guard_of(tmp_path, "moody", "pii_leakage")
    requests = [ask(text) for text in ("fine", "bad", "raise", "jane@bank.com")]
    assert guard.check_all(requests) == [guard.check(request) for request in requests]


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["text_matching"], "needs condition|needs expected_output"),
        (["nobody"], "no evaluator named 'nobody'"),
        (["self_consistency"], "compares several answers"),
        ([], "names no evaluator"),
        (["h2o_sonar.evaluators.unheard_of.Unheard"], "no counterpart"),
    ],
)
def test_configurations_that_cannot_guard_are_refused(tmp_path: Path, ids: list[str], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        guard_of(tmp_path, *ids)
