"""Choice of the regressions that are asked again, and the end of their test."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.core.flips import Confirmation, ConfirmationCode
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.repeats import needing_all_repeats
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.verdicts import repeat_states
from pytest_evalstudio.scoring.violations import is_violation
from pytest_evalstudio.stats.confirmation import RepeatedBaselineTest, RepeatTest

_CODES = {
    "open": ConfirmationCode.INTERRUPTED,
    "undecided": ConfirmationCode.INTERRUPTED,
    "confirmed": ConfirmationCode.CONFIRMED,
    "not confirmed": ConfirmationCode.NOT_CONFIRMED,
}
_UNDECIDED = "the repeats ended; a baseline with more repeats would decide"


def can_be_confirmed(result: Result) -> bool:
    """Return whether further repeats of a result's question can show that it fails by chance.

    Evaluators that compare all repeats with each other are no verdicts on a single one, and a violation of a
    hard rule needs no second one.
    """
    deciding = [selected for selected in result.verdicts if _counts(result, selected)]
    failing = [selected for selected in deciding if result.verdicts[selected].passed is False]
    return (
        not result.task.answered
        and result.task.model.stopping is None
        and not (result.not_run or result.errors)
        and (bool(failing) or result.response.fails)
        and not needing_all_repeats(tuple(deciding)).intersection(failing)
        and not any(result.verdicts[selected].violations for selected in failing)
    )


def is_unconfirmed(result: Result) -> bool:
    """Return whether a regression was not confirmed, so that the case passes as a flaky one."""
    return is_refuted(result) and not result.regressed


def is_refuted(result: Result) -> bool:
    """Return whether the regression of a case, or of some of its evaluators, was not confirmed."""
    confirmation = result.confirmation
    return confirmation is not None and confirmation.code is ConfirmationCode.NOT_CONFIRMED


def _counts(result: Result, selected: ConfiguredEvaluator) -> bool:
    """Return whether the confirmation of a result judges by an evaluator."""
    return result.decides(selected) and (not result.regressed or selected in result.regressed)


def repeat_passes(result: Result, index: int) -> bool | None:
    """Return whether a repeat passes all evaluators that count; None where one of them broke."""
    outcomes = result.outcomes[index]
    states: list[bool | None] = []
    for selected, outcome in outcomes.items():
        if not _counts(result, selected):
            continue
        if outcome.status == "error":
            return None
        states += repeat_states(selected, [outcome])
    return all(state is not False for state in states)


def violating(result: Result) -> list[str]:
    """Return the ids of the evaluators by which a result violates a hard rule."""
    return [
        selected.id
        for selected, reached in result.verdicts.items()
        if _counts(result, selected) and reached.violations
    ]


def violation_in(result: Result) -> str:
    """Return the violation of a hard rule in a repeat that the confirmation asked for; "" for none."""
    for outcomes in result.outcomes:
        for selected, outcome in outcomes.items():
            (state,) = repeat_states(selected, [outcome])
            is_new = _counts(result, selected) or result.verdicts[selected].passed is True
            if result.decides(selected) and is_new and is_violation(selected, outcome, state):
                return f"{selected.id}: {outcome.reason}" if outcome.reason else selected.id
    return ""


def repeats_of(result: Result, responses: Sequence[bool]) -> list[bool | None]:
    """Return for each repeat whether it passes; None where an evaluator broke.

    Args:
        result: with all repeats so far.
        responses: whether each repeat is the expected answer or refusal; () where all are.
    """
    states = [repeat_passes(result, index) for index in range(len(result.outcomes))]
    if not responses or result.regressed:
        return states
    # None stays None: the repeat of an evaluator that broke has no verdict.
    return [state and responses[index] for index, state in enumerate(states)]


def confirmation_of(result: Result, test: RepeatTest, responses: Sequence[bool] = ()) -> Confirmation | None:
    """Return the confirmation of a regressed result; None if more repeats are needed.

    Args:
        result: with all repeats so far.
        test: the design.
        responses: as of `repeats_of`.
    """
    states = repeats_of(result, responses)
    passed, failed = states.count(True), states.count(False)
    reason = result.not_run or ("a repeat without a verdict" if None in states else "")
    decision = test.decision(passed, failed)
    if violation := violation_in(result):
        decision, reason = "confirmed", f"a repeat violates {violation}, and one decides"
    elif decision != "open":
        reason = ""
    elif not reason:
        return None
    return Confirmation(
        code=_CODES[decision],
        passed=passed,
        failed=failed,
        cases=test.cases,
        baseline_passed=test.baseline_passed if isinstance(test, RepeatedBaselineTest) else 0,
        baseline_runs=test.baseline_runs if isinstance(test, RepeatedBaselineTest) else 0,
        reason=_UNDECIDED if decision == "undecided" else reason,
        evaluators=tuple(sorted(selected.id for selected in result.regressed)),
    )


def further_repeats_of(result: Result, test: RepeatTest, responses: Sequence[bool] = ()) -> int:
    """Return how many further repeats the test of a regressed result needs at least."""
    states = repeats_of(result, responses)
    return max(1, test.further(states.count(True), states.count(False)))
