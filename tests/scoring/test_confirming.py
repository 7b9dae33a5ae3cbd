"""Confirmation of regressions: which results are asked again, and when the test ends."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import ItemCode
from pytest_evalstudio.core.flips import Confirmation, ConfirmationCode
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.confirmation import confirmation_sentence
from pytest_evalstudio.scoring.confirming import (
    can_be_confirmed,
    confirmation_of,
    further_repeats_of,
    is_refuted,
    is_unconfirmed,
    repeats_of,
)
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.responses import ResponseVerdict
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from pytest_evalstudio.stats.confirmation import ConfirmationTest
from pytest_evalstudio.stats.sequential import Sprt
from support.toys import toy_registry

PLAN = Plan(toy_registry(), configuration({"evaluators": []}))
READING, ANSWERED, COUNTING = map(PLAN.get, ("reading", "answered", "counting"))
FAILS, PASSES = (Verdict(status="score", passed=passed) for passed in (False, True))
TEST = ConfirmationTest(cases=50)
"""Five failures of five are confirmed, seven passes after one failure are not."""


def result(*, model: ModelInfo | None = None, answers: tuple[Case, ...] = (), **fields: Any) -> Result:
    task = EvalTask(
        name="k",
        model=model or ModelInfo(key="m", label="m"),
        case=Case(key="k", question="q"),
        answers=answers,
    )
    return Result(task=task, **{"verdicts": {READING: FAILS}, **fields})


def repeats(text: str, **fields: Any) -> Result:
    """Return a result whose repeats pass (+), fail (-), are in error (!) or do not apply (.)."""
    outcome = {
        "+": Outcome.score({"value": 1.0}),
        "-": Outcome.score({"value": 0.0}),
        "!": Outcome.error("down"),
        ".": Outcome.not_applicable("x"),
    }
    return result(outcomes=[{READING: outcome[sign]} for sign in text], **fields)


def test_a_failing_case_of_a_model_can_be_asked_again() -> None:
    assert can_be_confirmed(result())
    assert not can_be_confirmed(result(verdicts={READING: PASSES}))
    assert not can_be_confirmed(result(answers=(make_case("q", "a"),)))
    assert not can_be_confirmed(result(not_run="budget"))
    assert not can_be_confirmed(result(verdicts={READING: FAILS, ANSWERED: Verdict(status="error")}))


def test_a_sequential_test_is_its_own_confirmation() -> None:
    stopping = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
    assert not can_be_confirmed(result(model=ModelInfo(key="m", label="m", runs=20, stopping=stopping)))


def test_an_empty_answer_can_be_asked_again() -> None:
    empty = ResponseVerdict(passed=False, code=ItemCode.ANSWER_EMPTY, reason="empty")
    assert can_be_confirmed(result(verdicts={READING: PASSES}, response=empty))


def test_evaluators_of_groups_confirm_nothing() -> None:
    assert not can_be_confirmed(result(verdicts={COUNTING: FAILS, READING: FAILS}))
    assert can_be_confirmed(result(verdicts={COUNTING: PASSES, READING: FAILS}))


def test_only_evaluators_that_decide_and_regressed_count() -> None:
    changed = Origin(by=("antonym:HIGH",), meaning_kept=False)
    assert not can_be_confirmed(result(origin=changed))
    verdicts = {READING: FAILS, ANSWERED: PASSES}
    assert not can_be_confirmed(result(verdicts=verdicts, regressed=frozenset({ANSWERED})))
    assert can_be_confirmed(result(verdicts=verdicts, regressed=frozenset({READING})))


def test_a_repeat_passes_if_all_evaluators_that_count_do() -> None:
    assert repeats_of(repeats("+-!."), ()) == [True, False, None, True]
    both = result(
        outcomes=[
            {READING: Outcome.score({"value": 1.0}), ANSWERED: Outcome.score({"model_passes": passed})}
            for passed in (1.0, 0.0)
        ]
    )
    assert repeats_of(both, ()) == [True, False]
    both.regressed = frozenset({READING})
    assert repeats_of(both, ()) == [True, True]


def test_a_repeat_without_the_expected_response_does_not_pass() -> None:
    assert repeats_of(repeats("++-!"), (True, False, True, True)) == [True, False, False, None]
    regressed = repeats("++", regressed=frozenset({READING}))
    assert repeats_of(regressed, (True, False)) == [True, True]


def test_the_test_ends_by_its_decision() -> None:
    assert confirmation_of(repeats("----"), TEST) is None
    confirmed = confirmation_of(repeats("-----"), TEST)
    assert confirmed == Confirmation(code=ConfirmationCode.CONFIRMED, passed=0, failed=5, cases=50)
    refuted = confirmation_of(repeats("-+++++++"), TEST)
    assert refuted == Confirmation(code=ConfirmationCode.NOT_CONFIRMED, passed=7, failed=1, cases=50)


def test_a_repeat_without_a_verdict_interrupts_an_open_test_only() -> None:
    interrupted = confirmation_of(repeats("-!"), TEST)
    assert interrupted is not None
    assert interrupted.code == ConfirmationCode.INTERRUPTED
    assert interrupted.reason == "a repeat without a verdict"
    stopped = confirmation_of(repeats("-", not_run="the budget is used up"), TEST)
    assert stopped is not None
    assert stopped.reason == "the budget is used up"
    decided = confirmation_of(repeats("-----!"), TEST)
    assert decided is not None
    assert (decided.code, decided.reason) == (ConfirmationCode.CONFIRMED, "")


def test_the_next_repeats_are_those_that_may_decide() -> None:
    assert further_repeats_of(repeats("-"), TEST) == 4
    assert further_repeats_of(repeats("----"), TEST) == 1
    assert further_repeats_of(repeats("-----"), TEST) == 1


@pytest.mark.parametrize(
    ("code", "refuted"),
    [
        (ConfirmationCode.CONFIRMED, False),
        (ConfirmationCode.NOT_CONFIRMED, True),
        (ConfirmationCode.INTERRUPTED, False),
    ],
)
def test_a_case_whose_regression_is_refuted_passes_unless_it_failed_before(
    code: ConfirmationCode, refuted: bool
) -> None:
    confirmation = Confirmation(code=code, passed=7, failed=1, cases=50)
    run_result = result(confirmation=confirmation)
    assert (is_refuted(run_result), is_unconfirmed(run_result)) == (refuted, refuted)
    part = result(confirmation=confirmation, regressed=frozenset({READING}))
    assert (is_refuted(part), is_unconfirmed(part)) == (refuted, False)
    assert not is_refuted(result())


def test_the_confirmed_evaluators_are_named_in_order() -> None:
    regressed = repeats("-----", regressed=frozenset({READING, ANSWERED}))
    confirmation = confirmation_of(regressed, TEST)
    assert confirmation is not None
    assert confirmation.evaluators == ("answered", "reading")
    assert confirmation_sentence(confirmation) == "confirmed for answered, reading: 5 of 5 repeats fail"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"code": ConfirmationCode.NOT_CONFIRMED},
            "not confirmed: 1 of 8 repeats fail; the case is flaky",
        ),
        (
            {"code": ConfirmationCode.CONFIRMED, "baseline_passed": 4, "baseline_runs": 5},
            "confirmed: 1 of 8 repeats fail, 1 of 5 in the baseline (exact two-sample test, level 0.05 for 50"
            " cases)",
        ),
        (
            {"code": ConfirmationCode.NOT_CONFIRMED, "evaluators": ("rouge",)},
            "not confirmed for rouge: 1 of 8 repeats fail; it fails as in the baseline",
        ),
        (
            {"code": ConfirmationCode.INTERRUPTED, "reason": "the budget is used up"},
            "could not be confirmed: 1 of 8 repeats fail, then the budget is used up",
        ),
    ],
)
def test_the_end_of_a_confirmation_is_a_sentence(fields: dict[str, Any], sentence: str) -> None:
    assert confirmation_sentence(Confirmation(passed=7, failed=1, cases=50, **fields)) == sentence
