"""Verdicts of a guard: reliable, unreliable, uncertain, and configurations that are refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.guard.checking import Guard
from pytest_evalstudio.contrib.guard.results import CheckRequest
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from support.guard_plugin import Moody
from support.guard_server import configure


def guard_of(folder: Path, *ids: str, optional: Sequence[str] = (), **thresholds: dict[str, float]) -> Guard:
    registry = Registry()
    registry.add_evaluator(Moody)
    file = configure(folder / "guardrails.json", *ids, optional=optional, **thresholds)
    return Guard(file, registry=registry)


def ask(answer: str, **more) -> CheckRequest:
    return CheckRequest(answer=answer, **more)


def test_an_answer_that_passes_all_metrics_is_reliable(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "pii_leakage", "looping_detection").check(ask("It costs 5 euros."))
    assert (verdict.verdict, verdict.reasons) == ("reliable", [])
    assert {check.evaluator for check in verdict.metrics} == {"pii_leakage", "looping_detection"}
    assert all(check.passed for check in verdict.metrics)


def test_a_threshold_that_no_score_can_meet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="40 is outside the range of model_passes, 0 to 1"):
        guard_of(tmp_path, "pii_leakage", pii_leakage={"model_passes": 40})


def test_one_failed_metric_makes_it_unreliable_and_the_reason_is_masked(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "pii_leakage", "moody").check(ask("Write to jane@bank.com."))
    assert verdict.verdict == "unreliable"
    [reason] = verdict.reasons
    assert reason.startswith("pii_leakage: failed")
    assert "jane@bank.com" not in reason


def test_a_broken_evaluator_makes_it_uncertain(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "moody").check(ask("please raise"))
    assert verdict.verdict == "uncertain"
    assert verdict.metrics[0].score is None


def test_a_failure_outweighs_a_doubt(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, "moody", "pii_leakage").check(ask("raise jane@bank.com"))
    assert verdict.verdict == "unreliable"
    assert len(verdict.reasons) == 2


GROUNDING = ("lexical_groundedness", "groundedness_signals")


def test_a_metric_that_does_not_apply_makes_it_uncertain(tmp_path: Path) -> None:
    verdict = guard_of(tmp_path, *GROUNDING, "pii_leakage").check(ask("It costs 5 euros.", context=[]))
    assert verdict.verdict == "uncertain"
    assert verdict.reasons == [f"{id}: does not apply: no context" for id in GROUNDING]
    assert {(check.evaluator, check.passed) for check in verdict.metrics} == {
        *((id, None) for id in GROUNDING),
        ("pii_leakage", True),
    }


def test_with_context_the_same_answer_is_reliable_and_a_wrong_one_is_not(tmp_path: Path) -> None:
    guard = guard_of(tmp_path, *GROUNDING, "pii_leakage")
    context = ["It costs 5 euros."]
    assert guard.check(ask("It costs 5 euros.", context=context)).verdict == "reliable"
    assert guard.check(ask("Elephants swim in 7 rivers.", context=context)).verdict == "unreliable"


@pytest.mark.parametrize("answer", ["", " \n", "\u200b\ufeff"])
def test_an_empty_answer_is_unreliable_and_no_leak(tmp_path: Path, answer: str) -> None:
    verdict = guard_of(tmp_path, *GROUNDING, "pii_leakage").check(ask(answer, context=["It costs 5."]))
    assert verdict.verdict == "unreliable"
    assert verdict.reasons == ["no answer: the model returned an empty text"]
    assert all(check.passed is None for check in verdict.metrics)


def test_an_optional_evaluator_may_not_apply(tmp_path: Path) -> None:
    guard = guard_of(tmp_path, *GROUNDING, "pii_leakage", optional=list(GROUNDING))
    request = ask("It costs 5 euros.")
    assert (guard.check(request).verdict, guard.check(request).reasons) == ("reliable", [])
    broken = guard.check(ask("It costs 5 euros.", context=["Elephants swim."]))
    assert broken.verdict == "unreliable", "where an optional evaluator applies, it counts"


def test_an_optional_metric_may_not_apply(tmp_path: Path) -> None:
    thresholds = {"lexical_groundedness": {"supported_words": 0.8, "supported_numbers": 1.0}}
    request = ask("The card is free.", context=["The card is free."])
    strict = guard_of(tmp_path, **thresholds).check(request)
    name = "lexical_groundedness.supported_numbers"
    assert (strict.verdict, strict.reasons) == ("uncertain", [f"{name}: does not apply to this answer"])
    assert guard_of(tmp_path, optional=[name], **thresholds).check(request).verdict == "reliable"


def test_where_only_optional_evaluators_are_and_none_applies_it_is_uncertain(tmp_path: Path) -> None:
    guard = guard_of(tmp_path, *GROUNDING, optional=list(GROUNDING))
    verdict = guard.check(ask("It costs 5 euros."))
    assert (verdict.verdict, verdict.reasons) == ("uncertain", ["no evaluator applies to this answer"])


def test_an_optional_evaluator_that_the_guard_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"optional: .*'lexical_grounding'.*Did you mean"):
        guard_of(tmp_path, *GROUNDING, optional=["lexical_grounding"])


def test_thresholds_of_the_configuration_decide(tmp_path: Path) -> None:
    strict = guard_of(tmp_path, lexical_groundedness={"supported_words": 1.0})
    request = ask("It costs 5 euros today.", context=["It costs 5 euros."])
    [check] = [check for check in strict.check(request).metrics if check.metric == "supported_words"]
    assert (check.threshold, check.passed) == (1.0, False)
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
        ([], "no evaluator is listed"),
        (["h2o_sonar.evaluators.unheard_of.Unheard"], "no counterpart"),
    ],
)
def test_configurations_that_cannot_guard_are_refused(tmp_path: Path, ids: list[str], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        guard_of(tmp_path, *ids)
