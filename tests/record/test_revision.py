"""Commit and branch of the tested project."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_evalstudio.record.revision import Revision, revision

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"GITHUB_SHA": COMMIT, "GITHUB_REF_NAME": "main"}, Revision(COMMIT, "main")),
        (
            {"GITHUB_SHA": COMMIT, "GITHUB_HEAD_REF": "fees", "GITHUB_REF_NAME": "7/merge"},
            Revision(COMMIT, "fees"),
        ),
        ({"CI_COMMIT_SHA": COMMIT, "CI_COMMIT_REF_NAME": "fees"}, Revision(COMMIT, "fees")),
        ({"GIT_COMMIT": "no hash"}, Revision("", "")),
        ({}, Revision("", "")),
    ],
)
def test_a_ci_service_names_commit_and_branch(
    env: dict[str, str], expected: Revision, tmp_path: Path
) -> None:
    assert revision(tmp_path, env) == expected


def test_git_names_them_elsewhere(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        command = ["git", *identity, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.strip()

    git("init", "-b", "fees")
    assert revision(tmp_path, {}) == Revision("", "")
    git("commit", "--allow-empty", "-m", "first")

    assert revision(tmp_path, {}) == Revision(git("rev-parse", "HEAD"), "fees")


def test_without_git_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert revision(tmp_path, {}) == Revision("", "")
