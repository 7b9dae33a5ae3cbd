"""Folders of workflows: files that no workflow wrote stay as they are."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from support.project import Project

STEP = '''
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.step import StepResult, step


@step("first", name="First", number=1)
@dataclass(frozen=True)
class First:
    """Writes a file, and may die half-way."""

    factor: int = 1

    def run(self, work):
        import os

        (work.folder / "count.txt").write_text(str(self.factor))
        if (work.base / "die").exists():
            (work.folder / "half.txt").write_text("half")
            os._exit(1)
        return StepResult(summary="counted")


def pytest_evalstudio_register(registry):
    registry.steps._scanned = True
    registry.add_step(First)
'''


@pytest.fixture
def workflow(project: Project) -> Project:
    project.write("conftest.py", STEP)
    project.write("text.md", "Some text.")
    write(project)
    return project


def write(project: Project, factor: int = 1, **keys: str) -> None:
    content = {"documents": ["text.md"], "steps": {"first": {"factor": factor}}, **keys}
    project.write("bank_workflow.json", json.dumps({"evalstudio_workflow": content}))


@pytest.mark.parametrize("name", ["1_first/mine.txt", "workflow_summary.md", "workflow_report.html"])
def test_a_folder_of_others_is_not_taken(workflow: Project, name: str) -> None:
    write(workflow, folder="victim")
    mine = workflow.write(f"victim/{name}", "mine")

    result = workflow.run("bank_workflow.json")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            f"*victim cannot be used: it holds {name.split('/')[0]}, which no workflow wrote;"
            " name another folder*"
        ]
    )
    assert mine.read_text() == "mine"
    command = [sys.executable, "-m", "pytest_evalstudio.cli", "mrm", "report", "bank_workflow.json"]
    subprocess.run(command, cwd=workflow.folder, capture_output=True, check=False)
    assert mine.read_text() == "mine"


def test_a_file_of_others_in_a_step_s_folder_survives_the_step(workflow: Project) -> None:
    workflow.run().assert_outcomes(passed=1)
    mine = workflow.write("bank_workflow_artifacts/1_first/notes.txt", "mine")

    for factor in (2, 3):
        write(workflow, factor)
        workflow.run().assert_outcomes(passed=1)

    assert mine.read_text() == "mine"
    assert (mine.parent / "count.txt").read_text() == "3"


def test_what_a_killed_step_left_goes_with_the_next_run(workflow: Project) -> None:
    workflow.write("die", "")
    workflow.run_process()
    folder = workflow.folder / "bank_workflow_artifacts" / "1_first"
    assert (folder / "half.txt").is_file()
    (workflow.folder / "die").unlink()

    workflow.run().assert_outcomes(passed=1)

    assert sorted(path.name for path in folder.iterdir()) == ["count.txt", "step.json"]


def test_a_step_writes_through_no_symbolic_link(workflow: Project) -> None:
    workflow.run().assert_outcomes(passed=1)
    victim = workflow.write("victim.txt", "mine")
    count = workflow.folder / "bank_workflow_artifacts" / "1_first" / "count.txt"
    count.unlink()
    count.symlink_to(victim)

    result = workflow.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*count.txt: is a symbolic link*"])
    assert victim.read_text() == "mine"
