"""What a step of a workflow works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.registry import Registry
from pytest_evalstudio.engine.scoring.lending import Lender
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.workflow import Workflow

Progress = Callable[[int, int, str], None]
"""Called with how much is done, of how much, of what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a step is given.

    Attributes:
        base: folder of the workflow's file.
        home: folder of the workflow's artifacts; what lies in it beside the steps' folders stays when they
            run anew.
        folder: of its own artifacts; empty when it begins.
        earlier: folders of the steps that it declared to come after, and of those that it uses and that are
            completed, by id.
        figures: what these steps said of themselves, by id.
        documents: absolute paths, or URLs.
        cache: folder of answers, verdicts, vectors and downloads.
        lender: opens models that evaluators and steps use.
        progress: tells people how far it is.
        refresh: whether models are asked again for what is stored.
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
    lender: Lender
    progress: Progress
    refresh: bool = False

    def artifacts(self, step: str) -> Path:
        """The folder of an earlier step's artifacts.

        Raises:
            KeyError: for a step that this one has not declared to come after.
        """
        return self.earlier[step]
