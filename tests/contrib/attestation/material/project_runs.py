"""Copies of the small project, changed and run as its owner runs them in CI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

PROJECT = Path(__file__).parent / "project"
BASELINE = "evalstudio-baseline.jsonl"
GOOD = "app_good.py"
CI_ARGUMENTS = ("-o", "evalstudio_unchecked=fail", "--evalstudio-baseline", BASELINE)
LONGEST_WAIT_S = 120
NewContent: TypeAlias = str | Callable[[str], str] | None
"""Content of a file, a function of its old content, or None to remove the file."""


def replaced(*pairs: tuple[str, str]) -> Callable[[str], str]:
    """Return a function that replaces texts, and raises if the text lacks one."""

    def replace(text: str) -> str:
        for old, new in pairs:
            if old not in text:
                raise ValueError(f"the file lacks {old!r}")
            text = text.replace(old, new)
        return text

    return replace


def appended(addition: str) -> Callable[[str], str]:
    """Return a function that adds a text at the end."""
    return lambda text: text + addition


def prepended(addition: str) -> Callable[[str], str]:
    """Return a function that adds a text at the start."""
    return lambda text: addition + text


def copy_project(folder: Path, application: str = GOOD, source: Path = PROJECT) -> None:
    """Copy the project; `application` becomes its app.py."""
    shutil.copytree(source, folder)
    shutil.copyfile(PROJECT / application, folder / "app.py")


def apply(folder: Path, files: Mapping[str, NewContent]) -> None:
    """Change the files of a copy of the project."""
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.unlink()
            continue
        if callable(content):
            content = content(path.read_text(encoding="utf-8"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def move(folder: Path, old: str, new: str) -> None:
    """Move a file of a copy."""
    (folder / new).parent.mkdir(parents=True, exist_ok=True)
    (folder / old).rename(folder / new)


def run_pytest(
    folder: Path, arguments: tuple[str, ...] = CI_ARGUMENTS, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a process of its own, without settings of the run that starts it."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "EVALSTUDIO_", "GITHUB_", "CI"))
    }
    return _run(folder, ("pytest", *arguments), {**variables, **(environment or {})})


def save_baseline(folder: Path) -> None:
    """Save the last run of a copy as its baseline."""
    saved = _run(folder, ("pytest_evalstudio.cli", "baseline", "save"), dict(os.environ))
    if saved.returncode:
        raise RuntimeError(saved.stdout + saved.stderr)


def _run(
    folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", *arguments),
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        timeout=LONGEST_WAIT_S,
        check=False,
    )
