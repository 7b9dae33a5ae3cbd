"""The command line of the page on watching asks only the cases that changed."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from support.page_runs import blocks_of
from support.pages import DOCS
from support.project import Project

PAGE = DOCS / "run" / "repeats.md"
RECIPE = {block.language: block.body for block in blocks_of(PAGE) if block.marks.get("recipe") == "watch"}
APP = """
def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    return "It is 4."
"""


def command_words() -> list[str]:
    """Return the words of the command that watches."""
    return shlex.split(RECIPE["sh"].replace("\\\n", " "))


def arguments_of_pytest() -> list[str]:
    """Return what pytest-watcher passes on; its own arguments are the folder and its options."""
    words = command_words()
    assert words[:3] == ["ptw", ".", "--now"]
    rest = iter(words[3:])
    passed_on = []
    for word in rest:
        if word in ("--patterns", "--ignore-patterns"):
            next(rest)
        else:
            passed_on.append(word)
    return passed_on


def suite(project: Project, *prompts: str, condition: str = '"4"') -> Path:
    cases = [{"key": prompt, "prompt": prompt, "condition": condition} for prompt in prompts]
    return project.suite(*cases, name="suites/sums_suite.json")


@pytest.fixture
def watched(pytester: pytest.Pytester) -> Project:
    """Return a project with the model of the page, after the first run of its command line."""
    project = Project(pytester, with_app=False)
    project.write("evalstudio.toml", f'evaluators = ["text_matching"]\n\n{RECIPE["toml"]}')
    project.write("app.py", APP)
    suite(project, "0+4?", "1+3?", "2+2?", "3+1?")
    project.run(*arguments_of_pytest()).assert_outcomes(passed=4)
    assert len(new_questions(project)) == 4
    return project


def new_questions(project: Project) -> list[str]:
    """Return the questions since the last call."""
    path = project.folder / "asked.txt"
    questions = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return questions


def test_only_a_changed_case_is_asked(watched: Project) -> None:
    suite(watched, "0+4?", "1+3?", "2+2?", "6-2?")
    result = watched.run(*arguments_of_pytest())
    result.assert_outcomes(passed=4)
    assert new_questions(watched) == ["6-2?"]
    result.stdout.fnmatch_lines(
        ["stored: 3 of 4 answers are stored answers of an earlier run (*); the model was not asked again."]
    )


def test_a_changed_expectation_asks_nothing(watched: Project) -> None:
    suite(watched, "0+4?", "1+3?", "2+2?", "3+1?", condition='"5"')
    watched.run(*arguments_of_pytest()).assert_outcomes(failed=4)
    assert new_questions(watched) == []


def test_refresh_asks_everything(watched: Project) -> None:
    arguments = [argument for argument in arguments_of_pytest() if argument != "--evalstudio-replay"]
    watched.run(*arguments, "--evalstudio-refresh").assert_outcomes(passed=4)
    assert len(new_questions(watched)) == 4


def test_a_run_after_each_change_writes_nothing_that_is_watched(watched: Project) -> None:
    words = command_words()
    ignored = words[words.index("--ignore-patterns") + 1]
    new_names = {path.name for path in watched.folder.iterdir()} - {"suites", "app.py", "evalstudio.toml"}
    folders = {name for name in new_names if (watched.folder / name).is_dir()} - {"__pycache__"}
    assert folders == {name.strip("*/") for name in ignored.split(",")}
