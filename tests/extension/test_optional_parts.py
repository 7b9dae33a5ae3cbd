"""The core works without its optional parts, each of which is a folder that can be deleted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pytest_evalstudio
from pytest_evalstudio.core.plugins.contrib import contribs

ROOT = Path(__file__).parents[2]
PARTS = tuple(contrib.name for contrib in contribs() if "." not in contrib.name)
USERS = {"calibration": ("arena", "validation"), "questions": ("validation",)}
"""Parts that use a part; they go with it."""
CORE = ("core", "formats", "record", "asking", "scoring", "analysis", "api", "report/data")
"""Folders of tests that run without the parts."""
LEFT_OUT = "analysis/comparison"
"""Left out with `text`, for time: lint-imports finds imports of parts, and other folders load plugins."""
TIMEOUT_S = 900

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def package_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, whose modules are compiled once."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(pytest_evalstudio.__file__).parent, folder / "pytest_evalstudio", ignore=ignored)
    return folder


@contextmanager
def removal_of(parts: Iterable[str], package_copy: Path) -> Iterator[None]:
    """Take parts out of the copy of the package, and put them back at the end."""
    contrib, removed = package_copy / "pytest_evalstudio" / "contrib", package_copy / "removed"
    removed.mkdir()
    for part in parts:
        (contrib / part).rename(removed / part)
    try:
        yield
    finally:
        for part in parts:
            (removed / part).rename(contrib / part)
        removed.rmdir()


def run(package_copy: Path, *arguments: str, folder: Path) -> str:
    result = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(package_copy), os.environ["PYTHONPATH"]))},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"[-4000:]
    return result.stdout


@pytest.mark.parametrize("part", PARTS)
def test_the_package_works_without_a_part(part: str, tmp_path: Path, package_copy: Path) -> None:
    """The commands, all evaluators, and a run with its report import the parts that are left."""
    shutil.copytree(ROOT / "example_suites" / "change", tmp_path, dirs_exist_ok=True)
    with removal_of((part, *USERS.get(part, ())), package_copy):
        run(package_copy, "pytest_evalstudio.cli", "--help", folder=tmp_path)
        run(package_copy, "pytest_evalstudio.cli", "evaluators", "--json", folder=tmp_path)
        output = run(package_copy, "pytest", "-p", "no:cacheprovider", ".", folder=tmp_path)
    assert "result: PASSED" in output


def test_the_examples_of_the_readme_run_without_all_parts(tmp_path: Path, package_copy: Path) -> None:
    shutil.copytree(ROOT / "example_suites", tmp_path / "example_suites")
    with removal_of(PARTS, package_copy):
        output = run(package_copy, "pytest", "-p", "no:cacheprovider", "example_suites", folder=tmp_path)
    assert "result: PASSED" in output


def test_the_tests_of_the_core_pass_without_all_parts(tmp_path: Path, package_copy: Path) -> None:
    for name in ("tests", "example_suites", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    of_parts = [
        path
        for path in (tmp_path / "tests").rglob("test_*.py")
        if "\nfrom pytest_evalstudio.contrib." in path.read_text("utf-8")
    ]
    ignored = [f"--ignore={path}" for path in (*of_parts, tmp_path / "tests" / LEFT_OUT)]
    selected = ["-q", "-p", "no:cacheprovider", "-m", "not slow and not browser"]
    tests = [f"tests/{name}" for name in CORE]
    with removal_of(PARTS, package_copy):
        output = run(package_copy, "pytest", *selected, *ignored, *tests, folder=tmp_path)
    assert int(output.rpartition(" passed")[0].split()[-1]) > 2000
