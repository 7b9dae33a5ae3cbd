"""Items that something else ends: what arrived before is not lost and not asked for again."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.project import CONFIG, Project

SLOW = """
import threading
import time

LOCK = threading.Lock()


def ask(prompt):
    with LOCK, open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    time.sleep(0.4)
    return "4"
"""
INTERRUPTING = """
import _thread
import threading
import time

LOCK = threading.Lock()


def ask(prompt):
    with LOCK, open("asked.txt", "a+") as file:
        file.write(prompt + "\\n")
        file.seek(0)
        if len(file.readlines()) == 4:
            _thread.interrupt_main()
    time.sleep(60)  # longer than the run, whatever else the machine does
    return "4"
"""
CONNECTED = """
evaluators = ["text_matching"]

[connection.service]
host = "python"
target = "app:ask"
concurrency = 4
""" + "".join(f'[[model]]\nname = "app{n}"\nconnection = "service"\n' for n in range(8))
INTERRUPTED_ITEM = """
import time
from pathlib import Path


def pytest_evalstudio_report_sections(analysis):
    time.sleep(3)


def pytest_runtest_logreport(report):
    if report.when == "call":
        asked = Path("asked.txt").read_text()
        Path("asked_before.txt").write_text(asked)
        raise KeyboardInterrupt
"""
INTERRUPTED_SECTION = """
def pytest_evalstudio_report_sections(analysis):
    raise KeyboardInterrupt
"""
QUESTIONS = 40


def questions_of(project: Project, name: str = "asked.txt") -> list[str]:
    path: Path = project.folder / name
    return path.read_text().split() if path.is_file() else []


def slow_suite(project: Project) -> None:
    project.write("app.py", SLOW)
    project.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(QUESTIONS)))


def test_a_timeout_shorter_than_the_chunk_interrupts_nothing_and_each_question_is_asked_once(
    project: Project,
) -> None:
    pytest.importorskip("pytest_timeout")
    slow_suite(project)

    project.run_process("--timeout", "3").assert_outcomes(passed=QUESTIONS)

    assert len(questions_of(project)) == QUESTIONS


def test_a_repeated_question_without_a_cache_is_still_asked_twice(project: Project) -> None:
    project.write("app.py", SLOW)
    project.suite(*({"key": f"k{n}", "prompt": "q", "condition": '"4"'} for n in range(2)))

    project.run().assert_outcomes(passed=2)

    assert questions_of(project) == ["q", "q"]


@pytest.mark.parametrize("config", [f"{CONFIG}concurrency = 4\n", CONNECTED], ids=["one", "connection"])
def test_an_interrupt_starts_no_further_question(project: Project, config: str) -> None:
    project.write("app.py", INTERRUPTING)
    project.write("evalstudio.toml", config)
    cases = ({"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(1_000))
    project.suite(*cases)

    project.run_process()

    assert len(questions_of(project)) == 4


def test_after_an_interrupt_between_answers_no_question_starts_and_those_on_their_way_are_kept(
    project: Project,
) -> None:
    project.write("app.py", SLOW)
    project.write("evalstudio.toml", f'{CONFIG}concurrency = 4\ncache = "resume"\n')
    project.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(QUESTIONS)))
    project.write("conftest.py", INTERRUPTED_ITEM)

    project.run_process()

    before, after = questions_of(project, "asked_before.txt"), questions_of(project)
    assert len(after) <= len(before) + 4
    (project.folder / "conftest.py").unlink()
    project.run_process().assert_outcomes(passed=QUESTIONS)
    assert len(questions_of(project)) <= QUESTIONS + 4


def test_an_interrupt_while_the_report_is_built_keeps_the_record_and_says_how_to_go_on(
    project: Project,
) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})
    project.write("conftest.py", INTERRUPTED_SECTION)

    result = project.run_process()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "the report is not complete: interrupted. The record is complete:"
            " evalstudio report *record.jsonl -o DIR makes the report"
        ]
    )
    result.stderr.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*Traceback*")
    assert not [path.name for path in (project.folder / "evalstudio-report").glob("*.tmp")]
    record = "evalstudio-report/record.jsonl"
    (project.folder / "conftest.py").unlink()
    assert project.run_command("report", record, "-o", "page").ret == 0
    assert (project.folder / "page" / "interpretation.html").is_file()
    project.run().assert_outcomes(passed=1)
