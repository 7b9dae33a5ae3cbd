"""The recipes of docs/run/ci.md: their commands run, and write the files that they hand on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
import yaml

from pytest_evalstudio.cli import main
from pytest_evalstudio.cli.starter.ci import ci_job
from support.openai_server import Reply, serve
from support.page_runs import blocks_of
from support.pages import DOCS
from support.project import APP, CONFIG, Project

BLOCKS = blocks_of(DOCS / "run" / "ci.md")
RECIPES = {block.marks["recipe"]: block.body for block in BLOCKS if "recipe" in block.marks}
WORSE = APP.replace("It is 6.", "It is 7, or so.")
"""It has another length: Python takes bytecode of the same second and length for that of this text."""
SERVICE = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "openai_compatible"
llm_model_name = "m"
url = "{url}"
"""
CASES = [
    {"key": "four", "prompt": "2+2?", "condition": '"4"'},
    {"key": "six", "prompt": "3+3?", "condition": '"6"'},
]


@pytest.fixture(params=["python", "service"])
def repository(
    request: pytest.FixtureRequest, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Project]:
    """A repository with a suite and a baseline, whose application became worse.

    The folder of stored answers is kept from run to run, as the recipes keep it.
    """
    project = Project(pytester, with_app=False)
    project.suite(*CASES, name="suites/sums_suite.json")
    monkeypatch.chdir(project.folder)
    with serve() as service:
        if request.param == "python":
            project.write("suites/evalstudio.toml", CONFIG)
            project.write("suites/app.py", APP)
        else:
            project.write("suites/evalstudio.toml", SERVICE.format(url=service.url))
            service.default = lambda question: Reply({"2+2?": "It is 4.", "3+3?": "It is 6."}[question])
        project.run("suites").assert_outcomes(passed=2)
        assert main(["baseline", "save", "-o", "evalstudio-baseline.jsonl"]) == 0
        assert (project.folder / ".evalstudio").is_dir() or request.param == "python"
        if request.param == "python":
            project.write("suites/app.py", WORSE)
        else:
            service.default = lambda question: Reply({"2+2?": "It is 4.", "3+3?": "It is 7."}[question])
        yield project


def run(project: Project, command: str) -> pytest.RunResult:
    """Run the pytest command of a recipe."""
    program, *arguments = shlex.split(command)
    assert (program, arguments[:2]) == ("python", ["-m", "pytest"])
    result = project.run(*arguments[2:])
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*regressed since baseline*", "since run *: 1 of 2 cases regressed*"])
    return result


def pytest_command(commands: list[str]) -> str:
    [command] = [command for command in commands if command.startswith("python -m pytest")]
    return command


def assert_written(project: Project, *names: str) -> None:
    assert [name for name in names if not (project.folder / name).is_file()] == []


@pytest.mark.parametrize("system", ["github", "gitlab", "jenkins"])
def test_init_writes_the_recipe(system: str) -> None:
    assert ci_job(system, tests="suites", secret="OPENAI_API_KEY") == RECIPES[system]


def test_the_recipe_for_github(repository: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository.folder / "step-summary.md"))
    steps = yaml.safe_load(RECIPES["github"])["jobs"]["evaluate"]["steps"]
    result = run(repository, pytest_command([step["run"] for step in steps if "run" in step]))

    result.stdout.fnmatch_lines(["::error file=suites/sums_suite.json,line=*six*"])
    assert (repository.folder / "step-summary.md").read_text().count("FAILED – 1 of 2 tests") == 1
    uses = {step["uses"].partition("@")[0]: step.get("with", {}) for step in steps if "uses" in step}
    assert_written(
        repository,
        uses["github/codeql-action/upload-sarif"]["sarif_file"],
        *uses["actions/upload-artifact"]["path"].split(),
    )


def test_the_recipe_for_gitlab(repository: Project) -> None:
    job = yaml.safe_load(RECIPES["gitlab"])["evaluate"]
    run(repository, pytest_command(job["script"]))
    reports = job["artifacts"]["reports"]
    assert_written(repository, reports["codequality"], reports["junit"], *job["artifacts"]["paths"])


def test_the_recipe_for_jenkins(repository: Project) -> None:
    recipe = RECIPES["jenkins"]
    assert recipe.count("{") == recipe.count("}")
    run(repository, pytest_command(re.findall(r"sh '([^']+)'", recipe)))
    [junit], [artifacts] = re.findall(r"junit '([^']+)'", recipe), re.findall(r"artifacts: '([^']+)'", recipe)
    assert_written(repository, junit, *artifacts.split(", "))
    names = {entry.get("name") for entry in ElementTree.parse(repository.folder / junit).iter("property")}
    assert {"evalstudio.baseline.class", "evalstudio.text_matching.model_passes.difference"} <= names


def test_shards_and_their_merge(repository: Project) -> None:
    [commands] = [block.body.splitlines() for block in BLOCKS if "--evalstudio-shard" in block.body]
    counts = []
    for command in commands[:2]:
        outcomes = repository.run(*shlex.split(command)[3:]).parseoutcomes()
        counts.append(outcomes.get("passed", 0) + outcomes.get("failed", 0))
    assert counts == [1, 1]
    assert main(shlex.split(commands[2])[1:]) == 0
    assert_written(repository, "evalstudio-report/record.jsonl")
