"""A project of a user's: files in a folder, pytest run on them in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.children import LONGEST_WAIT_S
from support.command import evalstudio

APP = """
ANSWERS = {"2+2?": "It is 4.", "3+3?": "It is 6."}


def ask(prompt):
    if prompt == "boom":
        raise RuntimeError("no connection")
    return ANSWERS.get(prompt, "I do not know.")
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
"""

WITH_NEIGHBOURS = "EVALSTUDIO_NEIGHBOURS" in os.environ
WITHOUT_PLUGINS = ("-p", "no:hypothesispytest", *(() if WITH_NEIGHBOURS else ("-p", "no:anyio")))
"""Plugins that take a tenth of a short run; only the tests with other plugins use anyio."""


class PreparedProjects:
    """Copies of projects whose preparation runs whole sessions: each is prepared for its first test alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fill(self, project: Project, prepare: Callable[[Project], None]) -> Project:
        """Fill the project's empty folder as a function of a module does, and return the project."""
        copy = self._folder / f"{prepare.__module__}.{prepare.__qualname__}"
        # Bytecode is left out: it may be taken for a file that a test writes in the same second.
        ignored = shutil.ignore_patterns("__pycache__")
        if copy.is_dir():
            shutil.copytree(copy, project.folder, dirs_exist_ok=True)
        else:
            prepare(project)
            shutil.copytree(project.folder, copy, ignore=ignored)
        return project


class Project:
    """Writes files, runs pytest, reads the record."""

    def __init__(self, pytester: pytest.Pytester, *, with_app: bool = True) -> None:
        self._pytester = pytester
        self.folder = pytester.path
        if with_app:
            self.write("app.py", APP)
            self.write("evalstudio.toml", CONFIG)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def suite(self, *cases: Mapping[str, Any], name: str = "sums_suite.json", **keys: Any) -> Path:
        return self.write(
            name,
            json.dumps(
                {"name": "Sums", "tests": [{"key": "t", "documents": [], "test_cases": list(cases)}], **keys}
            ),
        )

    def lab(
        self, *rows: Mapping[str, Any], name: str = "answers_lab.json", model_type: str = "h2ogpte_llm"
    ) -> Path:
        rows = tuple({"model_key": "m", **row} for row in rows)
        keys = dict.fromkeys(row["model_key"] for row in rows)
        models = [
            {"key": key, "name": f"model {key}", "llm_model_name": key, "model_type": model_type}
            for key in keys
        ]
        return self.write(
            name, json.dumps({"name": "Lab", "dataset": {"inputs": list(rows)}, "models": models})
        )

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process, which is fast; workers and foreign plugins get another process."""
        if "-n" in arguments or WITH_NEIGHBOURS:
            return self.run_process(*arguments)
        return self._run_here("-p", "no:cacheprovider", *arguments)

    def run_process(self, *arguments: str, timeout: float = LONGEST_WAIT_S) -> pytest.RunResult:
        """Run pytest in a process of its own: for workers, signals, and the state of an interpreter."""
        return self._pytester.run(
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *WITHOUT_PLUGINS),
            *arguments,
            timeout=timeout,
        )

    def run_command(self, *arguments: str) -> pytest.RunResult:
        """Run the command `evalstudio` in this process."""
        start = time.perf_counter()
        result = evalstudio(*arguments, folder=self.folder)
        # Shown by pytest where the test fails.
        sys.stdout.write(result.stdout)
        sys.stderr.write(result.stderr)
        return pytest.RunResult(
            result.returncode,
            result.stdout.splitlines(),
            result.stderr.splitlines(),
            time.perf_counter() - start,
        )

    def run_command_process(self, *arguments: str) -> pytest.RunResult:
        """Run the command `evalstudio` in a process of its own, which it may end."""
        return self._pytester.run(sys.executable, "-m", "pytest_evalstudio.cli", *arguments)

    def run_inside(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process, for runs without models that keep state in modules."""
        return self._pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    def run_with_cache(self, *arguments: str) -> pytest.RunResult:
        if WITH_NEIGHBOURS:
            return self._pytester.run(sys.executable, "-m", "pytest", *arguments)
        return self._run_here(*arguments)

    def _run_here(self, *arguments: str) -> pytest.RunResult:
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            warnings.resetwarnings()  # those of this project are not the user's
            warnings.simplefilter("default")
            # Runs in processes of their own load the plugins of other packages, as the user's do.
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            # Bytecode is taken for a file of the same size that a test writes in the same second.
            patch.setattr(sys, "dont_write_bytecode", True)
            return self._pytester.runpytest_inprocess("-p", "evalstudio", *arguments)

    def record(self, folder: str = "evalstudio-report") -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the header, and the items by the part of their node ids after `::`."""
        lines = (self.folder / folder / "record.jsonl").read_text(encoding="utf-8").splitlines()
        header, *items = (json.loads(line) for line in lines)
        return header, {item["nodeid"].partition("::")[2]: item for item in items}
