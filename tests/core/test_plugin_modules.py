"""`--plugin-module` of several folders: files with equal names, and helpers with equal names."""

from __future__ import annotations

import pytest

from support.project import Project

PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio import Metric, Outcome, evaluator

from rules import NAME


@evaluator(NAME, name=NAME.title(), domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Rule:
    "A rule."

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("score", threshold=0.5, primary=True),)

    def score(self, cases, tools):
        return [Outcome.score({"score": 1.0}) for case in cases]


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Rule)
"""


@pytest.mark.parametrize("name", ["plugins.py", "conftest.py", "queue.py"])
def test_files_of_two_folders_share_no_modules(pytester: pytest.Pytester, name: str) -> None:
    project = Project(pytester, with_app=False)
    for folder in ("billing", "support"):
        project.write(f"{folder}/{name}", PLUGIN)
        project.write(f"{folder}/rules.py", f"NAME = '{folder}_rule'\n")

    options = ("--plugin-module", f"billing/{name}", "--plugin-module", f"support/{name}")
    result = project.run_command("evaluators", *options)

    assert result.ret == 0
    result.stdout.fnmatch_lines_random(["*billing_rule*", "*support_rule*"])
