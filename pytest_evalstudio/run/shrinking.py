"""Shrinking of flips: which models are asked, and the calls that the run allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_evalstudio.run.models import Models
from pytest_evalstudio.run.settings import Settings
from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.shrinking.budget import CallBudget
from pytest_evalstudio.scoring.shrinking.flips import FlipShrinker, ShrinkLimits
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo


class Shrinking:
    """Search for the smallest edit in each flip, within the calls of the run."""

    def __init__(self, models: Models, limits: ShrinkLimits) -> None:
        self._models = models
        self._limits = limits

    def shrink(
        self,
        pipeline: Pipeline,
        results: Sequence[Result],
        *,
        progress: Progress,
        earlier: Mapping[EvalTask, Result],
    ) -> None:
        """Note the smallest edit in each flip of some results.

        Args:
            pipeline: of the results.
            results: of a step.
            progress: called with the progress of the questions.
            earlier: results of the same run for linked tasks.
        """
        if not any(result.flips for result in results):
            return

        def is_repeatable(model: ModelInfo) -> bool:
            return self._models.session_of(model).is_repeatable

        shrinker = FlipShrinker(pipeline, self._models.asked, is_repeatable, self._limits)
        shrinker.shrink(results, progress=progress, earlier=earlier)


def shrinking(models: Models, settings: Settings) -> Shrinking:
    """Return the search with the calls that this process may take.

    Workers share them through the answers cache, and have equal parts where it cannot be used.
    """
    calls, purse = models.common_purse("shrink", settings.shrink_calls)
    limits = ShrinkLimits(
        budget=CallBudget(calls, purse),
        calls_per_flip=settings.session.perturbations.shrink_calls_per_flip,
    )
    return Shrinking(models, limits)
