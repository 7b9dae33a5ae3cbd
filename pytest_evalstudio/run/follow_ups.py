"""Work of optional parts on the regressed cases of a run, while models and fixtures are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pytest_evalstudio.record.schema import Tables
from pytest_evalstudio.run.planning import PlannedItem
from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask


class FollowUp(Protocol):
    """Work of an optional part on regressed cases."""

    def follow(
        self,
        pipeline: Pipeline,
        regressed: Sequence[tuple[PlannedItem, Result]],
        *,
        progress: Progress,
        earlier: Mapping[EvalTask, Result],
    ) -> Mapping[str, Tables]:
        """Return entries of the record's header by node id; results may get `explained`.

        Args:
            pipeline: of the items.
            regressed: items with their results, the unconfirmed ones among them.
            progress: called with the progress of questions.
            earlier: results of the same run for linked tasks.
        """

    def estimate(self, items: Sequence[PlannedItem]) -> Sequence[str]:
        """Return lines on what it would ask."""
