"""Cases scored through the engine, as items, fixtures and the API score them."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.evaluator import Evaluator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import answered_task

_plan = functools.cache(lambda: Plan(Registry(), configuration({})))


def results_of(evaluator: Evaluator, cases: Sequence[Case], tools: Tools) -> list[Result]:
    """Return the results of answered cases under one evaluator, in one batch."""
    spec = evaluator.__evalstudio__
    selected = ConfiguredEvaluator(
        id=spec.id,
        spec=spec,
        evaluator=evaluator,
        thresholds={metric.key: metric.threshold for metric in spec.metrics},
        asserted=spec.deciding,
        parameters={},
    )
    pipeline = Pipeline(_plan(), provide=lambda _: tools)
    return pipeline.evaluate([answered_task(case, selected) for case in cases])


def outcomes_of(evaluator: Evaluator, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
    """Return the outcomes of answered cases; the evaluator must neither raise nor break its declaration."""
    outcomes = [
        outcome for result in results_of(evaluator, cases, tools) for outcome in result.outcomes[0].values()
    ]
    faults = (OutcomeCode.EVALUATOR_FAILED, OutcomeCode.OUTCOME_INVALID)
    assert not [outcome.reason for outcome in outcomes if outcome.code in faults]
    return outcomes
