"""The progress of a chunk, beside the terminal's current line."""

from __future__ import annotations

import json

import pytest

from support.openai_server import Reply, serve
from support.project import Project

TERMINAL = """
class Yes(int):
    __call__ = bool


def pytest_sessionstart(session):
    session.config.pluginmanager.get_plugin("terminalreporter").isatty = Yes(True)
"""
JUDGED = """
evaluators = ["faithfulness"]

[judge]
host = "openai_compatible"
url = "{url}"
llm_model_name = "judge-model"
"""


@pytest.fixture
def terminal(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project whose pytest takes its output for a terminal."""
    monkeypatch.setenv("TERM", "xterm")
    project.write("conftest.py", TERMINAL)
    return project


def judged(project: Project) -> pytest.RunResult:
    """Run a lab of three rows that a judge service judges."""
    with serve() as service:
        service.default = Reply(json.dumps({"claims": [], "verdicts": []}))
        project.write("evalstudio.toml", JUDGED.format(url=service.url))
        project.lab(
            *({"key": f"q{n}", "input": f"{n}?", "actual_output": "4.", "context": ["4."]} for n in range(3))
        )
        return project.run()


def test_arrived_answers_are_counted(terminal: Project) -> None:
    terminal.suite({"key": "a", "prompt": "2+2?", "condition": '"4"'})
    terminal.run().stdout.fnmatch_lines(["*app: 1/1 answers*"])


def test_judgements_are_counted(terminal: Project) -> None:
    judged(terminal).stdout.fnmatch_lines(["*m: 1/3 judgements (faithfulness)*"])


def test_nothing_is_counted_without_a_terminal(project: Project) -> None:
    judged(project).stdout.no_fnmatch_line("*judgements (faithfulness)*")
