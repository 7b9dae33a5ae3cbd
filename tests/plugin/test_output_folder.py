"""The output folder: one run at a time, no foreign file touched, no report that looks whole and is not."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from support.children import Child, Children
from support.project import Project
from support.workers import WORKERS

WAITING = """
import os
import time


def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    while prompt == "wait" and os.path.exists("hold"):
        time.sleep(0.02)
    return "4"
"""
FOUR = {"key": "four", "prompt": "2+2?", "condition": '"4"'}
REPORT = ("interpretation.html", "interpretation.json", "summary.md", "evalstudio-report.zip")

Start = Callable[..., Child]


@pytest.fixture
def start(project: Project, children: Children) -> Start:
    """Start pytest in a process of its own, whose model waits until the file `hold` is deleted."""

    def run(*arguments: str) -> Child:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        return children.start(command, project.folder)

    return run


def wait_for_questions(project: Project, process: Child, count: int = 1) -> None:
    """Wait until the models were asked `count` questions, in any order: they are asked concurrently."""
    question_log = project.folder / "asked.txt"
    process.wait_until(
        lambda: question_log.is_file() and question_log.read_text().count("\n") >= count, f"{count} questions"
    )


def waiting_suite(project: Project) -> None:
    project.write("app.py", WAITING)
    project.suite(FOUR, {"key": "wait", "prompt": "wait", "condition": '"4"'})
    project.write("hold", "")


@pytest.mark.slow
@pytest.mark.parametrize("more", WORKERS)
def test_a_second_run_in_the_same_folder_is_a_usage_error(
    project: Project, start: Start, more: tuple[str, ...]
) -> None:
    waiting_suite(project)
    first = start()
    wait_for_questions(project, first, 2)
    question_log = project.folder / "asked.txt"
    before = question_log.read_text()

    second = project.run(*more)

    assert second.ret == pytest.ExitCode.USAGE_ERROR
    second.stderr.fnmatch_lines(["*the folder is in use by another run*--evalstudio-output*"])
    assert question_log.read_text() == before, "no model was asked"
    (project.folder / "hold").unlink()
    assert first.finish().returncode == 0
    assert len(project.record()[1]) == 2
    assert (project.folder / "evalstudio-report" / "interpretation.html").is_file()


CHECKING = """
def test_answer(eval_model, eval_text_matching):
    eval_text_matching.check(eval_model("app").ask("wait", condition='"4"'))
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", WORKERS)
def test_tests_written_in_python_are_kept_out_of_a_folder_in_use_as_well(
    project: Project, start: Start, more: tuple[str, ...]
) -> None:
    project.write("app.py", WAITING)
    project.write("hold", "")
    project.write("test_answers.py", CHECKING)
    first = start()
    wait_for_questions(project, first)

    second = project.run(*more)

    assert second.ret == pytest.ExitCode.USAGE_ERROR
    assert (project.folder / "asked.txt").read_text() == "wait\n"
    (project.folder / "hold").unlink()
    assert first.finish().returncode == 0


def test_listing_the_tests_neither_locks_nor_makes_the_folder(project: Project) -> None:
    project.suite(FOUR)

    project.run("--collect-only", "-q")

    assert not (project.folder / "evalstudio-report").exists()


def test_a_killed_run_leaves_the_earlier_report_aside_and_no_lock(project: Project, start: Start) -> None:
    waiting_suite(project)
    (project.folder / "hold").unlink()
    project.run().assert_outcomes(passed=2)
    report = project.folder / "evalstudio-report"
    earlier = project.record()[0]["run_id"]
    project.write("hold", "")
    (project.folder / "asked.txt").unlink()

    killed = start()
    wait_for_questions(project, killed)
    killed.send_signal(signal.SIGKILL)
    killed.finish()

    assert not any((report / name).exists() for name in REPORT)
    assert (
        json.loads((report / "previous-report" / "record.jsonl").read_text().splitlines()[0])["run_id"]
        == earlier
    )
    assert earlier in (report / "previous-report" / "interpretation.html").read_text()
    (project.folder / "hold").unlink()
    project.run().assert_outcomes(passed=2)
    assert project.record()[0]["run_id"] != earlier
    assert all((report / name).is_file() for name in REPORT)
    assert not (report / "previous-report").exists()


def test_a_usage_error_leaves_the_earlier_report_in_place(project: Project) -> None:
    project.suite(FOUR)
    project.run().assert_outcomes(passed=1)
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_bytes()

    assert project.run("--evalstudio-model", "nobody").ret == pytest.ExitCode.USAGE_ERROR

    assert (project.folder / "evalstudio-report" / "interpretation.html").read_bytes() == page
    assert project.record()[0]["run_id"].encode() in page


