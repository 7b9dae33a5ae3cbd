"""Repositories of the small project: a protected commit, and a changed working tree with a run's record."""

from __future__ import annotations

import subprocess
from pathlib import Path

from contrib.attestation.material.honest import Edit
from contrib.attestation.material.project_runs import (
    CI_ARGUMENTS,
    GOOD,
    apply,
    copy_project,
    move,
    run_pytest,
    save_baseline,
)
from contrib.attestation.material.tricks import Trick

IGNORED = ".evalstudio\nevalstudio-report\nbuild\n__pycache__\n.pytest_cache\n"


def git(folder: Path, *arguments: str) -> str:
    """Run git with an author of its own, and return what it prints."""
    identity = ("-c", "user.name=Desk", "-c", "user.email=desk@example.org", "-c", "commit.gpgsign=false")
    result = subprocess.run(
        ("git", *identity, *arguments), cwd=folder, text=True, capture_output=True, check=False
    )
    if result.returncode:
        raise RuntimeError(result.stderr)
    return result.stdout.strip()


def good_repository(folder: Path) -> Path:
    """Make the project with the good application and its baseline, as one commit of `main`."""
    source = folder.with_name(f"{folder.name}-run")
    copy_project(source)
    run = run_pytest(source, ())
    if run.returncode:
        raise RuntimeError(run.stdout)
    save_baseline(source)
    copy_project(folder)
    (source / "evalstudio-baseline.jsonl").rename(folder / "evalstudio-baseline.jsonl")
    (folder / ".gitignore").write_text(IGNORED)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Protected revision")
    return folder


def tricked(trick: Trick, good: Path, folder: Path) -> Path:
    """Copy the repository, apply a trick to a regressed application, and run pytest."""
    copy_project(folder, trick.application, good)
    apply(folder, trick.files)
    run_pytest(folder, (*CI_ARGUMENTS, *trick.arguments), trick.environment)
    if trick.after_run is not None:
        trick.after_run(folder)
    return folder


def edited(edit: Edit, good: Path, folder: Path) -> Path:
    """Copy the repository, apply an honest edit, and run pytest."""
    copy_project(folder, GOOD, good)
    apply(folder, edit.files)
    if edit.moved is not None:
        move(folder, *edit.moved)
    run_pytest(folder, (*CI_ARGUMENTS, *edit.arguments), edit.environment)
    return folder


def record_of(folder: Path) -> Path:
    """Return the report folder of a run."""
    for name in ("evalstudio-report", "build/report"):
        if (folder / name).exists():
            return folder / name
    return folder / "evalstudio-report"
