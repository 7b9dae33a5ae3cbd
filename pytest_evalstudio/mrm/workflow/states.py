"""What is known of a workflow's steps from run to run: one file beside each step's artifacts."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pytest_evalstudio.core.problems import Problem

FILE = "step.json"
VERSION = 3
MARK = ".evalstudio-workflow"
"""In the folder of a workflow's artifacts: the suites and labs in its steps' folders are no tests of the project's."""

Status = Literal["completed", "waiting"]
Standing = Literal["completed", "waiting", "outdated", "not run"]
"""How a step stands: outdated = it has run, but with other parameters, documents or earlier artifacts than today's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A step's last run.

    Attributes:
        identity: digest of all that it depended on.
        stamp: another one for each run; what stands on this step's artifacts depends on it.
        seconds: it took.
        artifacts: the files that it left, and their sizes in bytes.
    """

    step: str
    status: Status
    summary: str
    waits: str
    identity: str
    stamp: str
    finished: str
    seconds: float
    figures: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    artifacts: dict[str, int] = field(default_factory=dict)


def read_state(folder: Path) -> State | None:
    """The last run of the step whose artifacts are in a folder; None where there was none, or its file cannot be used."""
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if data["version"] != VERSION:
            return None
        return State(**{**data["state"], "problems": [Problem(**problem) for problem in data["state"]["problems"]]})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_state(folder: Path, state: State) -> None:
    """Put a state beside the artifacts, whole or not at all."""
    draft = folder / f".{FILE}"
    draft.write_text(json.dumps({"version": VERSION, "state": asdict(state)}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(folder / FILE)


def sizes(folder: Path) -> dict[str, int]:
    """The files in a step's folder, but for the state itself."""
    return {path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file() and path.name not in (FILE, f".{FILE}")}


def is_whole(folder: Path, state: State) -> bool:
    """Whether the artifacts that a state speaks of are all there, none longer or shorter than it was."""
    return all((folder / name).is_file() and (folder / name).stat().st_size == size for name, size in state.artifacts.items())


def is_artifact(path: Path) -> bool:
    """Whether a file lies in the folder of a step's artifacts."""
    return (path.parent.parent / MARK).is_file()


def clear(folder: Path) -> None:
    """Empty a step's folder before it runs anew: its state first, so that a killed run leaves a step that has not run."""
    (folder / FILE).unlink(missing_ok=True)
    if folder.is_dir():
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    folder.mkdir(parents=True, exist_ok=True)


def claim(home: Path, name: str) -> str:
    """Mark a folder as that of a workflow's artifacts.

    Args:
        name: of the workflow's file.

    Returns:
        Why it cannot be had: "" if it can.
    """
    mark = home / MARK
    owner = mark.read_text(encoding="utf-8").strip() if mark.is_file() else ""
    if owner and owner != name and (home.parent / owner).is_file():
        return f"it holds the artifacts of {owner}"
    home.mkdir(parents=True, exist_ok=True)
    mark.write_text(f"{name}\n", encoding="utf-8")
    return ""
