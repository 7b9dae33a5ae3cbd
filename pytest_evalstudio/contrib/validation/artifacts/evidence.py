"""Evidence of a workflow: digests of everything that its results rest on, and of the files that hold them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_evalstudio.asking.answers import digest_of
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import LAB
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ID as GENERATION
from pytest_evalstudio.contrib.validation.steps.test_generation.results import SUITE
from pytest_evalstudio.contrib.validation.workflow.masking import masked_content
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow.states import ARCHIVE, ARTIFACTS, REGISTER
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.record.writer import FILE as RECORD

DEFAULT_MODEL = "the configured one"
INPUTS: Mapping[str, str] = {
    "documents": "document",
    "configuration": "configuration",
    "application": "application",
    "inputs": "file",
}
"""Sections of evidence outside of the archive, with the word that names an entry."""
RESULTS: Mapping[str, str] = {
    "workflow": "workflow file",
    "suite": "test cases",
    "records": "record",
    "steps": "file",
    "register": "register of findings",
}
"""Sections of files in the archive that a decision rests on."""
REPORT = "report"
SECTIONS: Mapping[str, str] = {**INPUTS, **RESULTS, REPORT: "report"}
"""All sections in the order of the chain; the report is last, since it shows the other ones."""
Digests = Mapping[str, Mapping[str, str]]
"""Section to name to SHA-256; a remote document has its address in place of a digest."""
_PACKED = ".zip"
MAX_SOURCES = 2_000
"""Python files of an application that count; an application with more states its version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Digests of a workflow's evidence.

    Attributes:
        digests: of all sections but the report.
        environment: names and versions of Python, platform and packages when the model was evaluated.
    """

    digests: Digests
    environment: Mapping[str, str] = field(default_factory=dict)


def evidence_of(run: WorkflowRun) -> Evidence:
    """Return the evidence of a workflow, as it is now."""
    digests: dict[str, dict[str, str]] = {section: {} for section in (*INPUTS, *RESULTS)}
    digests["documents"].update(run.document_digests())
    digests["configuration"] = {
        f"{run.path.name} before masking": file_sha256(run.path),
        "settings of the steps": run.configuration_digest(),
    }
    digests["workflow"] = {run.path.name: hashlib.sha256(masked_content(run.path)).hexdigest()}
    digests["application"] = dict(_application(run))
    digests["inputs"] = {name: digest for name, digest in run.read_files().items() if digest}
    governance = run.workflow.governance
    for name, file in ((governance.policy, run.policy_file), (governance.guidance, run.guidance_file)):
        if file is not None:
            digests["inputs"][name] = file_sha256(file)
    for name, path in archive_files(run).items():
        digests[section_of(name)][name] = file_sha256(path)
    for spec in run.specs:
        # Its texts are those of the record; it is left out of the archive, but later steps read it.
        if (lab := run.folder_of(spec.id) / LAB).is_file():
            digests["inputs"][lab.relative_to(run.folder).as_posix()] = file_sha256(lab)
    state = run.status(EVALUATION).state if run.is_completed(EVALUATION) else None
    return Evidence(digests=digests, environment=state.environment if state is not None else {})


def archive_files(run: WorkflowRun) -> dict[str, Path]:
    """Return the files of the steps and of people by their names in the archive.

    Archives and labs of steps are left out: their content is in the record.
    """
    files = {REGISTER: run.folder / REGISTER} if (run.folder / REGISTER).is_file() else {}
    for spec in run.specs:
        for path in sorted(run.folder_of(spec.id).rglob("*")):
            if path.is_file() and path.suffix != _PACKED and path.name != LAB:
                files[path.relative_to(run.folder).as_posix()] = path
    return files


def report_files(run: WorkflowRun) -> dict[str, Path]:
    """Return the files of the report that exist, by name, without the archive."""
    names = (name for name in ARTIFACTS if name != ARCHIVE)
    return {name: path for name in names if (path := run.folder / name).is_file()}


def section_of(name: str) -> str:
    """Return the section of a file in the archive.

    >>> section_of("4_automated_evaluation/record.jsonl"), section_of("1_topic_modeling/topics.json")
    ('records', 'steps')
    >>> section_of("model_card.md")
    'report'
    """
    folder, _, file = name.partition("/")
    if not file:
        if name == REGISTER:
            return "register"
        return REPORT if name in ARTIFACTS else "workflow"
    if file == RECORD:
        return "records"
    return "suite" if folder.endswith(GENERATION) and file == SUITE else "steps"


def _application(run: WorkflowRun) -> Iterator[tuple[str, str]]:
    """Yield what identifies the application under validation: version, settings and Python sources."""
    if run.workflow.governance.version:
        yield "version", run.workflow.governance.version
    name = run.workflow.model
    models = [model for model in run.config.model if not name or model.name == name]
    yield (
        f"model {name or DEFAULT_MODEL}",
        digest_of([model.model_dump(exclude_unset=True, mode="python") for model in models]),
    )
    for path in sorted({path for model in models for path in _sources(model, run.config.folder)}):
        yield f"source {path.relative_to(run.config.folder).as_posix()}", file_sha256(path)


def _sources(model: ModelTable, folder: Path) -> Iterator[Path]:
    """Yield the Python files below the configuration's folder of the callable that a model names."""
    target = (model.model_extra or {}).get("target")
    if not isinstance(target, str):
        return
    module = target.partition(":")[0].split(".")
    package = folder / module[0]
    if package.is_dir():
        yield from sorted(package.rglob("*.py"))[:MAX_SOURCES]
    elif (file := folder / f"{module[0]}.py").is_file():
        yield file


def evidence_rows(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield the evidence with names for people; versions of the environment follow the digests.

    The files of a step share one digest.
    """
    for section, word in INPUTS.items():
        yield from ((f"{word} {name}", digest) for name, digest in evidence.digests[section].items())
    for section in ("workflow", "suite", "records", "register"):
        yield from (
            (f"{RESULTS[section]} {name}", digest) for name, digest in evidence.digests[section].items()
        )
    steps: dict[str, dict[str, str]] = {}
    for name, digest in evidence.digests["steps"].items():
        steps.setdefault(name.partition("/")[0], {})[name] = digest
    yield from ((f"files of {step}", digest_of(files)) for step, files in steps.items())
    yield from ((f"environment: {name}", version) for name, version in evidence.environment.items())


def changes(before: Digests, after: Digests, sections: Iterable[str]) -> Iterator[str]:
    """Yield the entries of sections that differ between two states, in words."""
    for section in sections:
        earlier, later = before.get(section, {}), after.get(section, {})
        for name in sorted({*earlier, *later}):
            if name not in later:
                yield f"{SECTIONS[section]} {name} was removed"
            elif name not in earlier:
                yield f"{SECTIONS[section]} {name} was added"
            elif earlier[name] != later[name]:
                yield f"{SECTIONS[section]} {name} changed"
