"""Jobs of CI systems that run the suites and compare them with a baseline."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_evalstudio.cli.starter.files import StarterFile, template

PATHS: Mapping[str, str] = {
    "github": ".github/workflows/evaluation.yml",
    "gitlab": ".gitlab-ci.yml",
    "jenkins": "Jenkinsfile",
}
"""CI system to the file that it reads, from the top of the repository."""
_TEMPLATES: Mapping[str, str] = {"github": "github.yml", "gitlab": "gitlab.yml", "jenkins": "Jenkinsfile"}


def ci_file(system: str, folder: Path, *, secret: str = "") -> StarterFile:
    """Return the file of a CI system.

    Args:
        folder: of the suites.
        secret: environment variable that the model needs, "" for none.
    """
    top = repository_of(folder)
    tests = folder.resolve().relative_to(top).as_posix()
    # A relative path is shorter to read; the top may be above the folder.
    path = Path(os.path.relpath(top / PATHS[system], folder.resolve()))
    return StarterFile(path=path, text=ci_job(system, tests=tests, secret=secret))


def ci_job(system: str, *, tests: str, secret: str = "") -> str:
    """Return the job of a CI system that runs the tests of a folder."""
    return template(_TEMPLATES[system], tests=tests, secret=_secret_lines(system, secret))


def repository_of(folder: Path) -> Path:
    """Return the top of the repository that a folder belongs to; the folder itself if it belongs to none."""
    path = folder.resolve()
    return next((parent for parent in (path, *path.parents) if (parent / ".git").exists()), path)


def _secret_lines(system: str, secret: str) -> str:
    if not secret:
        return ""
    if system == "github":
        return f"        env:\n          {secret}: ${{{{ secrets.{secret} }}}}\n"
    if system == "jenkins":
        credential = secret.lower().replace("_", "-")
        return f"  environment {{ {secret} = credentials('{credential}') }}\n"
    # GitLab passes its CI/CD variables to every job.
    return ""
