"""Confirmation of regressed items: which ones are asked again, and by which test."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.scoring.confirming import can_be_confirmed, violating
from pytest_evalstudio.scoring.messages import misses
from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask
from pytest_evalstudio.stats.confirmation import ConfirmationTest, RepeatedBaselineTest, RepeatTest
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.session import EvalSession


EFFECTS = frozenset({"tools", "tool_calls", "state", "state_url", "session", "cookies"})
"""Names of settings of a model by which it has tools, a state or a session."""
HAS_EFFECTS = "the application has tools, a state or a session; `confirm = N` in its [[model]] asks it again"


def confirmation_test(evals: EvalSession, items: Iterable[EvalItem]) -> ConfirmationTest | None:
    """Return the test of regressed items; None where none is confirmed.

    The level follows from the number of items that are compared, and whose model is asked, asked again and
    not deterministic.

    Args:
        evals: the session.
        items: of the run.
    """
    baseline, max_runs = evals.baseline, evals.settings.confirm
    if baseline is None or not max_runs:
        return None
    cases = sum(
        max_repeats(evals, item) > 0 and _is_random(evals, item) and baseline.is_compared(item)
        for item in items
    )
    return ConfirmationTest(cases=cases, max_runs=max_runs) if cases else None


def confirmation_estimate(evals: EvalSession, items: Sequence[EvalItem]) -> list[str]:
    """Return a line with the calls that confirm regressions, none where no item is asked again."""
    test, baseline = confirmation_test(evals, items), evals.baseline
    if test is None or baseline is None:
        return []
    limits = [
        max_repeats(evals, item)
        for item in items
        if _is_random(evals, item) and baseline.is_compared(item) and max_repeats(evals, item)
    ]
    least, most = test.further(0, 1), sum(limits) - len(limits)
    return [
        f"confirmations: {least:,} to {max(limits) - 1:,} further calls for each case that regresses, at most"
        f" {most:,} for {counted(len(limits), 'case')}; not included above"
    ]


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
    if baseline is None or not evals.settings.confirm:
        return
    effects = {item.task.model.key for item, result in evaluated if _shows_effects(result)}
    evals.models.with_effects |= effects
    regressed: list[Result] = []
    tests: list[RepeatTest] = []
    for item, result in evaluated:
        if misses(result) and _is_random(evals, item) and baseline.has_regressed(item, result):
            result.regressed = baseline.new_failures(item, result)
            limit = max_repeats(evals, item)
            if violated := violating(result):
                result.not_repeated = f"one violation decides ({', '.join(violated)})"
            elif not limit and item.task.model.confirm is None:
                result.not_repeated = HAS_EFFECTS
            elif limit and test is not None and can_be_confirmed(result):
                regressed.append(result)
                attempts = baseline.attempts(item, result)
                limited = dataclasses.replace(test, max_runs=limit)
                tests.append(_test_of(limited, attempts, is_single=len(result.answers) == 1))
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


def max_repeats(evals: EvalSession, item: EvalItem) -> int:
    """Return how often an item is asked at most to confirm a regression, the first time included.

    An application with tools, a state or a session is not asked again unless its table says so: what it has
    done once, such as a refund, would hide what it does now.
    """
    model = item.task.model
    if not evals.settings.confirm:
        return 0
    if model.confirm is not None:
        return model.confirm
    has_effects = (
        model.key in evals.models.with_effects
        or _configures_effects(model.description.get("model_cfg", {}))
        or item.task.case.plan is not None
        or bool(item.task.case.expected_tool_calls or item.task.case.expected_state)
    )
    return 0 if has_effects else evals.settings.confirm


def _shows_effects(result: Result) -> bool:
    """Return whether an answer shows that the application has tools, a state or a session."""
    return any(
        bool(case.answer.tool_calls or case.answer.session or case.answer.turns)
        or case.answer.state is not None
        for case in result.answers
    )


def _configures_effects(settings: object) -> bool:
    """Return whether settings of a model name tools, a state or a session."""
    if not isinstance(settings, Mapping):
        return False
    return any(
        (name in EFFECTS and bool(value)) or _configures_effects(value) for name, value in settings.items()
    )


def _is_random(evals: EvalSession, item: EvalItem) -> bool:
    """Return whether an item's model may answer otherwise when it is asked again."""
    return not item.task.answered and not evals.models.session_of(item.task.model).deterministic
