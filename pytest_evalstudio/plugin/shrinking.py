"""Shrinking of flips: which sessions are asked, and the calls that the run allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.shrinking.budget import CallBudget
from pytest_evalstudio.scoring.shrinking.flips import FlipShrinker, ShrinkLimits
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.session import EvalSession


def shrink(
    evals: EvalSession,
    pipeline: Pipeline,
    results: Sequence[Result],
    *,
    progress: Progress,
    earlier: Mapping[EvalTask, Result],
) -> None:
    """Note the smallest edit in each flip of some results.

    Args:
        evals: the session.
        pipeline: of the results.
        results: of a step.
        progress: called with the progress of the questions.
        earlier: results of the same run for linked tasks.
    """
    limits = evals.shrink_limits
    if limits is None or not any(result.flips for result in results):
        return

    def is_repeatable(model: ModelInfo) -> bool:
        return evals.models.session_of(model).is_repeatable

    shrinker = FlipShrinker(pipeline, evals.models.asked, is_repeatable, limits)
    shrinker.shrink(results, progress=progress, earlier=earlier)


def shrink_limits(evals: EvalSession) -> ShrinkLimits:
    """Return the calls that shrinking may take.

    Workers share them through the answers cache, and have equal parts where it cannot be used.
    """
    calls, purse = evals.models.common_purse("shrink", evals.settings.shrink_calls)
    return ShrinkLimits(
        budget=CallBudget(calls, purse),
        calls_per_flip=evals.settings.session.perturbations.shrink_calls_per_flip,
    )
