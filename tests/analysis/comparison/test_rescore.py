"""`evalstudio compare --rescore`: a change of the measure is told from one of the model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.command import evalstudio
from support.project import PreparedProjects, Project

CONDITION = 'evaluators = ["shouting"]\n'
SHOUTING = """
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio import Metric, Outcome, evaluator


@evaluator("shouting", name="Shouting", domain="generation", needs=("actual_output",), method=("rules",))
@dataclass(frozen=True)
class Shouting:
    \"\"\"Share of letters that are lower case.\"\"\"

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("calm", "Calm", primary=True, threshold=0.1),)

    def score(self, cases, tools):
        texts = [case.actual_output for case in cases]
        return [Outcome.score({"calm": FACTOR * sum(map(str.islower, text)) / len(text)}) for text in texts]


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Shouting)
"""


def rows(answer: str) -> list[dict[str, Any]]:
    return [{"key": f"k{number}", "input": "q", "actual_output": answer} for number in range(6)]


def save_baseline(project: Project) -> None:
    project.write("evalstudio.toml", CONDITION)
    project.write("conftest.py", SHOUTING.replace("FACTOR", "1.0"))
    project.lab(*rows("calm answer"))
    project.run("answers_lab.json").assert_outcomes(passed=6)
    assert evalstudio("baseline", "save", folder=project.folder).returncode == 0
    project.write("conftest.py", SHOUTING.replace("FACTOR", "0.5"))


@pytest.fixture
def baseline_project(project: Project, project_store: PreparedProjects) -> Project:
    """A project with a baseline, whose evaluator then halves its scores."""
    return project_store.fill(project, save_baseline)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


def comparison_of(project: Project, *options: str) -> dict[str, Any]:
    command = ("compare", "evalstudio-baseline.jsonl", "evalstudio-report", "--rescore", "--json", *options)
    result = evalstudio(
        *command, "--plugin-module", str(project.folder / "conftest.py"), folder=project.folder
    )
    assert result.stdout, result.stderr
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def test_a_change_of_the_evaluator_is_one_of_the_measure(baseline_project: Project) -> None:
    baseline_project.run("answers_lab.json").assert_outcomes(passed=6)

    result = comparison_of(baseline_project)

    (metric,) = result["metrics"]
    (measure,) = result["measure"]
    (model,) = result["model"]
    assert metric["difference"] == pytest.approx(measure["difference"])
    assert measure["difference"] < -0.3
    assert model["difference"] == 0.0


def test_a_change_of_the_answers_is_one_of_the_model(baseline_project: Project) -> None:
    baseline_project.write("conftest.py", SHOUTING.replace("FACTOR", "1.0"))
    baseline_project.lab(*rows("CALM ANSWEr"))
    baseline_project.run("answers_lab.json")

    result = comparison_of(baseline_project)

    (measure,) = result["measure"]
    (model,) = result["model"]
    assert measure["difference"] == 0.0
    assert model["difference"] == pytest.approx(result["metrics"][0]["difference"])


def test_the_terminal_names_both(baseline_project: Project) -> None:
    baseline_project.run("answers_lab.json")

    result = evalstudio(
        "compare",
        "evalstudio-baseline.jsonl",
        "evalstudio-report",
        "--rescore",
        "--plugin-module",
        str(baseline_project.folder / "conftest.py"),
        folder=baseline_project.folder,
    )

    assert "the measure moved by -0.4545" in result.stdout
    assert "on unchanged answers; model: no change" in result.stdout


def test_a_baseline_without_answers_cannot_be_scored_again(baseline_project: Project) -> None:
    baseline_project.run("answers_lab.json")
    evalstudio("baseline", "accept", "--no-answers", folder=baseline_project.folder)
    baseline_project.run("answers_lab.json")

    command = ("compare", "evalstudio-baseline.jsonl", "evalstudio-report", "--rescore")
    result = evalstudio(
        *command,
        "--plugin-module",
        str(baseline_project.folder / "conftest.py"),
        folder=baseline_project.folder,
    )

    assert result.returncode == 2
    assert "was saved without answers" in result.stderr
