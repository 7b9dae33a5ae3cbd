"""Confirmation of regressed items: which ones are asked again, and by which test."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.run.models import Models
from pytest_evalstudio.run.planning import PlannedItem
from pytest_evalstudio.scoring.confirming import can_be_confirmed, violating
from pytest_evalstudio.scoring.messages import has_misses
from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask
from pytest_evalstudio.stats.confirmation import ConfirmationTest, RepeatedBaselineTest, RepeatTest
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.run.baseline import SessionBaseline

EFFECTS = frozenset({"tools", "tool_calls", "state", "state_url", "session", "cookies"})
"""Names of settings of a model by which it has tools, a state or a session."""
HAS_EFFECTS = "the application has tools, a state or a session; `confirm = N` in its [[model]] asks it again"


class Confirmation:
    """Repetition of the items of a run that regress.

    The level of the test follows from the number of items that are compared, and whose model is asked, asked
    again and not deterministic.

    Args:
        baseline: that the items are compared with.
        models: that are asked again.
        max_runs: how often an item is asked at most, the first time included; above 0.
        items: of the run.
    """

    def __init__(
        self, baseline: SessionBaseline, models: Models, max_runs: int, items: Iterable[PlannedItem]
    ) -> None:
        self._baseline = baseline
        self._models = models
        self._max_runs = max_runs
        self._limits = tuple(
            limit
            for item in items
            if (limit := self._max_repeats(item)) and self._is_random(item) and baseline.is_compared(item)
        )
        self._test = ConfirmationTest(cases=len(self._limits), max_runs=max_runs) if self._limits else None

    def estimate(self) -> list[str]:
        """Return a line with the calls that confirm regressions, none where no item is asked again."""
        if self._test is None:
            return []
        limits = self._limits
        least, most = self._test.further(0, 1), sum(limits) - len(limits)
        return [
            f"confirmations: {least:,} to {max(limits) - 1:,} further calls for each case that regresses, at"
            f" most {most:,} for {counted(len(limits), 'case')}; not included above"
        ]

    def confirm(
        self,
        pipeline: Pipeline,
        evaluated: Sequence[tuple[PlannedItem, Result]],
        *,
        progress: Progress,
        earlier: Mapping[EvalTask, Result],
    ) -> None:
        """Ask the regressed ones of some items again, and note the end of the test in their results.

        Args:
            pipeline: of the items.
            evaluated: items with their results.
            progress: called with the progress of the questions.
            earlier: results of the same run for linked tasks.
        """
        effects = {item.task.model.key for item, result in evaluated if _shows_effects(result)}
        self._models.with_effects |= effects
        regressed: list[Result] = []
        tests: list[RepeatTest] = []
        for item, result in evaluated:
            if has_misses(result) and self._is_random(item) and self._baseline.has_regressed(item, result):
                result.regressed = self._baseline.new_failures(item, result)
                limit = self._max_repeats(item)
                if violated := violating(result):
                    result.not_repeated = f"one violation decides ({', '.join(violated)})"
                elif not limit and item.task.model.confirm is None:
                    result.not_repeated = HAS_EFFECTS
                elif limit and self._test is not None and can_be_confirmed(result):
                    regressed.append(result)
                    attempts = self._baseline.attempts(item, result)
                    limited = dataclasses.replace(self._test, max_runs=limit)
                    tests.append(_test_of(limited, attempts, is_single=len(result.answers) == 1))
        if regressed:
            ends = pipeline.confirm(regressed, tests, progress=progress, earlier=earlier)
            for result, end in zip(regressed, ends, strict=True):
                result.confirmation = end

    def _max_repeats(self, item: PlannedItem) -> int:
        """Return how often an item is asked at most to confirm a regression, the first time included.

        An application with tools, a state or a session is not asked again unless its table says so: what it
        has done once, such as a refund, would hide what it does now.
        """
        model, case = item.task.model, item.task.case
        if model.confirm is not None:
            return model.confirm
        has_effects = (
            model.key in self._models.with_effects
            or _configures_effects(model.description.get("model_cfg", {}))
            or case.plan is not None
            or bool(case.expected_tool_calls or case.expected_state)
        )
        return 0 if has_effects else self._max_runs

    def _is_random(self, item: PlannedItem) -> bool:
        """Return whether an item's model may answer otherwise when it is asked again."""
        task = item.task
        return not task.answered and not self._models.session_of(task.model).deterministic


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
