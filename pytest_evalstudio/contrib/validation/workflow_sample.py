"""The sample of answers that a workflow's human calibration asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

from pytest_evalstudio.contrib.calibration.labelling.cases import AnswerPopulation, LabelledCase
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.workflow.calibration import ID as CALIBRATION
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.labels import Label


class LabellingStep(Protocol):
    """The step whose answers people label.

    Attributes:
        good: the lowest label that counts as good, where labels have levels; None where they are good or bad.
    """

    @property
    def good(self) -> int | None:
        """Return the lowest label that counts as good."""

    def population(self, evaluation: Path, evaluators: Sequence[str]) -> AnswerPopulation:
        """Return the answers that may be drawn from the artifacts of an evaluation."""

    def labels_file(self, home: Path, base: Path) -> Path:
        """Return the path of the labels."""

    def labelling_state(self, population: AnswerPopulation, ratings: Sequence[Label], seed: int) -> Labelling:
        """Return the state of the labelling."""


class WorkflowSample:
    """A source of a review.

    Args:
        run: the workflow.
        command: how its steps are run, for people.

    Raises:
        ConfigurationError: if there are no answers yet.
    """

    advice = ""

    def __init__(self, run: WorkflowRun, command: str) -> None:
        status = run.status(EVALUATION)
        if status.status != "completed":
            raise ConfigurationError(
                f"{run.path}: there are no answers to review: {EVALUATION} is {status.status}; `{command}`"
                " runs it"
            )
        self.command = command
        self._step = cast(LabellingStep, run.step(CALIBRATION))
        self.population = self._step.population(
            run.folder_of(EVALUATION), run.workflow.evaluators or run.config.evaluators or ()
        )
        self.labels = self._step.labels_file(run.folder, run.path.parent)
        self.good = self._step.good
        self.title = run.workflow.name or run.path.stem
        names = ", ".join(column.key for column in self.population.columns)
        self.nothing = f"{run.path}: there is nothing to review: no answer has a score by {names}"
        self._path = run.path
        self._seed = run.workflow.seed

    def labelling_state(self, ratings: Sequence[Label]) -> Labelling:
        """Return the state of the labelling; a round is drawn when all before it are labelled."""
        return self._step.labelling_state(self.population, ratings, self._seed)

    def doubt(self, case: LabelledCase) -> str:
        """Return "": only these labels will show which verdicts are uncertain."""
        return ""

    def goes_on(self, *, complete: bool) -> str:
        """Return the next action: the workflow, or the other labels."""
        return f"`{self.command}` goes on" if complete else f"`evalstudio review {self._path}` goes on"


def sample_of_workflow(name: str, config: Configuration, registry: Registry) -> WorkflowSample:
    """Return the sample of a workflow's file.

    Args:
        name: path of the file, as it was written.

    Raises:
        EvalStudioError: if the file is no valid workflow, or there are no answers yet.
    """
    path = Path(name)
    return WorkflowSample(
        WorkflowRun(read_workflow(read_source(path)), path, config, registry), f"pytest {name}"
    )
