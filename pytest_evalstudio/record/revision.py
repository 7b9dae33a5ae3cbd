"""Commit and branch of the tested project, from the CI service's variables or from git."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_COMMITS = (
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "BUILD_SOURCEVERSION",
    "BITBUCKET_COMMIT",
    "CIRCLE_SHA1",
    "GIT_COMMIT",
)
# The first that is set counts: of a pull request, GITHUB_REF_NAME is the merge, e.g. "12/merge".
_BRANCHES = (
    "GITHUB_HEAD_REF",
    "GITHUB_REF_NAME",
    "CI_COMMIT_REF_NAME",
    "BUILD_SOURCEBRANCHNAME",
    "BITBUCKET_BRANCH",
    "CIRCLE_BRANCH",
    "GIT_BRANCH",
)
"""GitHub Actions, GitLab, Azure Pipelines, Bitbucket, CircleCI, Jenkins."""
_HASH = re.compile(r"[0-9a-f]{7,64}")
_TIMEOUT_S = 2.0  # git can wait for a lock or a network disk; the revision is not worth it
_BRANCH_CHARS = 200


class Revision(NamedTuple):
    """Commit (hexadecimal) and branch, "" where they are not known."""

    commit: str
    branch: str


def revision(folder: Path, env: Mapping[str, str] = os.environ) -> Revision:
    """Return the revision of the project in a folder; an absent or failing git is no error.

    Args:
        folder: in the project's repository.
        env: environment variables.
    """
    commit = next((env[name] for name in _COMMITS if _HASH.fullmatch(env.get(name, ""))), "")
    branch = next((env[name] for name in _BRANCHES if env.get(name)), "")
    if not commit:
        commit = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
        branch = branch or _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    return Revision(commit, branch[:_BRANCH_CHARS]) if _HASH.fullmatch(commit) else Revision("", "")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
