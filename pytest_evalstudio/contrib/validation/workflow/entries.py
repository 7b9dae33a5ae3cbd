"""Entries of a workflow's steps in records and reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from pytest_evalstudio.contrib.validation.workflow.run import StepStatus, WorkflowRun
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.record.schema import SignOffEntry, StepEntry
from pytest_evalstudio.scoring.identifiers import safe_description, safe_identifier
from pytest_evalstudio.scoring.masking import masked

MAX_PICTURE = 2_000_000
"""Bytes; larger pictures are not part of records and reports."""


def step_entry(
    run: WorkflowRun,
    id: str,
    *,
    file: str = "",
    verdict: str = "",
    page: str = "",
    fingerprints: Mapping[str, str] = NOTHING,
    sign_offs: tuple[SignOffEntry, ...] = (),
) -> StepEntry:
    """Return the record's entry of a step, with personal data and secrets masked.

    Args:
        id: of the step.
        run: the workflow.
        file: of the workflow, as in the node id.
        verdict: of the pytest item.
        page: path of the workflow's report.
        fingerprints: of the basis of the results, by name.
        sign_offs: last sign-off of each role.
    """
    status = run.status(id)
    spec, state = status.spec, status.state
    return StepEntry(
        workflow=masked(run.title),
        step=spec.id,
        number=spec.number,
        name=spec.name,
        description=spec.description,
        status=status.status,
        lacks=status.lacks,
        parameters=safe_description(run.parameters(spec.id)),
        summary=_summary(status),
        notes=tuple(state.notes) if state is not None else (),
        waits=state.waits if state is not None else "",
        figures=state.figures if state is not None else {},
        problems=tuple(map(_problem, state.problems)) if state is not None else (),
        pictures=_pictures(run.folder_of(spec.id)) if state is not None else {},
        finished=state.finished if state is not None else "",
        seconds=state.seconds if state is not None else 0.0,
        file=file,
        verdict=verdict,
        page=page,
        fingerprints={safe_identifier(name): value for name, value in fingerprints.items()},
        sign_offs=sign_offs,
        asks=run.asks(spec.id),
    )


def _summary(status: StepStatus) -> str:
    if status.failure is not None:
        return f"failed: {status.failure.reason}"
    return status.state.summary if status.state is not None else ""


def _problem(problem: Problem) -> Problem:
    return problem if problem.code else replace(problem, code=str(problem.attributes.get("kind", "")))


def _pictures(folder: Path) -> dict[str, str]:
    """Return the SVG files of a folder by name."""
    return {
        path.name: path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.glob("*.svg"))
        if path.is_file() and path.stat().st_size <= MAX_PICTURE
    }
