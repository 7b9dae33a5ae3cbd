"""The progress of a chunk: beside the terminal's current line, or as lines of a log."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time

import pytest

from pytest_evalstudio.plugin.terminal.progress import CLEAR_TO_END, RESTORE_CURSOR, SAVE_CURSOR
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


def run_with_judge(project: Project) -> pytest.RunResult:
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
    run_with_judge(terminal).stdout.fnmatch_lines(["*m: 1/3 judgements (faithfulness)*"])


def test_nothing_is_counted_without_a_terminal(project: Project) -> None:
    run_with_judge(project).stdout.no_fnmatch_line("*judgements (faithfulness)*")


SLOW_APP = """
import time


def ask(prompt):
    time.sleep(1.5)
    return "It is 4."
"""


def slow(project: Project, *, count: int = 1) -> None:
    """Write a suite whose application takes a while for each answer."""
    project.write("app.py", SLOW_APP)
    project.suite(*({"key": f"k{n}", "prompt": f"{n}+2?", "condition": '"4"'} for n in range(count)))


SLOW_EVALUATOR = """
import time
from dataclasses import dataclass

from pytest_evalstudio import Metric, Outcome, evaluator


@evaluator("slow", name="Slow", domain="manners", needs=("actual_output",))
@dataclass(frozen=True)
class Slow:
    "A score that takes long."

    metrics = (Metric("calm", primary=True, threshold=0.5),)

    def score(self, cases, tools):
        time.sleep(0.7)
        return [Outcome.score({"calm": 1.0}) for _ in cases]
"""
REGISTRATION = """
from slow_evaluator import Slow


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Slow)
"""


def on_a_terminal(project: Project, *arguments: str, term: str = "xterm") -> tuple[str, float]:
    """Run pytest on a pseudo terminal; return its output, and the seconds until the first sign."""
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": term, "COLUMNS": "100", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=project.folder,
        env=environment,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    parts: list[tuple[float, bytes]] = []
    with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
        while part := os.read(leader, 4096):
            parts.append((time.monotonic(), part))
    os.close(leader)
    process.wait(timeout=60)
    output = b"".join(part for _, part in parts).decode()
    start = next((at for at, part in parts if b"sums_suite.json" in part), 0.0)
    sign = next((at for at, part in parts if b" app: " in part), 0.0)
    return output, sign - start


def test_a_terminal_has_a_sign_before_the_first_answer(project: Project) -> None:
    slow(project, count=3)
    output, seconds = on_a_terminal(project, "sums_suite.json")
    assert f"{SAVE_CURSOR} app: asking 3 questions{CLEAR_TO_END}{RESTORE_CURSOR}" in output
    assert seconds > 0
    assert output.index(" app: asking 3 questions") < output.index("%]")
    assert "3 passed" in output


def test_a_dumb_terminal_is_not_rewritten(project: Project) -> None:
    slow(project)
    output, _ = on_a_terminal(project, "sums_suite.json", term="dumb")
    assert SAVE_CURSOR not in output
    assert "asking" not in output
    assert "1 passed" in output


def test_a_log_has_lines_of_its_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_evalstudio.core.progress.LINE_S", 0.4)
    slow(project)
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "sums_suite.json ",
            "evalstudio: app: asking 1 question",
            "evalstudio: app: asking 1 question, 1 s",
            ". *[[]100%]",
        ]
    )


def test_a_log_of_short_work_has_no_lines(project: Project) -> None:
    slow(project)
    result = project.run()
    result.stdout.no_fnmatch_line("*asking*")
    result.stderr.no_fnmatch_line("*asking*")


def test_scores_are_reported_while_they_take_long(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_evalstudio.core.progress.LINE_S", 0.2)
    project.write("slow_evaluator.py", SLOW_EVALUATOR)
    project.write("conftest.py", REGISTRATION)
    project.write("evalstudio.toml", 'evaluators = ["slow"]\n')
    project.lab({"key": "q", "input": "2?", "actual_output": "4."})
    project.run().stdout.fnmatch_lines(["evalstudio: m: 0/1 scores (slow)*"])


def test_workers_show_nothing(project: Project) -> None:
    pytest.importorskip("xdist")
    slow(project)
    result = project.run("-n", "1", "sums_suite.json")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*asking*")
    result.stderr.no_fnmatch_line("*asking*")


def test_items_are_judged_while_the_model_answers_the_others(project: Project) -> None:
    """The application of the last question waits until the first item is reported."""
    project.write(
        "app.py",
        "import pathlib, time\n\n\n"
        "def ask(prompt):\n"
        "    end = time.monotonic() + 60\n"
        "    while prompt == '3+3?' and not pathlib.Path('reported').exists():\n"
        "        assert time.monotonic() < end, 'no item is reported before all answers have arrived'\n"
        "        time.sleep(0.01)\n"
        "    return '4' if prompt == '2+2?' else '6'\n",
    )
    project.write(
        "conftest.py",
        "import pathlib\n\n\ndef pytest_runtest_logreport(report):\n    pathlib.Path('reported').touch()\n",
    )
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "app"\nhost = "python"\n'
        'target = "app:ask"\nretries = 0\n',
    )
    project.suite(
        {"key": "four", "prompt": "2+2?", "condition": '"4"'},
        {"key": "six", "prompt": "3+3?", "condition": '"6"'},
    )

    project.run("sums_suite.json").assert_outcomes(passed=2)
