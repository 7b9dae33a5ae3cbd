"""A workflow on disk: the status of its steps, and running one."""

from __future__ import annotations

import datetime
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from pytest_evalstudio.asking.answers import digest_of
from pytest_evalstudio.asking.runs import AskingRun
from pytest_evalstudio.contrib.validation.methods.progress import Progress
from pytest_evalstudio.contrib.validation.methods.typed_results import R, json_ready, read_results
from pytest_evalstudio.contrib.validation.workflow.configured_files import named_files
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.corpus import WorkflowCorpus
from pytest_evalstudio.contrib.validation.workflow.documents import digest, relative
from pytest_evalstudio.contrib.validation.workflow.environment import environment, person
from pytest_evalstudio.contrib.validation.workflow.guidance import governing_guidance
from pytest_evalstudio.contrib.validation.workflow.masking import mask_artifacts, masked_mapping
from pytest_evalstudio.contrib.validation.workflow.policy import governing_policy, tier_name
from pytest_evalstudio.contrib.validation.workflow.states import (
    ARTIFACTS,
    CurrentStatus,
    State,
    StepFailure,
    claim,
    clear,
    digests,
    edited,
    finish,
    is_whole,
    keep_edited,
    read_failure,
    read_state,
    sizes,
    write_failure,
    write_state,
)
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.errors import ConfigurationError, DataError, EvalStudioError, nearest
from pytest_evalstudio.core.locking import locked
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.plugins.step import RunnableStep, StepResult, StepSpec
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.options import OptionError, build, check_options
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.model_provider import ModelProvider

LOCK = ".lock"
EVALUATOR = "evaluator."


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStatus:
    """The current status of a step.

    Attributes:
        lacks: ids of the steps that must be completed before it can run, in order.
        state: its last run; None before the first.
        failure: of the last run; None if it did not fail.
    """

    spec: StepSpec
    status: CurrentStatus
    lacks: tuple[str, ...]
    state: State | None
    failure: StepFailure | None = None


