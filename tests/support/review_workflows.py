"""Workflows whose answers are there, and wait for labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.contrib.calibration.review.session import ReviewSession
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow.states import State, clear, write_state
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.contrib.validation.workflow_sample import WorkflowSample
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.kinds import read_source
from support.labelled_answers import drawn_scores, record_of


def workflow(
    folder: Path, scores: Sequence[float] | None = None, *, text: str = "It costs £{}.", **parameters: Any
) -> Path:
    """A workflow's file, with the first four steps completed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.txt").write_text("Fees.", encoding="utf-8")
    path = folder / "bank_workflow.json"
    content = {
        "name": "Bank",
        "documents": ["text.txt"],
        "steps": {"human_calibration": parameters} if parameters else {},
    }
    path.write_text(json.dumps({"evalstudio_workflow": content}), encoding="utf-8")
    run = workflow_run(path)
    for spec in run.specs[:4]:
        home = run.folder_of(spec.id)
        clear(home)
        if spec.id == "automated_evaluation":
            record_of(home, drawn_scores() if scores is None else scores, text=text)
        times = {"finished": "2026-11-21T05:00:00+00:00", "seconds": 0.0}
        identity = run._identity(spec)
        write_state(
            home,
            State(
                step=spec.id,
                status="completed",
                summary="",
                waits="",
                identity=identity,
                stamp=spec.id,
                figures={},
                **times,
            ),
        )
    return path


def workflow_run(path: Path) -> WorkflowRun:
    return WorkflowRun(
        read_workflow(read_source(path)), path, configuration({}, folder=path.parent), Registry()
    )


def session(path: Path, rater: str = "", **options: Any) -> ReviewSession:
    return ReviewSession(WorkflowSample(workflow_run(path), f"pytest {path.name}"), rater=rater, **options)


def labels_file(path: Path) -> Path:
    return path.parent / "bank_workflow_artifacts" / "labels.csv"
