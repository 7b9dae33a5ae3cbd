"""A workflow of five steps that note when they run."""

from __future__ import annotations

import json
from typing import Any

from support.project import Project

STEPS = '''
from dataclasses import dataclass

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.core.plugins.step import StepResult, step


def note(work, name):
    with open(work.workflow.name + ".log", "a") as log:
        log.write(name + "\\n")


@step("first", name="First", number=1)
@dataclass(frozen=True)
class First:
    """Counts the documents."""

    factor: int = 1

    def run(self, work):
        note(work, "first")
        (work.folder / "count.txt").write_text(str(self.factor * len(work.documents)))
        return StepResult(summary=f"{len(work.documents)} documents", figures={"count": len(work.documents)})


@step("second", name="Second", number=2, after=("first",))
@dataclass(frozen=True)
class Second:
    """Doubles the count."""

    configured = ("embeddings",)

    def run(self, work):
        note(work, "second")
        count = int((work.artifacts("first") / "count.txt").read_text())
        if count == 13:
            raise EvaluationError("thirteen is too many")
        return StepResult(summary=f"{2 * count} in all, {work.figures['first']['count']} read")


@step("third", name="Third", number=3, after=("first",))
@dataclass(frozen=True)
class Third:
    """Waits for labels."""

    labels: str = "labels.txt"

    def reads(self, home, base):
        return [base / self.labels]

    def run(self, work):
        note(work, "third")
        labels = work.base / self.labels
        waits = "" if labels.exists() else "0 of 40 labels"
        return StepResult(summary=f"{waits}: label them" if waits else "labelled", waits=waits, figures={"cut": 0.7})


@step("fourth", name="Fourth", number=4, after=("second", "third"))
@dataclass(frozen=True)
class Fourth:
    """Comes last."""

    def run(self, work):
        note(work, "fourth")
        return StepResult(summary="done")


@step("fifth", name="Fifth", number=5, after=("first",), uses=("third",))
@dataclass(frozen=True)
class Fifth:
    """Uses the third's cut where there is one."""

    def run(self, work):
        note(work, "fifth")
        cut = work.figures.get("third", {}).get("cut", 0.5)
        problem = Problem(
            description=f"Scores below {cut}.", severity="low", problem_type="accuracy", avid="P0200", attributes={"cut": cut}, actions="Look."
        )
        (work.folder / "cut.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg"><title id="t">A cut &amp; its place</title></svg>')
        return StepResult(summary=f"cut at {cut}", problems=(problem,))


def pytest_evalstudio_register(registry):
    registry.steps._scanned = True
    for cls in (First, Second, Third, Fourth, Fifth):
        registry.add_step(cls)
'''  # noqa: E501


def write(project: Project, **keys: Any) -> None:
    content = {"name": "demo", "documents": ["text.md"], **keys}
    project.write("bank_workflow.json", json.dumps({"evalstudio_workflow": content}))


def ran(project: Project) -> list[str]:
    """Return the steps that have run since the last call."""
    log = project.folder / "demo.log"
    steps = log.read_text(encoding="utf-8").split() if log.exists() else []
    log.write_text("", encoding="utf-8")
    return steps
