"""Confirmation of regressed items: which ones are asked again, and by which test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.engine.pipeline import Pipeline, Progress
from pytest_evalstudio.engine.scoring.confirming import can_be_confirmed
from pytest_evalstudio.engine.scoring.messages import misses
from pytest_evalstudio.engine.scoring.results import Result
from pytest_evalstudio.engine.scoring.tasks import EvalTask
from pytest_evalstudio.stats.confirmation import ConfirmationTest, RepeatedBaselineTest, RepeatTest

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.session import EvalSession


def confirmation_test(evals: EvalSession, items: Iterable[EvalItem]) -> ConfirmationTest | None:
    """Return the test of regressed items; None where none is confirmed.

    The level follows from the number of items that are compared, and whose model is asked and not
    deterministic.

    Args:
        evals: the session.
        items: of the run.
    """
    baseline, max_runs = evals.baseline, evals.settings.confirm
    if baseline is None or not max_runs:
        return None
    cases = sum(_is_random(evals, item) and baseline.is_compared(item) for item in items)
    return ConfirmationTest(cases=cases, max_runs=max_runs) if cases else None


def confirm(
    evals: EvalSession,
    pipeline: Pipeline,
    evaluated: Sequence[tuple[EvalItem, Result]],
    *,
    progress: Progress,
    earlier: Mapping[EvalTask, Result],
) -> None:
    """Ask the regressed ones of some items again, and note the end of the test in their results.

    Args:
        evals: the session.
        pipeline: of the items.
        evaluated: items with their results.
        progress: called with the progress of the questions.
        earlier: results of the same run for linked tasks.
    """
    baseline, test = evals.baseline, evals.confirmation_test
    if baseline is None or test is None:
        return
    regressed: list[Result] = []
    tests: list[RepeatTest] = []
    for item, result in evaluated:
        if misses(result) and _is_random(evals, item) and baseline.has_regressed(item, result):
            result.regressed = baseline.new_failures(item, result)
            if can_be_confirmed(result):
                regressed.append(result)
                attempts = baseline.attempts(item, result)
                tests.append(_test_of(test, attempts, is_single=len(result.answers) == 1))
    if regressed:
        ends = pipeline.confirm(regressed, tests, progress=progress, earlier=earlier)
        for result, end in zip(regressed, ends, strict=True):
            result.confirmation = end


def _test_of(test: ConfirmationTest, attempts: tuple[int, int] | None, *, is_single: bool) -> RepeatTest:
    """Return the test of an item: by its own rate where the baseline has repeats of it."""
    if attempts is None:
        return test
    passed, runs = attempts
    return RepeatedBaselineTest(
        cases=test.cases,
        baseline_passed=passed,
        baseline_runs=runs,
        max_runs=test.max_runs,
        is_single=is_single,
    )


def _is_random(evals: EvalSession, item: EvalItem) -> bool:
    """Return whether an item's model may answer otherwise when it is asked again."""
    return not item.task.answered and not evals.models.session_of(item.task.model).deterministic
