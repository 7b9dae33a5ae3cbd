"""Evidence that the tier of a model demands, and the shortest way to what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import EvaluationResults
from pytest_evalstudio.contrib.validation.steps.test_generation.coverage import (
    COVERAGE,
    COVERAGE_NAMES,
    KINDS,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ID as GENERATION
from pytest_evalstudio.contrib.validation.steps.test_generation.results import SUITE, GenerationResults
from pytest_evalstudio.contrib.validation.workflow.calibration import labelled_answers
from pytest_evalstudio.contrib.validation.workflow.policy import Tier
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.text.figures import percent

RequirementKind = Literal["cases", "labels", "coverage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """Amount of evidence that the policy demands.

    Attributes:
        name: what is counted, in words.
        reached: number.
        total: of all statements of the documents; None for cases and labels.
        required: minimum number.
        remedy: shortest way to what is missing; "" where nothing is.
    """

    kind: RequirementKind
    name: str
    reached: int
    total: int | None = None
    required: int
    remedy: str = ""

    @property
    def is_met(self) -> bool:
        """Report whether the evidence suffices."""
        return self.reached >= self.required

    @property
    def text(self) -> str:
        """Return the figures in words."""
        of_total = "" if self.total is None else f" of {self.total}"
        share = "" if not self.total else f" ({percent(self.reached / self.total)})"
        return f"{self.reached}{of_total} {self.name}{share}, {self.required} required"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """Evidence that a tier demands.

    Attributes:
        tier: name.
        is_stated: True if the workflow states the tier.
        entries: cases, labels and coverage, met or not.
    """

    tier: str
    is_stated: bool
    entries: tuple[Requirement, ...]

    @property
    def missing(self) -> tuple[Requirement, ...]:
        """Return the requirements that are not met."""
        return tuple(entry for entry in self.entries if not entry.is_met)


def requirements_of(run: WorkflowRun, evaluation: EvaluationResults, judged: int) -> Requirements:
    """Return the evidence that the tier of a workflow demands.

    Args:
        run: of the workflow.
        evaluation: results of the automated evaluation.
        judged: number of judged answers.
    """
    tier = run.policy.tiers[run.tier]
    return Requirements(
        tier=run.tier,
        is_stated=bool(run.workflow.governance.materiality),
        entries=tuple(_entries(run, tier, evaluation, judged)),
    )


def _entries(
    run: WorkflowRun, tier: Tier, evaluation: EvaluationResults, judged: int
) -> Iterator[Requirement]:
    missing_cases = max(0, tier.min_cases - judged)
    yield Requirement(
        kind="cases",
        name="judged answers",
        reached=judged,
        required=tier.min_cases,
        remedy=_more_cases(run, missing_cases) if missing_cases else "",
    )
    labels = labelled_answers(run)
    missing_labels = max(0, tier.min_labels - labels)
    yield Requirement(
        kind="labels",
        name="answers labelled by people",
        reached=labels,
        required=tier.min_labels,
        remedy=f"label {missing_labels} more: `evalstudio review {run.path.name}`" if missing_labels else "",
    )
    for kind in KINDS:
        tested, total = getattr(evaluation.coverage, kind)
        share = getattr(tier.min_coverage, kind)
        # Without such a statement there is nothing to test; a rounding error must not add a statement.
        if total:
            required = math.ceil(share * total - 1e-9)
            yield Requirement(
                kind="coverage",
                name=COVERAGE_NAMES[kind],
                reached=tested,
                total=total,
                required=required,
                remedy=_more_coverage(run, required - tested) if required > tested else "",
            )


def more_cases(run: WorkflowRun) -> str:
    """Return how a workflow gets more test cases: a greater `count` helps only if the documents give more."""
    generation = run.completed_results(GENERATION, GenerationResults)
    count = run.parameters(GENERATION).get("count", 0) if generation is not None else 0
    if run.parameters(GENERATION).get("suite"):
        return "add questions to the file that `suite` of test_generation names"
    if generation is not None and generation.cases < count:
        return (
            f"the rules made {generation.cases} of {count} questions, so that a greater `count` changes"
            f" nothing: add cases to {run.folder_of(GENERATION).name}/{SUITE}, name a `writer`, or bring your"
            " own questions (`suite`)"
        )
    return "raise `count` of test_generation"


def _more_cases(run: WorkflowRun, missing: int) -> str:
    return f"{missing} more are needed; {more_cases(run)}"


def _more_coverage(run: WorkflowRun, missing: int) -> str:
    file = f"{run.folder_of(GENERATION).name}/{COVERAGE}"
    return f"ask for {missing} more of those that {file} lists; {more_cases(run)}"
