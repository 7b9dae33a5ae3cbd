"""The core works without its optional parts, each of which is a folder that can be deleted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import pytest_evalstudio
from pytest_evalstudio.core.plugins.contrib import contribs

ROOT = Path(__file__).parents[2]
PARTS = tuple(contrib.name for contrib in contribs() if "." not in contrib.name)
USERS = {"calibration": ("arena", "validation"), "questions": ("validation",)}
"""Parts that use a part; they go with it."""
CORE = ("core", "text", "formats", "record", "asking", "scoring", "analysis", "api", "report/data")
TIMEOUT_S = 900

pytestmark = pytest.mark.slow


@pytest.fixture
def without(tmp_path: Path) -> Callable[[Iterable[str]], dict[str, str]]:
    """Copy the package and its tests without some parts, and return the environment that finds the copy."""

    def copy(parts: Iterable[str]) -> dict[str, str]:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(
            Path(pytest_evalstudio.__file__).parent, tmp_path / "pytest_evalstudio", ignore=ignored
        )
        for name in ("tests", "example_suites", "docs"):
            shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
        for name in ("pyproject.toml", "README.md", "conftest.py"):
            shutil.copy(ROOT / name, tmp_path)
        for part in parts:
            shutil.rmtree(tmp_path / "pytest_evalstudio" / "contrib" / part)
        return {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), os.environ["PYTHONPATH"]))}

    return copy


def run(environment: dict[str, str], *arguments: str, folder: Path) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"[-4000:]
    return ended.stdout


@pytest.mark.parametrize("part", PARTS)
def test_the_example_of_the_readme_runs_without_a_part(
    part: str, tmp_path: Path, without: Callable[[Iterable[str]], dict[str, str]]
) -> None:
    environment = without((part, *USERS.get(part, ())))
    output = run(environment, "pytest", "-p", "no:cacheprovider", "example_suites", folder=tmp_path)
    assert "result: PASSED" in output


def test_the_tests_of_the_core_pass_without_all_parts(
    tmp_path: Path, without: Callable[[Iterable[str]], dict[str, str]]
) -> None:
    environment = without(PARTS)
    of_parts = [
        path
        for path in (tmp_path / "tests").rglob("test_*.py")
        if "\nfrom pytest_evalstudio.contrib." in path.read_text("utf-8")
    ]
    ignored = [f"--ignore={path}" for path in of_parts]
    selected = ["-q", "-p", "no:cacheprovider", "-m", "not slow and not browser"]
    output = run(
        environment, "pytest", *selected, *ignored, *(f"tests/{name}" for name in CORE), folder=tmp_path
    )
    assert int(output.rpartition(" passed")[0].split()[-1]) > 2000
