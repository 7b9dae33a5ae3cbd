"""State of a workflow's steps between runs: one file beside each step's artifacts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.record.outputs import MANIFEST, PRODUCER, OutputFolder

FILE = "step.json"
VERSION = 4
STARTED = ".evalstudio-started.json"
"""In a step's folder while the step runs: lists the files that were there before."""
FAILURE = ".evalstudio-failure.json"
"""In a step's folder after a run that failed, with the reason."""
_OURS = frozenset([FILE, STARTED, FAILURE, MANIFEST])
MARK = ".evalstudio-workflow"
"""In the folder of a workflow's artifacts: the suites and labs in its steps' folders are no tests of the
project's.
"""
SUMMARY, SUMMARY_DATA, PAGE = "workflow_summary.md", "workflow_summary.json", "workflow_report.html"
PATCH, EXTENSION = "corpus_patch.md", "system_prompt_extension.md"
GUARDRAILS, REFERENCE_GUARDRAILS = "guardrail_configuration.json", "guardrail_configuration_reference.json"
ARCHIVE = "workflow_artifacts.zip"
CARD, CARD_DATA, CARD_PAGE = "model_card.md", "model_card.json", "model_card.html"
ANNEX = "annex_iv.html"
ARTIFACTS = (
    *(SUMMARY, SUMMARY_DATA, PAGE, CARD, CARD_DATA, CARD_PAGE, ANNEX, PATCH, EXTENSION),
    *(GUARDRAILS, REFERENCE_GUARDRAILS, ARCHIVE),
)
"""Files of a whole workflow, beside the folders of its steps."""
SIGN_OFFS = "sign_off.json"
"""Chain of sign-offs by people, which stays when artifacts are written again."""
SIGNATURE = "sign_off_{number}.sig"
"""Detached signature of the head of a sign-off."""
REGISTER = "findings.csv"
"""Findings and challenges by people, which stay as well."""

Status = Literal["completed", "waiting"]
CurrentStatus = Literal["completed", "waiting", "outdated", "not run"]
"""outdated: the last run had other parameters, documents or earlier artifacts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A step's last run.

    Attributes:
        identity: digest of all that it depended on.
        stamp: differs for each run; steps that use these artifacts depend on it.
        seconds: it took.
        environment: names and versions of Python, platform and packages.
        ran_by: account, or what EVALSTUDIO_RAN_BY names; "" where it is not known.
        artifacts: the files that it left, and their sizes in bytes.
        editable: digests of those of them that people may edit, as the step left them.
    """

    step: str
    status: Status
    summary: str
    waits: str
    identity: str
    stamp: str
    finished: str
    seconds: float
    environment: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    artifacts: dict[str, int] = field(default_factory=dict)
    editable: dict[str, str] = field(default_factory=dict)
    ran_by: str = ""