@pytest.mark.parametrize("name", ["summary.md", "record.jsonl", "interpretation.html", "previous-report"])
def test_a_file_that_no_run_wrote_is_never_replaced(project: Project, name: str) -> None:
    project.write("app.py", WAITING)
    project.suite(FOUR)
    mine = project.write(name, "mine")

    result = project.run("--evalstudio-output", ".")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{name}: no earlier run wrote it*--evalstudio-output*"])
    assert mine.read_text() == "mine"
    assert not (project.folder / "asked.txt").exists()


@pytest.mark.parametrize("remnant", ["previous-report", "previous-report/explainer_x"])
def test_an_empty_folder_that_a_killed_run_left_does_not_stop_the_next_run(
    project: Project, remnant: str
) -> None:
    project.suite(FOUR)
    report = project.folder / "evalstudio-report"
    project.run().assert_outcomes(passed=1)
    (report / remnant).mkdir(parents=True)

    project.run().assert_outcomes(passed=1)

    assert all((report / name).is_file() for name in REPORT)
    assert (report / "previous-report").exists() == ("/" in remnant)


def test_a_foreign_file_in_the_folder_of_the_earlier_report_stays(project: Project) -> None:
    project.suite(FOUR)
    mine = project.write("evalstudio-report/previous-report/notes.txt", "mine")

    assert project.run().ret == pytest.ExitCode.USAGE_ERROR

    assert mine.read_text() == "mine"


def test_files_of_others_stay_beside_a_report(project: Project) -> None:
    project.suite(FOUR)
    report = project.folder / "evalstudio-report"
    project.run().assert_outcomes(passed=1)
    (explainer,) = report.glob("explainer_*")
    mine = [report / "notes.txt", explainer / "notes.txt"]
    for path in mine:
        path.write_text("mine")

    project.run().assert_outcomes(passed=1)

    assert [path.read_text() for path in mine] == ["mine", "mine"]
    assert not (explainer / "result_descriptor.json").exists(), "the earlier run's own files go"


@pytest.mark.parametrize(
    "link", ["evalstudio-report", "evalstudio-report/summary.md", "evalstudio-report/record.jsonl"]
)
def test_nothing_is_written_through_a_symbolic_link(project: Project, link: str) -> None:
    project.suite(FOUR)
    victim = project.folder / "victim"
    is_folder = "/" not in link
    victim.mkdir() if is_folder else victim.write_text("mine")
    (project.folder / link).parent.mkdir(exist_ok=True)
    (project.folder / link).symlink_to(victim)

    result = project.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{link}: is a symbolic link*"])
    assert list(victim.iterdir()) == [] if is_folder else victim.read_text() == "mine"


def test_a_manifest_that_somebody_else_wrote_deletes_nothing(project: Project) -> None:
    project.suite(FOUR)
    victims = [project.write("victim.txt", "mine"), project.write("evalstudio-report/notes.txt", "mine")]
    names = ["../victim.txt", "notes.txt", str(victims[0]), "explainer_x/../../victim.txt"]
    project.write(
        "evalstudio-report/.evalstudio-manifest.json",
        json.dumps({"producer": "pytest-evalstudio", "schema_version": 1, "files": names}),
    )

    project.run().assert_outcomes(passed=1)

    assert [path.read_text() for path in victims] == ["mine", "mine"]


def test_an_unpacked_report_without_its_manifest_is_taken_over(project: Project) -> None:
    project.suite(FOUR)
    project.run().assert_outcomes(passed=1)
    report = project.folder / "evalstudio-report"
    (report / ".evalstudio-manifest.json").unlink()
    (old,) = report.glob("explainer_*")

    project.run().assert_outcomes(passed=1)

    assert not old.exists()
    assert len(list(report.glob("explainer_*"))) == 1


def test_a_report_from_the_shell_refuses_foreign_files_and_the_folder_of_another_run(
    project: Project,
) -> None:
    project.suite(FOUR)
    project.run("--evalstudio-output", "one")
    project.run("--evalstudio-output", "two")
    mine = project.write("mine/summary.md", "mine")

    def report(folder: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest_evalstudio.cli", "report", "one", "-o", folder]
        return subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=False)

    foreign, other, repeat, new = report("mine"), report("two"), report("one"), report("new")

    assert (foreign.returncode, mine.read_text()) == (2, "mine")
    assert "no earlier run wrote it" in foreign.stderr
    assert other.returncode == 2
    assert "contains the record of another run" in other.stderr
    assert (repeat.returncode, new.returncode) == (0, 0), repeat.stderr + new.stderr


@pytest.mark.slow
def test_workers_leave_nothing_in_the_temporary_folder(
    project: Project, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting_suite(project)
    temporary = project.folder / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    run = start("-n", "2")
    wait_for_questions(project, run)

    run.send_signal(signal.SIGKILL)
    (project.folder / "hold").unlink()
    run.finish()

    assert list(temporary.iterdir()) == []
