"""What records and reports are told of a workflow's steps."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_evalstudio.mrm.workflow.run import WorkflowRun

LARGEST_PICTURE = 2_000_000
"""Bytes; a larger one stays among the artifacts alone."""


def step_entry(run: WorkflowRun, id: str) -> dict[str, Any]:
    """How a step stands, what it found and the pictures it made; JSON-ready."""
    place = run.place(id)
    spec, state = place.spec, place.state
    return {
        "workflow": run.title,
        "step": spec.id,
        "number": spec.number,
        "name": spec.name,
        "description": spec.description,
        "standing": place.standing,
        "lacks": list(place.lacks),
        "parameters": run.parameters(spec.id),
        "summary": state.summary if state is not None else "",
        "notes": state.notes if state is not None else [],
        "waits": state.waits if state is not None else "",
        "figures": state.figures if state is not None else {},
        "problems": [asdict(problem) for problem in state.problems] if state is not None else [],
        "pictures": _pictures(run.folder_of(spec.id)) if state is not None else {},
        "finished": state.finished if state is not None else "",
        "seconds": state.seconds if state is not None else 0.0,
    }


def _pictures(folder: Path) -> dict[str, str]:
    """The SVG files of a folder by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.svg")) if path.stat().st_size <= LARGEST_PICTURE}