def read_state(folder: Path) -> State | None:
    """Return the last run of a step; None without a readable state file."""
    try:
        data = json.loads(read_utf8(folder / FILE))
        if data["version"] != VERSION:
            return None
        return State(
            **{**data["state"], "problems": msgspec.convert(data["state"]["problems"], list[Problem])}
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        # a damaged state is that of a step that has not run: it runs again
        return None


def write_state(folder: Path, state: State) -> None:
    """Put a state beside the artifacts, whole or not at all."""
    content = {"version": VERSION, "state": msgspec.to_builtins(state)}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_whole(folder / FILE, text.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailure:
    """Reason for which the last run of a step failed.

    Attributes:
        finished: ISO 8601 with time zone.
    """

    reason: str
    finished: str


def read_failure(folder: Path) -> StepFailure | None:
    """Return the failure of a step's last run; None if it did not fail."""
    try:
        return msgspec.json.decode((folder / FAILURE).read_bytes(), type=StepFailure)
    except (OSError, msgspec.DecodeError):
        return None


def write_failure(folder: Path, failure: StepFailure) -> None:
    """Put a failure into the folder of its step."""
    write_whole(folder / FAILURE, msgspec.json.encode(failure) + b"\n")


def sizes(folder: Path) -> dict[str, int]:
    """Return name and size in bytes of each file that a step has written to its folder."""
    foreign = _foreign(folder) or frozenset()
    return {
        path.name: path.stat().st_size
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in foreign | _OURS
    }


def is_whole(folder: Path, state: State) -> bool:
    """Report whether all artifacts of a state exist, with their recorded sizes if they are not editable."""
    return all(
        (folder / name).is_file() and (name in state.editable or (folder / name).stat().st_size == size)
        for name, size in state.artifacts.items()
    )


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the digests of files in a folder by name; those that do not exist are left out."""
    files = ((name, folder / name) for name in names)
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files if path.is_file()}


def edited(folder: Path, state: State) -> dict[str, str]:
    """Return the digests of the artifacts that people have edited, by name."""
    now = digests(folder, state.editable)
    return {name: digest for name, digest in now.items() if digest != state.editable[name]}


def keep_edited(folder: Path) -> None:
    """Rename the artifacts that people have edited, before a step runs again: "suite.edited.json"."""
    state = read_state(folder)
    for name in edited(folder, state) if state is not None else ():
        path = folder / name
        path.replace(path.with_suffix(f".edited{path.suffix}"))


def clear(folder: Path) -> None:
    """Delete what the last run of a step left in its folder.

    The state goes first, so that a killed run leaves a step that has not run. Only files that the step's
    state lists are deleted, a report that was built beside them, and the files of a run that was killed.
    Files that somebody else put there stay.

    Raises:
        DataError: if the folder, or a file in it, is a symbolic link.
    """
    present = folder.iterdir() if folder.is_dir() else ()
    for path in (folder, *present):
        if path.is_symlink():
            raise DataError(
                "is a symbolic link, and files are not written through links; remove it", source=str(path)
            )
    listed = _listed_artifacts(folder)
    foreign = _foreign(folder)
    (folder / FILE).unlink(missing_ok=True)
    (folder / FAILURE).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    OutputFolder(folder).remove_all()
    for path in folder.iterdir():
        if path.is_file() and (
            path.name in listed or (foreign is not None and path.name not in foreign | {STARTED})
        ):
            path.unlink()
    entries = sorted(path.name for path in folder.iterdir() if path.name != STARTED)
    write_whole(folder / STARTED, (json.dumps({"producer": PRODUCER, "foreign": entries}) + "\n").encode())


def finish(folder: Path) -> None:
    """Note that the step whose artifacts are in a folder has ended, after its state was written."""
    (folder / STARTED).unlink(missing_ok=True)


def claim(home: Path, name: str, names: Iterable[str]) -> str:
    """Mark a folder as that of a workflow's artifacts.

    Args:
        home: folder of the artifacts.
        name: of the workflow's file.
        names: names of the files and folders that the workflow writes there.

    Returns:
        The reason why the folder cannot be used; "" if it can.
    """
    mark = home / MARK
    for path in (home, mark, *(home / entry_name for entry_name in names)):
        if path.is_symlink():
            return f"{path.name} is a symbolic link, and files are not written through links"
    owner = mark.read_text(encoding="utf-8").strip() if mark.is_file() else ""
    # If that file is gone, it was renamed.
    if owner and owner != name and (home.parent / owner).is_file():
        return f"it holds the artifacts of {owner}"
    if not owner:
        obstacle = next((entry_name for entry_name in names if _is_taken(home / entry_name)), "")
        if obstacle:
            return f"it holds {obstacle}, which no workflow wrote"
    home.mkdir(parents=True, exist_ok=True)
    write_whole(mark, f"{name}\n".encode())
    return ""


def _listed_artifacts(folder: Path) -> frozenset[str]:
    """Return the files that a step's state lists, of a state of any version."""
    try:
        names = json.loads(read_utf8(folder / FILE))["state"]["artifacts"]
        return frozenset(map(str, names))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # without a list nothing is deleted
        return frozenset()


def _foreign(folder: Path) -> frozenset[str] | None:
    """Return the files that were in a step's folder before its run; None without an unfinished run."""
    try:
        content = json.loads(read_utf8(folder / STARTED))
        return frozenset(map(str, content["foreign"])) if content["producer"] == PRODUCER else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_taken(path: Path) -> bool:
    """Return whether an artifact, or a folder with something in it that is no step's, has a name already."""
    if path.is_file():
        return path.name in ARTIFACTS
    return path.is_dir() and any(path.iterdir()) and read_state(path) is None
