"""The composite action and the GitLab component: valid files, and shell that runs in a project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.project import APP, CONFIG, PreparedProjects, Project
from tests.examples.test_comment_recipes import MARKER, TOKEN, Service, github, gitlab, write_summary

__all__ = ["github", "gitlab"]
pytestmark = pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")), reason="bash or curl is missing"
)

FOLDER = Path(__file__).parents[2] / "docs" / "recipes"
ACTION_TEXT = (FOLDER / "github" / "action.yml").read_text(encoding="utf-8")
ACTION: dict[str, Any] = yaml.safe_load(ACTION_TEXT)
STEPS = {step.get("name", step.get("uses", "").partition("@")[0]): step for step in ACTION["runs"]["steps"]}
COMPONENT_TEXT = (FOLDER / "gitlab" / "evaluate.yml").read_text(encoding="utf-8")
SPEC, JOBS = yaml.safe_load_all(COMPONENT_TEXT)
INPUT = re.compile(r"\$\[\[ inputs\.([\w-]+) \]\]")
ACTION_INPUT = re.compile(r"inputs\.([\w-]+)")
WORSE = APP.replace("It is 6.", "It is 7, or so.")


def interpolated(text: str, **inputs: str) -> dict[str, Any]:
    """Return the jobs of the component as GitLab makes them of its text and the inputs."""
    values = {name: declared["default"] for name, declared in SPEC["spec"]["inputs"].items()} | inputs

    def value_of(match: re.Match[str]) -> str:
        value = values[match[1]]
        return str(value).lower() if isinstance(value, bool) else str(value)

    def fill(node: Any) -> Any:
        if isinstance(node, dict):
            return {fill(key): fill(value) for key, value in node.items()}
        if isinstance(node, list):
            return [fill(item) for item in node]
        return INPUT.sub(value_of, node) if isinstance(node, str) else node

    *_, jobs = yaml.safe_load_all(text)
    filled: dict[str, Any] = fill(jobs)
    return filled


def action_environment(step: Mapping[str, Any], **inputs: str) -> dict[str, str]:
    """Return the environment of a step, with the defaults of inputs that are not given."""
    values = {name: str(declared["default"]) for name, declared in ACTION["inputs"].items()} | inputs
    return {
        name: values[ACTION_INPUT.search(expression)[1]]  # type: ignore[index]
        for name, expression in step.get("env", {}).items()
        if "inputs." in expression
    }


def run_shell(script: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a script as both services do: by bash, which ends at the first error."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def outcomes(result: subprocess.CompletedProcess[str]) -> dict[str, int]:
    return pytest.RunResult.parse_summary_nouns(result.stdout.splitlines())


def save_baseline(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG)
    project.write("app.py", APP)
    cases = (
        {"key": "four", "prompt": "2+2?", "condition": '"4"'},
        {"key": "six", "prompt": "3+3?", "condition": '"6"'},
    )
    project.suite(*cases, name="suites/sums_suite.json")
    project.suite(*cases, name="more suites/sums_suite.json")
    project.run("suites", "more suites").assert_outcomes(passed=4)
    assert project.run_command("baseline", "save", "-o", "evalstudio-baseline.jsonl").ret == 0
    shutil.rmtree(project.folder / "evalstudio-report")
    project.write("app.py", WORSE)


@pytest.fixture
def repository(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, project_store: PreparedProjects
) -> Project:
    """A repository with two suites, a baseline of both, and an application that became worse."""
    project = project_store.fill(Project(pytester, with_app=False), save_baseline)
    monkeypatch.chdir(project.folder)
    return project


def run_of_action(project: Project, **inputs: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run the step that evaluates, and return what it wrote as outputs."""
    step = STEPS["Run and compare"]
    outputs = project.folder / "outputs.txt"
    outputs.unlink(missing_ok=True)
    environment = {**action_environment(step, **inputs), "GITHUB_OUTPUT": str(outputs)}
    result = run_shell(step["run"], project.folder, environment)
    return result, outputs.read_text() if outputs.exists() else ""


def run_of_component(project: Project, **inputs: str) -> subprocess.CompletedProcess[str]:
    job = interpolated(COMPONENT_TEXT, **inputs)["evaluation"]
    return run_shell(job["script"][-1], project.folder, job["variables"])


def test_every_input_of_the_action_is_used_and_declared() -> None:
    assert ACTION["runs"]["using"] == "composite"
    used = set(ACTION_INPUT.findall(json.dumps(ACTION["runs"])))
    assert used == set(ACTION["inputs"])
    assert all(declared["description"] and "default" in declared for declared in ACTION["inputs"].values())
    assert ACTION["outputs"]["status"]["value"] == "${{ steps.run.outputs.status }}"


def test_every_input_of_the_component_is_used_and_declared() -> None:
    assert set(INPUT.findall(COMPONENT_TEXT)) == set(SPEC["spec"]["inputs"])
    assert "$[[" not in json.dumps(interpolated(COMPONENT_TEXT))
    assert all(declared["description"] for declared in SPEC["spec"]["inputs"].values())


def test_actions_and_images_are_pinned() -> None:
    uses = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert len(uses) == 3
    assert [use for use in uses if not re.search(r"@(v\d+\.\d+\.\d+|[0-9a-f]{40})$", use)] == []
    image = SPEC["spec"]["inputs"]["image"]["default"]
    assert re.fullmatch(r"python:3\.\d+-\w+", image)


def test_no_input_is_written_into_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"
        assert ("run" in step) == ("shell" in step)
    for job in JOBS.values():
        assert not [line for line in job["script"] if "$[[" in line]


