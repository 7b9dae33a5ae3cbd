"""Step 4: ask the model under validation and evaluate its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.engine.evaluate import verdict_word
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.mrm.steps.automated_evaluation.evaluating import (
    CONFIGURED,
    ask_and_evaluate,
    problems_of,
    unanswered,
)
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID, EvaluationResults
from pytest_evalstudio.mrm.steps.test_validation.results import ID as TEST_VALIDATION
from pytest_evalstudio.mrm.steps.test_validation.results import VALIDATED
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.parameters import Names


@step(ID, name="Automated evaluation", number=4, after=(TEST_VALIDATION,))
@dataclass(frozen=True)
class AutomatedEvaluation:
    """The valid test cases are put to the model under validation, and its answers to the evaluators.

    Attributes:
        evaluators: ids; the workflow's, else the configuration's, where not given.
        thresholds: `evaluator` or `evaluator.metric` to threshold, in place of the configuration's.
    """

    evaluators: Names = field(default_factory=list)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    configured: ClassVar[tuple[str, ...]] = CONFIGURED

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        folder = context.artifacts(TEST_VALIDATION)
        results = ask_and_evaluate(
            context, TestSuite.load(folder / VALIDATED), folder, self.evaluators, self.thresholds
        )
        verdicts: dict[str, int] = dict(sorted(Counter(verdict_word(result) for result in results).items()))
        counts = ", ".join(f"{count} {word}" for word, count in verdicts.items())
        waits = unanswered(results)
        return StepResult(
            summary=f"{len(results.items)} test cases: {counts}" + (f"; {waits}" if waits else ""),
            waits=waits,
            figures=EvaluationResults(
                cases=len(results.items),
                verdicts=verdicts,
                evaluators=tuple(selected.id for selected in results.plan.selected),
                thresholds=dict(self.thresholds),
            ),
            problems=problems_of(context, ID),
        )
