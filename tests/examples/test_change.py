"""The README's first example: a change of the application that a saved baseline shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAX_LINES = 25


def block(mark: str) -> str:
    """Return the fenced block after a mark of the README."""
    match = re.search(re.escape(mark) + r"\n```[^\n]*\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert match
    return match[1]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "example_suites" / "change", tmp_path / "example_suites" / "change")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(clone: Path, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    names = [word for word in words if "=" in word and not word.startswith("-")]
    assert words[len(names)] == ".venv/bin/pytest"
    pytest_command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words[len(names) + 1 :]]
    settings = dict(name.split("=", 1) for name in names)
    return subprocess.run(
        pytest_command,
        cwd=clone,
        env={**os.environ, "COLUMNS": "80", **settings, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_readme_shows_the_failure_as_it_is_printed(clone: Path) -> None:
    command = block("<!-- command first -->").splitlines()[-1]

    result = run(clone, command)

    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    lines = result.stdout.splitlines()
    output = iter(lines)
    for line in block("<!-- output first -->").splitlines():
        assert line in output
    first = lines.index(next(line for line in lines if "fees_suite.yaml" in line))
    assert len(lines) - first <= MAX_LINES
    assert "1 of 4 cases regressed" in result.stdout


def test_without_the_change_all_tests_pass(clone: Path) -> None:
    command = block("<!-- command first -->").splitlines()[-1]

    result = run(clone, command, CHUNK_CHARS="200")

    assert result.returncode == pytest.ExitCode.OK
    assert "no case changed" in result.stdout
