"""Steps of model-risk-management workflows as items."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.contrib.validation.workflow.entries import step_entry
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.errors import DataError, EvalStudioError, unknown_name
from pytest_evalstudio.core.plugins.step import StepSpec
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.plugin.display import CollectionError
from pytest_evalstudio.plugin.items import RecordedItem
from pytest_evalstudio.plugin.keys import recorded_outcome
from pytest_evalstudio.plugin.private_api import TerminalRepr
from pytest_evalstudio.record.schema import Tables
from pytest_evalstudio.run.payload import Payload

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.collecting import EvalFileCollector
    from pytest_evalstudio.run.services import Services
    from pytest_evalstudio.run.settings import Settings


def step_items(collector: EvalFileCollector, source: Source) -> Iterator[WorkflowStep]:
    """Yield an item for each step of a workflow, in order.

    Raises:
        CollectionError: for the first thing that is wrong with the file.
    """
    project = collector.project
    try:
        workflow = read_workflow(source)
        run = WorkflowRun(
            workflow, collector.path, project.configuration(collector.path.parent), project.registry
        )
    except DataError as exc:
        raise CollectionError(str(exc)) from None
    if not run.specs:
        raise CollectionError(f"{collector.nodeid}: no step of a workflow is installed")
    step_id = project.settings.from_step
    if step_id and all(spec.id != step_id for spec in run.specs):
        fault = unknown_name(
            "step",
            step_id,
            [spec.id for spec in run.specs],
            f"Steps: {', '.join(spec.id for spec in run.specs)}.",
        )
        collector.log.refusals.append(f"--evalstudio-from: {fault}")
    for warning in source.warnings:
        project.warn(warning, collector.path)
    if ignored := project.settings.of_suites:
        project.warn(
            f"{', '.join(ignored)}: ignored for workflows; set model and parameters in {collector.path.name}",
            collector.path,
        )
    for spec in run.specs:
        yield WorkflowStep.from_parent(
            collector,
            name=spec.id,
            nodeid=f"{collector.nodeid}::{spec.id}",
            run=run,
            spec=spec,
            settings=project.settings,
            services=collector.services,
        )


class WorkflowStep(RecordedItem):
    """A step: skipped if it waits or lacks another step, kept if nothing has changed, else run."""

    def __init__(
        self, *, run: WorkflowRun, spec: StepSpec, settings: Settings, services: Services, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._run = run
        self._spec = spec
        self._settings = settings
        self._services = services
        self.place_in_file = run.specs.index(spec)
        self.add_marker(pytest.mark.mrm)
        self.add_marker(pytest.mark.mrm_step(spec.id, id=spec.id))

    @property
    def family(self) -> str:
        """Return the file: all steps are in one shard."""
        return self.nodeid.partition("::")[0]

    @property
    def chunk_name(self) -> str:
        """Return the chunk that keeps the steps of a workflow on one xdist worker."""
        return f"{self.nodeid.partition('::')[0]}#workflow"

    def setup(self) -> None:
        lacks = self._run.status(self._spec.id).lacks
        if lacks:
            statuses = ", ".join(f"{id} ({self._run.status(id).status})" for id in lacks)
            raise pytest.skip.Exception(f"needs {statuses}", _use_item_location=True)
        super().setup()

    def runtest(self) -> None:
        from pytest_evalstudio.contrib.validation.artifact_files import PAGE
        from pytest_evalstudio.plugin.terminal.progress import progress_of

        settings = self._settings
        status = self._run.status(self._spec.id)
        # A refresh asks the model again; the other steps would give the same results.
        anew = settings.from_step == self._spec.id or (settings.refresh and self._run.asks(self._spec.id))
        if status.status == "completed" and not anew:
            self._report()
            # An earlier session ended before it wrote the page.
            if not (self._run.folder / PAGE).is_file():
                self._services.at_end[self.path] = functools.partial(_write_artifacts, self._run)
            return
        # Before the run, so that the artifacts also show a step that fails.
        self._services.at_end[self.path] = functools.partial(_write_artifacts, self._run)
        with progress_of(self, self._spec.id, "running") as progress:
            state = self._run.run(
                self._spec.id,
                provider=self._services.provider,
                cache=settings.cache(),
                progress=progress,
                asking=self._services.run.get(),
            )
        self._report()
        if state.waits:
            raise pytest.skip.Exception(f"waits: {state.waits}", _use_item_location=True)

    def _report(self) -> None:
        """Build the report of a step beside its record, if the step evaluated something and has none yet."""
        from pytest_evalstudio.record.outputs import PAGE
        from pytest_evalstudio.record.writer import FILE
        from pytest_evalstudio.report.build import build_report

        folder = self._run.folder_of(self._spec.id)
        if (folder / FILE).is_file() and not (folder / PAGE).is_file():
            build_report(folder / FILE, folder)

    def payload(self, report: pytest.TestReport) -> Payload:
        """Return the record's entry of the step, personal data and secrets masked."""
        from pytest_evalstudio.contrib.validation.artifact_files import PAGE
        from pytest_evalstudio.contrib.validation.artifacts.evidence import evidence_of, evidence_rows
        from pytest_evalstudio.contrib.validation.artifacts.sign_off import sign_offs

        entry = step_entry(
            self._run,
            self._spec.id,
            file=self.nodeid.partition("::")[0],
            verdict=recorded_outcome(report),
            page=Path(os.path.relpath(self._run.folder / PAGE, self.config.rootpath)).as_posix(),
            fingerprints=dict(evidence_rows(evidence_of(self._run))),
            sign_offs=tuple(status.entry for status in sign_offs(self._run)),
        )
        return Payload.of(self.nodeid, Tables(steps={self.nodeid: entry}))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        if not isinstance(excinfo.value, EvalStudioError):
            return super().repr_failure(excinfo, style)
        message = str(excinfo.value)
        return (
            message
            if self.path.name in message
            else f"{self.nodeid.partition('::')[0]} /evalstudio_workflow/steps/{self._spec.id}: {message}"
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


def _write_artifacts(run: WorkflowRun) -> None:
    """Write the artifacts of a workflow at the end of the session.

    Raises:
        EvalStudioError: if the folder of the artifacts cannot be used.
        OSError: if it cannot be written.
    """
    from pytest_evalstudio.contrib.validation.artifact_files import write_workflow_artifacts

    write_workflow_artifacts(run)