def test_the_action_comments_on_pull_requests_of_the_repository_alone() -> None:
    step = STEPS["Comment on the pull request"]
    assert "inputs.comment == 'true'" in step["if"]
    assert "head.repo.full_name == github.repository" in step["if"]
    others = [other for other in ACTION["runs"]["steps"] if other is not step]
    assert not [other for other in others if "token" in json.dumps(other)]


def test_the_note_of_the_component_can_be_turned_off() -> None:
    for comment, text in ((True, '"true" == "true"'), (False, '"false" == "true"')):
        jobs = interpolated(COMPONENT_TEXT, comment=comment)  # type: ignore[arg-type]
        assert jobs["evaluation-note"]["rules"][0]["if"].startswith(f"{text} && ")
        assert jobs["evaluation-note"]["needs"] == ["evaluation"]


@pytest.mark.parametrize("name", ["Install", "Run and compare", "Comment on the pull request"])
def test_the_shell_of_the_action_is_valid(name: str) -> None:
    checked = subprocess.run(
        ["bash", "-n"], input=STEPS[name]["run"], text=True, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


def test_the_action_compares_and_fails(repository: Project) -> None:
    result, outputs = run_of_action(repository)

    assert outcomes(result) == {"passed": 1, "failed": 1}
    assert (result.returncode, outputs) == (1, "status=1\n")
    assert "regressed since baseline" in result.stdout
    paths = STEPS["Upload the report"]["with"]["path"].replace("${{ inputs.working-directory }}", ".")
    assert [path for path in paths.splitlines() if not (repository.folder / path).is_file()] == []
    assert len(paths.splitlines()) == 3


def test_the_action_passes(repository: Project) -> None:
    repository.write("app.py", f"{APP}\n")

    result, outputs = run_of_action(repository)

    assert (result.returncode, outputs) == (0, "status=0\n"), result.stdout


def test_the_action_takes_several_paths_and_arguments(repository: Project) -> None:
    result, outputs = run_of_action(
        repository, tests="suites\nmore suites\n", arguments="--evalstudio-fail-on\nnone\n-k\nfour or six"
    )

    assert outcomes(result) == {"passed": 2, "failed": 2}
    assert outputs == "status=1\n"


def test_the_action_runs_without_a_baseline(repository: Project) -> None:
    result, _ = run_of_action(repository, baseline="")

    assert outcomes(result) == {"passed": 1, "failed": 1}
    assert "regressed" not in result.stdout


@pytest.mark.parametrize("missing", ["suites/none.json", "$(touch injected)", "`touch injected`"])
def test_a_wrong_path_is_the_status_of_pytest(repository: Project, missing: str) -> None:
    result, outputs = run_of_action(repository, tests=missing)

    assert (result.returncode, outputs) == (4, "status=4\n")
    assert not (repository.folder / "injected").exists()


def test_a_missing_baseline_fails_with_the_reason(repository: Project) -> None:
    result, outputs = run_of_action(repository, baseline="gone.jsonl")

    assert outputs != "status=0\n"
    assert result.returncode != 0
    assert "gone.jsonl" in result.stdout + result.stderr


def test_the_action_installs_the_requirements(repository: Project) -> None:
    repository.write("my requirements.txt", "# nothing beside what is here\n")
    step = STEPS["Install"]

    result = run_shell(
        step["run"], repository.folder, action_environment(step, requirements="my requirements.txt")
    )

    # An environment without pip has no installer to run.
    assert result.returncode == 0 or "No module named pip" in result.stderr, result.stderr


def test_the_action_comments_once(github: dict[str, str], tmp_path: Path) -> None:
    script = STEPS["Comment on the pull request"]["run"]
    for verdict in ("# ✗ FAILED", "# ✓ PASSED"):
        write_summary(tmp_path, f"{verdict} – it's `here` $HOME\n")
        result = run_shell(script, tmp_path, github)
        assert result.returncode == 0, result.stderr
    comments = json.loads((tmp_path / "comments.json").read_text())
    assert len(comments) == 3
    assert comments[-1]["body"] == f"{MARKER}\n\n# ✓ PASSED – it's `here` $HOME\n"


def test_the_component_compares_and_fails(repository: Project) -> None:
    result = run_of_component(repository)

    assert outcomes(result) == {"passed": 1, "failed": 1}
    assert result.returncode == 1
    artifacts = interpolated(COMPONENT_TEXT)["evaluation"]["artifacts"]
    names = [*artifacts["paths"], *artifacts["reports"].values()]
    assert [name for name in names if not (repository.folder / name).is_file()] == []


def test_the_component_takes_several_paths_and_arguments(repository: Project) -> None:
    result = run_of_component(repository, tests="suites\nmore suites", arguments="-k\nfour")

    assert outcomes(result) == {"passed": 2, "deselected": 2}
    assert result.returncode == 0


def test_the_component_writes_one_note(gitlab: Service, tmp_path: Path) -> None:
    (script,) = interpolated(COMPONENT_TEXT)["evaluation-note"]["script"]
    for verdict in ("# ✗ FAILED", "# ✓ PASSED"):
        write_summary(tmp_path, f"{verdict}\n")
        result = run_shell(script, tmp_path, gitlab.environment)
        assert result.returncode == 0, result.stderr
        assert TOKEN not in result.stdout + result.stderr
    assert [note["body"] for note in gitlab.notes][1:] == [f"{MARKER}\n\n# ✓ PASSED\n"]
