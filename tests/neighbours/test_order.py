"""Steps of a workflow keep their order under plugins that shuffle or reverse tests."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from support.project import Project

CONFTEST = """
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.step import StepResult, step


def made(number):
    after = (f"step_{number - 1}",) if number > 1 else ()

    @step(f"step_{number}", name=f"Step {number}", number=number, after=after)
    @dataclass(frozen=True)
    class Made:
        "Does nothing."

        def run(self, context):
            return StepResult(summary="done")

    return Made


def pytest_evalstudio_register(registry):
    registry.steps._scanned = True
    for number in range(1, 10):
        registry.add_step(made(number))
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "workers"])
@pytest.mark.parametrize(
    ("module", "options"),
    [
        pytest.param("pytest_randomly", ("-p", "randomly", "-p", "no:random_order"), id="randomly"),
        pytest.param("random_order", ("-p", "no:randomly", "--random-order"), id="random-order"),
        pytest.param("pytest_reverse", ("-p", "no:randomly", "--reverse"), id="reverse"),
    ],
)
def test_steps_keep_their_order(
    project: Project,
    neighbour: Callable[[str], None],
    module: str,
    options: tuple[str, ...],
    workers: tuple[str, ...],
) -> None:
    neighbour(module)
    write(project)
    result = project.run_process(*options, *workers, "-v")
    result.assert_outcomes(passed=9 + 6)


def write(project: Project) -> None:
    project.write("conftest.py", CONFTEST)
    project.write("text.txt", "Fees.")
    content = {"name": "Nine steps", "documents": ["text.txt"]}
    project.write("nine_workflow.json", json.dumps({"evalstudio_workflow": content}))
    project.write("test_others.py", "\n".join(f"def test_{name}(): pass" for name in "abcdef"))
