"""The context that a step of a workflow runs in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalstudio.asking.runs import AskingRun
from pytest_evalstudio.contrib.validation.methods.progress import Progress
from pytest_evalstudio.contrib.validation.methods.typed_results import R, read_results
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.scoring.model_provider import ModelProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """Input of a step.

    Attributes:
        base: folder of the workflow's file.
        home: folder of the workflow's artifacts; files in it, beside the steps' folders, stay when steps run
            again.
        folder: of this step's artifacts; empty at the start.
        earlier: artifact folders by step id, of the steps that this one comes after, and of the completed
            ones that it uses.
        figures: results of these steps by id, as their state files hold them; `results` reads them as types.
        documents: absolute paths, or URLs.
        cache: folder of answers, verdicts, vectors and downloads.
        provider: opens models that evaluators and steps use.
        progress: reports progress to people.
        run: the run that asks the model; None for one of the step's own.
    """

    workflow: Workflow
    config: Configuration
    registry: Registry
    base: Path
    home: Path
    folder: Path
    earlier: Mapping[str, Path]
    figures: Mapping[str, Mapping[str, Any]]
    documents: tuple[str, ...]
    cache: Path
    provider: ModelProvider
    progress: Progress
    run: AskingRun | None = None

    def artifacts(self, step: str) -> Path:
        """Return the folder of an earlier step's artifacts.

        Raises:
            KeyError: for a step that this one does not declare in `after` or `uses`.
        """
        return self.earlier[step]

    def results(self, step: str, kind: type[R]) -> R:
        """Return the results of an earlier step.

        Args:
            step: id.
            kind: the dataclass in the step's package that describes them.

        Raises:
            DataError: if the results cannot be read.
            KeyError: for a step that this one does not declare in `after` or `uses`.
        """
        return read_results(step, self.figures[step], kind)

    def completed_results(self, id: str, kind: type[R]) -> R | None:
        """Return the results of an earlier step; None if it is not completed, or not declared in `uses`.

        Raises:
            DataError: if the results cannot be read.
        """
        return read_results(id, self.figures[id], kind) if id in self.figures else None
