"""One error budget for the runs that are compared with one baseline, kept in the history."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.project import PreparedProjects, Project

CONFIGURATION = """
evaluators = ["text_matching"]

[comparison]
budget = "branch"
confirm = 0
fail_on = ["mean"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
"""
APPLICATION = "def ask(prompt):\n    return 'no' if int(prompt) < {broken} else 'yes'\n"
RUN = ("--evalstudio-baseline", "base.jsonl", "-o", "evalstudio_history=history")


def write_and_save(project: Project) -> None:
    project.write("evalstudio.toml", CONFIGURATION)
    project.write("app.py", APPLICATION.format(broken=0))
    project.suite(*({"key": f"c{i}", "prompt": str(i), "condition": '"yes"'} for i in range(60)))
    assert project.run().ret == 0
    save(project)


@pytest.fixture
def project(pytester: pytest.Pytester, project_store: PreparedProjects) -> Project:
    """Return a project of 60 cases with a baseline in which all pass."""
    return project_store.fill(Project(pytester, with_app=False), write_and_save)


def save(project: Project) -> None:
    assert project.run_command("baseline", "save", "-o", "base.jsonl").ret == 0


def look_line(result: pytest.RunResult) -> str:
    (line,) = [line.strip() for line in result.outlines if "at this baseline" in line]
    return line


def run_broken(project: Project, count: int) -> pytest.RunResult:
    project.write("app.py", APPLICATION.format(broken=count))
    return project.run(*RUN)


def test_each_run_is_a_look_and_says_how_much_of_the_budget_is_spent(project: Project) -> None:
    lines = [look_line(project.run(*RUN)) for _ in range(3)]
    assert [re.sub(r", evidence.*", "", line) for line in lines] == [
        "look 1 at this baseline: 50 % of the error budget is spent",
        "look 2 at this baseline: 67 % of the error budget is spent",
        "look 3 at this baseline: 75 % of the error budget is spent",
    ]
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "look 3 at this baseline" in page


def test_a_drop_that_one_run_calls_worse_is_not_enough_for_the_budget(project: Project) -> None:
    project.write("evalstudio.toml", CONFIGURATION.replace('"branch"', '"run"'))
    assert "the drop is more than chance" in run_broken(project, 5).stdout.str()
    project.write("evalstudio.toml", CONFIGURATION)
    result = run_broken(project, 5)
    assert "too few to tell whether other questions got worse" in result.stdout.str()


def test_a_large_drop_is_worse_at_once_and_after_many_looks(project: Project) -> None:
    first = run_broken(project, 40)
    assert "the drop is more than chance" in first.stdout.str()
    save_unbroken(project)
    for _ in range(4):
        assert run_broken(project, 0).ret == 0
    assert "the drop is more than chance" in run_broken(project, 40).stdout.str()


def save_unbroken(project: Project) -> None:
    (project.folder / "base.jsonl").unlink()
    project.write("app.py", APPLICATION.format(broken=0))
    assert project.run().ret == 0
    save(project)


def test_a_new_baseline_begins_a_new_budget(project: Project) -> None:
    project.run(*RUN)
    assert look_line(project.run(*RUN)).startswith("look 2 ")
    save_unbroken(project)
    assert look_line(project.run(*RUN)).startswith("look 1 ")


def test_a_violation_of_a_hard_rule_fails_the_run_whatever_the_budget_says(project: Project) -> None:
    project.write("evalstudio.toml", CONFIGURATION.replace('["mean"]', '["case"]'))
    cases = ({"key": f"c{i}", "prompt": str(i), "condition": 'NOT "no"'} for i in range(60))
    project.suite(*cases)
    save_unbroken(project)
    result = run_broken(project, 1)
    assert result.ret == 1
    assert "1 of 60 cases regressed" in result.stdout.str()
    assert look_line(result).startswith("look 1 ")


def test_looks_of_jobs_that_run_at_the_same_time_are_all_kept(project: Project) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *RUN, "--evalstudio-output"]
    folders = [project.folder / name for name in ("one", "two", "three")]
    jobs = [
        subprocess.Popen([*command, str(folder)], cwd=project.folder, stdout=subprocess.DEVNULL)
        for folder in folders
    ]
    assert [job.wait(timeout=120) for job in jobs] == [0, 0, 0]
    assert len(list((project.folder / "history").glob("*.jsonl"))) == 3
    assert look_line(project.run(*RUN)).startswith("look 4 ")


def test_a_budget_without_a_history_is_refused(project: Project) -> None:
    result = project.run("--evalstudio-baseline", "base.jsonl")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stdout.str() + result.stderr.str()
    assert 'comparison.budget = "branch" keeps its looks in the history' in text


def test_runs_without_this_baseline_are_no_looks(project: Project) -> None:
    project.run("-o", "evalstudio_history=history")
    assert Path(project.folder / "history").is_dir()
    assert look_line(project.run(*RUN)).startswith("look 1 ")
