"""Step 4: ask the model under validation and evaluate its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_evalstudio.core.errors import DataError
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
from pytest_evalstudio.mrm.workflow.patches import patched_questions, same_question


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
        suite, patched = _without_patched(TestSuite.load(folder / VALIDATED), context)
        results = ask_and_evaluate(context, suite, folder, self.evaluators, self.thresholds)
        verdicts: dict[str, int] = dict(sorted(Counter(verdict_word(result) for result in results).items()))
        counts = ", ".join(f"{count} {word}" for word, count in verdicts.items())
        waits = unanswered(results)
        return StepResult(
            summary=f"{len(results.items)} test cases: {counts}" + (f"; {waits}" if waits else ""),
            notes=(f"{patched} test cases are left out: a corpus patch has their answers",)
            if patched
            else (),
            waits=waits,
            figures=EvaluationResults(
                cases=len(results.items),
                verdicts=verdicts,
                evaluators=tuple(selected.id for selected in results.plan.selected),
                thresholds=dict(self.thresholds),
            ),
            problems=problems_of(context, ID),
        )


def _without_patched(suite: TestSuite, context: StepContext) -> tuple[TestSuite, int]:
    """Return a suite without the questions that a corpus patch answers, and their number.

    Raises:
        DataError: if no test case remains.
    """
    patched = patched_questions(context.documents)
    if not patched:
        return suite, 0
    copy = suite.model_copy(deep=True)
    for test in copy.tests:
        test.test_cases = [case for case in test.test_cases if same_question(case.prompt) not in patched]
    copy.tests = [test for test in copy.tests if test.test_cases]
    left_out = sum(1 for _ in suite.cases()) - sum(1 for _ in copy.cases())
    if not copy.tests:
        raise DataError(
            f"a corpus patch answers all {left_out} test cases; raise `count` of test_generation",
            source=str(context.workflow.name),
        )
    return copy, left_out
