"""Fingerprints of everything that the results of a workflow rest on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_evalstudio.engine.asking.answers import digest_of
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.test_generation.results import ID as GENERATION
from pytest_evalstudio.mrm.steps.test_generation.results import SUITE
from pytest_evalstudio.mrm.workflow.run import WorkflowRun
from pytest_evalstudio.mrm.workflow.states import WRITTEN

DEFAULT_MODEL = "the configured one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """Digests (SHA-256, hexadecimal) of the basis of a workflow's results.

    Attributes:
        workflow: of the workflow's file.
        documents: by name; a remote document has its address in place of a digest.
        suite: of the generated test cases, "" before there are any.
        configuration: of the parts of the configuration that steps use.
        models: of the configuration of the model under validation, by its name.
        files: of labels, weaknesses by people and other files that steps read, by name.
        steps: by id, a mark that differs for each run of a completed step.
        environment: names and versions of Python, platform and packages when the model was evaluated.
    """

    workflow: str
    documents: Mapping[str, str]
    suite: str
    configuration: str
    models: Mapping[str, str]
    files: Mapping[str, str]
    steps: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)


def fingerprints(run: WorkflowRun) -> Fingerprints:
    """Return the fingerprints of a workflow, as it is now."""
    statuses = {status.spec.id: status for status in run.statuses()}
    states = {
        id: status.state
        for id, status in statuses.items()
        if status.status == "completed" and status.state is not None
    }
    evaluation = states.get(EVALUATION)
    return Fingerprints(
        workflow=_digest(run.path),
        documents=run.document_digests(),
        suite=_digest(run.folder_of(GENERATION) / SUITE) if GENERATION in statuses else "",
        configuration=run.configuration_digest(),
        models={
            run.workflow.model or DEFAULT_MODEL: digest_of(
                run.config.model_dump(include={"model"}, exclude_unset=True, mode="python")
            )
        },
        files=run.read_files() | {WRITTEN: _digest(run.folder / WRITTEN)},
        steps={id: state.stamp for id, state in states.items()},
        environment=evaluation.environment if evaluation is not None else {},
    )


def fingerprint_rows(fingerprints: Fingerprints) -> Iterator[tuple[str, str]]:
    """Yield the fingerprints with names for people; versions of the environment follow the digests."""
    yield "workflow file", fingerprints.workflow
    yield from ((f"document {name}", digest) for name, digest in fingerprints.documents.items())
    yield "test cases", fingerprints.suite or "none"
    yield "configuration", fingerprints.configuration
    yield from ((f"model {name}", digest) for name, digest in fingerprints.models.items())
    yield from ((f"file {name}", digest) for name, digest in fingerprints.files.items() if digest)
    yield from ((f"environment: {name}", version) for name, version in fingerprints.environment.items())


def changes(before: Fingerprints, after: Fingerprints) -> Iterator[str]:
    """Yield what has changed between two states of a workflow, in words.

    The environment does not count: results do not change where they are only read.
    """
    for name, word in (
        ("workflow", "the workflow's file"),
        ("suite", "the test cases"),
        ("configuration", "the configuration"),
    ):
        if getattr(before, name) != getattr(after, name):
            yield f"{word} changed"
    for name, word in (("documents", "document"), ("models", "model"), ("files", "file")):
        yield from _differences(word, getattr(before, name), getattr(after, name))
    for id in sorted({*before.steps, *after.steps}):
        if id not in after.steps:
            yield f"step {id} is not completed any more"
        elif id not in before.steps:
            yield f"step {id} was completed since"
        elif before.steps[id] != after.steps[id]:
            yield f"step {id} was run again"


def _differences(word: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"{word} {name} was removed"
        elif name not in before:
            yield f"{word} {name} was added"
        elif before[name] != after[name]:
            yield f"{word} {name} changed"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