class WorkflowRun:
    """A workflow file and the artifacts of its steps.

    Args:
        path: of the file; documents, policy and artifacts start at its folder.
        config: what applies to the file.

    Raises:
        DataError: if the file names an unknown step, parameter or tier, or a missing document.
    """

    def __init__(self, workflow: Workflow, path: Path, config: Configuration, registry: Registry) -> None:
        self.workflow = workflow
        self.path = path
        self.config = config
        self.registry = registry
        self.folder = self._home()
        self.specs = tuple(
            sorted(
                (registry.steps.spec(id) for id in registry.steps), key=lambda spec: (spec.number, spec.id)
            )
        )
        self._steps = {spec.id: self._made(spec) for spec in self.specs}
        self._check_files()
        for id in workflow.steps:
            if id not in self._steps:
                raise self._wrong(
                    f"steps/{id}",
                    "there is no step of this name."
                    f" {nearest(id, self._steps) or 'Steps: ' + ', '.join(self._steps)}",
                )
        self.policy, self.policy_file = governing_policy(workflow.governance.policy, path)
        self.guidance, self.guidance_file = governing_guidance(workflow.governance.guidance, path)
        self.tier = tier_name(self.policy, workflow.governance.materiality, str(path))
        self.corpus = WorkflowCorpus(workflow.documents, path, config, registry)
        for document in self.documents:
            if "://" not in document and Path(document).resolve().is_relative_to(self.folder.resolve()):
                raise self._wrong(
                    "folder",
                    f"{self.folder} holds the document {Path(document).name}; artifacts need a folder of"
                    " their own",
                )

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents: absolute paths, URLs, and collections that are not copied yet."""
        return self.corpus.locations

    @property
    def title(self) -> str:
        """The workflow's name, or its file's."""
        return self.workflow.name or self.path.stem

    def statuses(self) -> Iterator[StepStatus]:
        """Yield the status of each step, in order."""
        for spec in self.specs:
            yield self.status(spec.id)

    def status(self, id: str) -> StepStatus:
        """Return the current status of a step."""
        spec = self._spec(id)
        state = read_state(self.folder_of(id))
        lacks = tuple(other for other in spec.after if self.status(other).status != "completed")
        folder = self.folder_of(id)
        if state is None:
            failure = read_failure(folder)
            return StepStatus(spec=spec, status="not run", lacks=lacks, state=None, failure=failure)
        # A step does not run again by itself over artifacts that people have edited.
        is_changed = state.identity != self._identity(spec) and not edited(folder, state)
        if lacks or is_changed or not is_whole(folder, state):
            return StepStatus(spec=spec, status="outdated", lacks=lacks, state=state)
        return StepStatus(spec=spec, status=state.status, lacks=(), state=state)

    def folder_of(self, id: str) -> Path:
        """Return the folder of a step's artifacts."""
        return self.folder / f"{self._spec(id).number}_{id}"

    def is_completed(self, id: str) -> bool:
        """Report whether a step is known, has run and is not outdated."""
        return any(spec.id == id for spec in self.specs) and self.status(id).status == "completed"

    def is_current(self, id: str) -> bool:
        """Report whether a step has run on what there is now, completed or waiting."""
        is_installed = any(spec.id == id for spec in self.specs)
        return is_installed and self.status(id).status in ("completed", "waiting")

    def figures_of(self, id: str) -> Mapping[str, Any]:
        """Return the results of a step's last run as its state holds them; none before the first run."""
        state = self.status(id).state
        return {} if state is None else state.figures

    def persons(self) -> frozenset[str]:
        """Return the persons who ran the steps."""
        states = (read_state(self.folder_of(spec.id)) for spec in self.specs)
        return frozenset(state.ran_by for state in states if state is not None and state.ran_by)

    def asks(self, id: str) -> bool:
        """Report whether a step asks models."""
        return "model" in self._spec(id).configured_of(self._steps[id])

    def completed_results(self, id: str, kind: type[R]) -> R | None:
        """Return the results of a step; None if it is not completed.

        Args:
            id: of the step.
            kind: the dataclass in the step's package that describes them.

        Raises:
            DataError: if the results cannot be read.
        """
        if not self.is_completed(id):
            return None
        state = self.status(id).state
        return read_results(id, state.figures, kind) if state is not None else None

    def step(self, id: str) -> RunnableStep:
        """Return a step with its parameters."""
        return self._steps[id]

    def run(
        self,
        id: str,
        *,
        provider: ModelProvider,
        cache: Path,
        progress: Progress,
        asking: AskingRun | None = None,
    ) -> State:
        """Run a step, in place of what it made before.

        Raises:
            EvalStudioError: what kept it from completing.
        """
        try:
            self.claim()
            with self.locked():
                return self._run(id, provider, cache, progress, asking)
        except OSError as exc:
            fact = f"{exc.strerror or exc}: {exc.filename or self.folder}"
            raise DataError(
                f"{id}: {fact}; correct it, or run the step that made it again with --evalstudio-from",
                source=str(self.path),
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out of the workflow's folder.

        Raises:
            DataError: if another run is at work there.
        """
        with ExitStack() as held:
            try:
                held.enter_context(locked(self.folder / LOCK, wait=False))
            except BlockingIOError:
                raise DataError(
                    "another run is at work on this workflow; wait until it has ended", source=str(self.path)
                ) from None
            yield

    def claim(self) -> None:
        """Make the folder of the artifacts this workflow's.

        Raises:
            DataError: if it holds files in our places that no workflow wrote, or another workflow's.
        """
        names = [*ARTIFACTS, LOCK, *(self.folder_of(spec.id).name for spec in self.specs)]
        if obstacle := claim(self.folder, self.path.name, names):
            raise self._wrong(
                "folder", f"{self.folder} cannot be used: {obstacle}; name another folder in `folder`"
            )

    def _run(
        self, id: str, provider: ModelProvider, cache: Path, progress: Progress, asking: AskingRun | None
    ) -> State:
        spec = self._spec(id)
        folder = self.folder_of(id)
        # Before the identity, which has the digests of the copies.
        self.corpus.copy_collections()
        identity = self._identity(spec)
        keep_edited(folder)
        clear(folder)
        started = time.perf_counter()
        states = self._earlier(spec)
        context = StepContext(
            workflow=self.workflow,
            config=self.config,
            registry=self.registry,
            base=self.path.parent,
            home=self.folder,
            folder=folder,
            earlier={other: self.folder_of(other) for other in states},
            figures={other: state.figures for other, state in states.items()},
            documents=self.documents,
            cache=cache,
            provider=provider,
            progress=progress,
            run=asking,
        )
        try:
            result: StepResult = self._steps[id].run(context)
        except EvalStudioError as exc:
            reason, finished = masked(str(exc)), _now()
            write_failure(folder, StepFailure(reason=reason, finished=finished))
            raise
        mask_artifacts(folder)
        # Only the first steps read the documents and their collections.
        notes = list(result.notes)
        if not spec.after:
            notes += self.corpus.notes
        state = State(
            step=id,
            status="waiting" if result.waits else "completed",
            summary=masked(result.summary),
            waits=masked(result.waits),
            identity=identity,
            # New at each run: later steps, whose identity has it, are outdated by it even with equal inputs.
            stamp=uuid.uuid4().hex,
            finished=_now(),
            seconds=round(time.perf_counter() - started, 3),
            environment=environment(),
            figures=masked_mapping(json_ready(result.figures)),
            problems=[_masked_problem(problem) for problem in result.problems],
            notes=[masked(note) for note in dict.fromkeys(notes) if note],
            artifacts=sizes(folder),
            editable=digests(folder, spec.editable),
            ran_by=masked(person()),
        )
        write_state(folder, state)
        finish(folder)
        return state

    def parameters(self, id: str) -> dict[str, Any]:
        """Return a step's parameters; those that the file does not give have their defaults."""
        return {name: getattr(self._steps[id], name) for name in parameters(self.registry.steps.get(id))}

    def _spec(self, id: str) -> StepSpec:
        return self.registry.steps.spec(id)

    def _made(self, spec: StepSpec) -> RunnableStep:
        cls = self.registry.steps.get(spec.id)
        try:
            return build(cls, check_options(cls, self.workflow.steps.get(spec.id, {}), ""), "")
        except OptionError as exc:
            raise self._wrong("/".join(filter(None, ("steps", spec.id, exc.key))), exc.fact) from None

    def _check_files(self) -> None:
        """Refuse files of steps that lie outside the folder of the workflow's file."""
        for id, step in self._steps.items():
            try:
                self._spec(id).files_of(step, self.folder, self.path.parent)
            except ConfigurationError as exc:
                raise self._wrong(f"steps/{id}", str(exc)) from None

    def _identity(self, spec: StepSpec) -> str:
        """Return a digest of all inputs of a step."""
        stamps = [
            [other, state.stamp, *sorted(edited(self.folder_of(other), state).values())]
            for other, state in self._earlier(spec).items()
        ]
        inputs = [self.workflow.seed, self.workflow.model, self.workflow.evaluators, self.corpus.digests]
        return digest_of(
            [spec.id, self.parameters(spec.id), inputs, stamps, self._read(spec), self._configured(spec)]
        )

    def document_digests(self) -> dict[str, str]:
        """Return SHA-256 of the documents by relative path; a remote document has its address."""
        names = (relative(document, self.path.parent) for document in self.documents)
        return dict(zip(names, (entry[-1] for entry in self.corpus.digests), strict=True))

    def configuration_digest(self) -> str:
        """Return a digest of the parts of the configuration that steps use."""
        return digest_of([self._configured(spec) for spec in self.specs])

    def read_files(self) -> dict[str, str]:
        """Return names and SHA-256 of the files, beside artifacts, that steps read; "" for a missing file."""
        return {name: digest for spec in self.specs for name, digest in self._read(spec)}

    def _earlier(self, spec: StepSpec) -> dict[str, State]:
        """Return the completed steps whose artifacts a step uses."""
        states = {
            other: read_state(self.folder_of(other))
            for other in (*spec.after, *spec.uses)
            if self.status(other).status == "completed"
        }
        return {other: state for other, state in states.items() if state is not None}

    def _read(self, spec: StepSpec) -> list[list[str]]:
        """Return names and digests of the files that the step reads beside artifacts."""
        files = spec.files_of(self._steps[spec.id], self.folder, self.path.parent)
        return [digest(str(file)) if file.is_file() else [file.name, ""] for file in files]

    def _configured(self, spec: StepSpec) -> dict[str, Any]:
        """Return the part of the configuration that the step uses."""
        used = spec.configured_of(self._steps[spec.id])
        # Only what is set: a new option with its default outdates no step.
        settings = self.config.model_dump(
            include={name for name in used if "." not in name}, exclude_unset=True, mode="python"
        )
        settings |= {
            name: self.config.evaluator.get(name.removeprefix(EVALUATOR))
            for name in used
            if name.startswith(EVALUATOR)
        }
        return {
            **settings,
            "files": [digest(str(path)) for path in named_files(settings, self.config.folder)],
        }

    def _home(self) -> Path:
        """Return the folder of the artifacts.

        Raises:
            DataError: if what the file says is no folder of their own.
        """
        name = self.workflow.folder or f"{self.path.stem}_artifacts"
        try:
            home = path_below(self.path.parent, name)
        except ValueError as exc:
            raise self._wrong("folder", str(exc)) from None
        try:
            is_other = home.exists() and not home.is_dir()
        except OSError as exc:  # a name that is too long, for example
            fact = f"{name[:40]!r} cannot be the name of a folder here ({exc.strerror})"
            raise self._wrong("folder", f"{fact}; give another one") from None
        if is_other:
            raise self._wrong("folder", f"{name!r} is not a folder")
        if self.path.resolve().is_relative_to(home.resolve()):
            raise self._wrong(
                "folder", f"{name!r} holds the workflow's file; artifacts need a folder of their own"
            )
        return home

    def _wrong(self, location: str, message: str) -> DataError:
        return DataError(message, source=str(self.path), pointer=f"/evalstudio_workflow/{location}")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _masked_problem(problem: Problem) -> Problem:
    return structs.replace(
        problem,
        description=masked(problem.description),
        attributes=masked_mapping(problem.attributes),
        actions=masked(problem.actions),
    )
