"""Step 4: ask the model under validation and evaluate its answers."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from pytest_evalstudio.api.evaluate import verdict_word
from pytest_evalstudio.contrib.validation.methods.controls.counting import count_passes
from pytest_evalstudio.contrib.validation.methods.controls.deciding import (
    DecidingMetric,
    deciding_metrics,
    undecided_metrics,
)
from pytest_evalstudio.contrib.validation.methods.controls.results import (
    control_notes,
    control_summary,
    write_controls,
)
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.controls import Controlled, ControlScorer
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.evaluating import (
    CONFIGURED,
    ask_and_evaluate,
    chosen_configuration,
    problems_of,
    unanswered,
)
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import (
    ASKED,
    ID,
    MIN_PASS_SHARE,
    EvaluationResults,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.coverage import figures, statements
from pytest_evalstudio.contrib.validation.steps.test_generation.results import Coverage
from pytest_evalstudio.contrib.validation.steps.test_validation.files import ID as TEST_VALIDATION
from pytest_evalstudio.contrib.validation.steps.test_validation.files import VALIDATED
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import ID as TOPIC_MODELING
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import read_topics
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.documents import moved
from pytest_evalstudio.contrib.validation.workflow.parameters import Level, Names
from pytest_evalstudio.contrib.validation.workflow.patches import patched_questions, same_question
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.suite import Test, TestSuite
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.scoring.plan import Plan


@step(ID, name="Automated evaluation", number=4, after=(TEST_VALIDATION,), uses=(TOPIC_MODELING,))
@dataclass(frozen=True)
class AutomatedEvaluation:
    """The valid test cases are put to the model under validation, and its answers to the evaluators.

    Before, the evaluators score controls: answers that are known to be right or wrong. A threshold or test
    case that they contradict does not count.

    Attributes:
        evaluators: ids; the workflow's, else the configuration's, where not given.
        thresholds: `evaluator` or `evaluator.metric` to threshold, in place of the configuration's.
        min_pass_share: share of answers that must pass for the conclusion "fit".
        max_judged_controls: maximum number of control answers that evaluators with a judge score, a random
            sample; 0 leaves these evaluators without controls.
    """

    evaluators: Names = field(default_factory=list)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    min_pass_share: Level = MIN_PASS_SHARE
    max_judged_controls: Annotated[int, Field(ge=0)] = 0
    configured: ClassVar[tuple[str, ...]] = CONFIGURED

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        folder = context.artifacts(TEST_VALIDATION)
        suite, patched = _without_patched(TestSuite.load(folder / VALIDATED), context)
        plan = self._plan(context)
        deciding = tuple(deciding_metrics(plan.selected, context.config, self.thresholds))
        controlled = self._controlled(context, plan, suite, deciding)
        write_controls(context.folder, controlled.file)
        suite = _asked(suite, controlled, folder, context.folder)
        suite.save(context.folder / ASKED)
        results = ask_and_evaluate(context, suite, context.folder, self.evaluators, self.thresholds)
        verdicts: dict[str, int] = dict(sorted(Counter(verdict_word(result) for result in results).items()))
        decides = [metric for metric in deciding if metric.metric not in controlled.results.thresholds]
        passes = count_passes(RecordReader(context.folder / FILE), decides, controlled.results.cases)
        # Metrics that do not decide fail cases, too: their count must not stand beside the other unexplained.
        passed_all = sum(verdicts.get(word, 0) for word in ("passed", "xpassed"))
        by_all = "" if passed_all == passes.passed else f" ({passed_all} pass all metrics)"
        waits = unanswered(results)
        # Evaluators that nobody chose need no thresholds of people.
        is_chosen = bool(self.evaluators or context.workflow.evaluators or context.config.evaluators)
        notes = [f"{patched} test cases are left out: a corpus patch has their answers"] if patched else []
        return StepResult(
            summary=f"{len(results.items)} test cases: {passes.text}{by_all};"
            f" {control_summary(controlled.results)}" + (f"; {waits}" if waits else ""),
            notes=(*notes, *control_notes(controlled.results)),
            waits=waits,
            figures=EvaluationResults(
                cases=len(results.items),
                verdicts=verdicts,
                evaluators=tuple(selected.id for selected in results.plan.selected),
                thresholds=dict(self.thresholds),
                deciding=deciding,
                undecided=undecided_metrics(plan.selected, deciding) if is_chosen else (),
                controls=controlled.results,
                min_pass_share=self.min_pass_share,
                coverage=_coverage(context, suite),
            ),
            problems=problems_of(context, ID),
        )

    def _plan(self, context: StepContext) -> Plan:
        config = chosen_configuration(context, self.evaluators)
        return Plan(
            context.registry,
            config,
            thresholds=self.thresholds,
            lacks=functools.partial(context.provider.lacks, config),
            told_as="thresholds:",
        )

    def _controlled(
        self, context: StepContext, plan: Plan, suite: TestSuite, deciding: tuple[DecidingMetric, ...]
    ) -> Controlled:
        scorer = ControlScorer(
            context, context.config, plan.selected, self.thresholds, self.max_judged_controls
        )
        return scorer.control([case for _, case in suite.cases()], deciding)


def _coverage(context: StepContext, suite: TestSuite) -> Coverage:
    """Return the coverage of the documents by the cases that are asked."""
    folder = context.earlier.get(TOPIC_MODELING)
    return Coverage() if folder is None else figures(statements(suite, read_topics(folder).chunks))


def _asked(suite: TestSuite, controlled: Controlled, folder: Path, to: Path) -> TestSuite:
    """Return a suite for another folder with the cases that remain after the controls."""
    cases = {case.key: case for case in controlled.cases}
    tests = [
        Test(
            key=test.key,
            documents=[moved(document, folder, to) for document in test.documents],
            test_cases=[cases[case.key] for case in test.test_cases if case.key in cases],
            categories=test.categories,
        )
        for test in suite.tests
    ]
    return TestSuite(
        name=suite.name,
        description=suite.description,
        tests=[test for test in tests if test.test_cases],
        categories=suite.categories,
        **{"pass": suite.policy},
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
            f"a corpus patch contains the answers to all {left_out} test cases, so no case remains;"
            " raise `count` of test_generation",
            source=str(context.workflow.name),
        )
    return copy, left_out
