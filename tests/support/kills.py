"""Runs that are ended at a random moment, and what must hold afterwards.

A project asks 24 questions of a model that notes each of them. Answers are kept in the cache. After every
round the folder must hold no report that looks like that of the ended run, and the next run must finish
without any manual clean-up.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from support.children import Child, Children

APP = """
import time

from pytest_evalstudio.asking import answers

answers.LEASE_S = 2.0  # the next run waits until the leases of a killed one expire


def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    time.sleep(0.05)
    with open("answered.txt", "a") as file:
        file.write(prompt + "\\n")
    return "4"
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
cache = "resume"
concurrency = 4
"""
QUESTIONS = 24
REPORT = "evalstudio-report"
PAGE = "interpretation.html"


class Scene:
    """A project whose runs are ended.

    Args:
        folder: an empty folder.
        seed: of the moments at which runs are ended.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.children = Children()
        cases = [{"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(QUESTIONS)]
        suite = {"name": "S", "tests": [{"key": "t", "documents": [], "test_cases": cases}]}
        (folder / "app.py").write_text(APP)
        (folder / "evalstudio.toml").write_text(CONFIG)
        (folder / "s_suite.json").write_text(json.dumps(suite))

    def start(self, *arguments: str, prepare: Callable[[], None] | None = None) -> Child:
        """Start pytest in a process group of its own."""
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            *arguments,
        ]
        return self.children.start(command, self.folder, is_group=True, prepare=prepare)

    def question_counts(self, name: str = "asked.txt") -> Counter[str]:
        """Return how often each question was asked, or answered."""
        path = self.folder / name
        return Counter(path.read_text().split()) if path.is_file() else Counter()

    def await_question(self, process: Child) -> None:
        """Wait until a run asks, and a random part of the time that it takes."""
        before = self.question_counts().total()
        process.wait_until(lambda: self.question_counts().total() > before, "the first question")
        time.sleep(self.random.uniform(0.0, 0.5))

    def check_ended(self) -> None:
        """Check what an ended run has left: a valid record, and a page only if it is that record's."""
        report = self.folder / REPORT
        record = report / "record.jsonl"
        if not record.is_file():
            assert not (report / PAGE).exists(), "a page without a record"
            return
        lines = record.read_text().split("\n")
        header, *_ = [json.loads(line) for line in lines[:-1]]
        if (report / PAGE).exists():
            assert header["run_id"] in (report / PAGE).read_text(), "the page of another run"
            assert header["finished"], "a page beside an unfinished record"

    def check_next_run(self) -> None:
        """Check that a run works without clean-up, and asks no question that was answered and stored."""
        result = self.start().finish()
        assert result.returncode == 0, result.out
        header, *items = [
            json.loads(line) for line in (self.folder / REPORT / "record.jsonl").read_text().splitlines()
        ]
        assert (len(items), header["interrupted"]) == (QUESTIONS, False)
        assert {item["verdict"] for item in items} == {"passed"}
        assert header["run_id"] in (self.folder / REPORT / PAGE).read_text()
        remnants = [
            path.name
            for path in (self.folder / REPORT).iterdir()
            if path.name.endswith(".tmp") or path.name == "previous-report"
        ]
        assert not remnants, remnants

    def forget(self) -> None:
        """Forget stored answers and counts; the report stays."""
        for path in (self.folder / ".evalstudio").glob("answers-*"):
            path.unlink()
        for name in ("asked.txt", "answered.txt"):
            (self.folder / name).unlink(missing_ok=True)


def end_by(signal_number: signal.Signals, *arguments: str) -> Callable[[Scene], None]:
    """Return a round that sends a signal to the process of a run."""

    def play(scene: Scene) -> None:
        process = scene.start(*arguments)
        scene.await_question(process)
        process.send_signal(signal_number)
        process.finish()
        process.end()  # a killed run leaves its workers

    return play


def kill_a_worker(scene: Scene) -> None:
    """Kill a worker of a run with two."""
    process = scene.start("-n", "2")
    scene.await_question(process)
    workers = children_of(process.pid)
    if workers:
        os.kill(scene.random.choice(workers), signal.SIGKILL)
    if process.finish().returncode in (0, 1):
        lines = (scene.folder / REPORT / "record.jsonl").read_text().splitlines()
        assert len(lines) == 1 + QUESTIONS, "an item is missing"


def fill_the_disk(scene: Scene) -> None:
    """Limit the size of each file that a run may write."""
    most = scene.random.randrange(2_000, 60_000)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    result = scene.start(prepare=limit).finish()
    assert result.returncode != 0, result.out


def run_two_at_once(scene: Scene) -> None:
    """Start two runs in one folder at the same time: one works, the other is refused."""
    processes = [scene.start() for _ in range(2)]
    results = [process.finish() for process in processes]
    codes = sorted(each.returncode for each in results)
    assert codes in ([0, 4], [0, 0]), results  # [0, 0]: the second began when the first had ended


def run_two_with_one_cache(scene: Scene) -> None:
    """Start two runs that share the answers cache: both work."""
    processes = [scene.start("--evalstudio-output", name) for name in (REPORT, "other-report")]
    for process in processes:
        result = process.finish()
        assert result.returncode == 0, result.out


ROUNDS: dict[str, Callable[[Scene], None]] = {
    "kill": end_by(signal.SIGKILL),
    "interrupt": end_by(signal.SIGINT),
    "terminate": end_by(signal.SIGTERM),
    "kill the controller of two workers": end_by(signal.SIGKILL, "-n", "2"),
    "kill a worker": kill_a_worker,
    "full disk": fill_the_disk,
    "two runs at once": run_two_at_once,
    "two runs with one cache": run_two_with_one_cache,
}
CAN_REPEAT = {"full disk", "kill the controller of two workers"}
"""Rounds in which two processes may ask the same question, or answers cannot be stored."""
ENDS = {"kill a worker", "two runs at once", "two runs with one cache"}
"""Rounds whose run comes to its end, so that the next run asks every question anew."""


def play(scene: Scene, name: str) -> None:
    """Play one round, and check what it leaves.

    Raises:
        AssertionError: if something is lost, mixed or asked again.
    """
    with closing(scene.children):
        scene.forget()
        ROUNDS[name](scene)
        scene.check_ended()
        answers, questions = scene.question_counts("answered.txt"), scene.question_counts()
        scene.check_next_run()
        repeats = sum((scene.question_counts() - questions)[question] for question in answers)
        if name in ENDS:
            assert repeats >= QUESTIONS - 4, (
                f"{QUESTIONS - repeats} questions of a run that ended were not asked again"
            )
        elif name not in CAN_REPEAT:
            # 4 may have been on their way to the cache
            assert repeats <= 4, f"{repeats} answered questions were asked again"
            assert max(scene.question_counts().values()) <= 2


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
