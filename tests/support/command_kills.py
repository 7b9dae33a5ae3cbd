"""Commands that write files, killed at random moments: what they leave, and what the next run makes of it.

A command is killed several times in one folder, until one process ends before its kill. After each kill,
every file in the folder must be whole or a draft of a known name, and an output file that was there must
still be there; no stored answer may be asked for again. Whenever a process ends, the output must have the
units of an undisturbed run, no more and no less.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from support.children import Child, Children, Finished
from support.kills import APP, CONFIG, QUESTIONS
from support.written_files import fault_of, units_of

CONCURRENCY = 4
"""Answers that may be on their way to the cache when a command is killed."""
MAX_STARTS = 3
"""Processes per kill, at most: those that end before their kill do not count."""
POLL_S = 0.001
JUDGE = """
import re

def judge(prompt):
    ask(re.search(r"Question \\d+", prompt)[0].replace(" ", ""))
    return '{"reason": "r", "score_first": 7, "score_second": 6, "choice": "first"}'
"""
TABLE_ROWS, BATCH_ROWS = 600, 100
COUNTED = (".jsonl", ".csv", ".parquet")
DRAFT_NAMES = (".tmp", ".part", ".new", ".lock", "-wal", "-shm", "-journal")
FACTS = "Account {n} costs {n} EUR per month. Loan {n} runs for {n} months. Branch {n} has {n} counters.\n\n"
EVALSTUDIO, PYTEST = ("-m", "pytest_evalstudio.cli"), ("-m", "pytest", "-q", "-p", "no:cacheprovider")


@dataclass(frozen=True, slots=True, kw_only=True)
class KilledCommand:
    """A command that writes files.

    Attributes:
        name: for messages.
        words: of the command line, after the interpreter.
        output: file or folder that it writes.
        asks: whether no answer may be asked for again.
    """

    name: str
    words: tuple[str, ...]
    output: str
    asks: bool = False


ASKING = ("resolve", "arena play")
SCORE = ("score", "t.jsonl", "-e", "pii_leakage", "--workers", "1", "--batch-rows", str(BATCH_ROWS))
IMPORT = ("import", "table", "t.jsonl", "--map", "input=input")
PERTURB = ("perturb", "s_suite.json", "-p", "copy")
COMMANDS = (
    KilledCommand(name="pytest", words=PYTEST, output="evalstudio-report", asks=True),
    KilledCommand(
        name="pytest workflow",
        words=(*PYTEST, "-o", "addopts=", "w_workflow.json"),
        output="w_workflow_artifacts",
    ),
    KilledCommand(name="pytest -n 2", words=(*PYTEST, "-n", "2"), output="evalstudio-report"),
    *(
        KilledCommand(name=name, words=(*EVALSTUDIO, *words), output=output, asks=name in ASKING)
        for name, output, words in (
            ("resolve", "out_lab.json", ("resolve", "s_suite.json", "-o", "out_lab.json")),
            ("arena play", "games.csv", ("arena", "play", "a_answers.json", "-o", "games.csv")),
            (
                "score",
                "out.parquet",
                (*SCORE, "-o", "out.parquet", "--resume"),
            ),
            ("generate", "out_suite.json", ("generate", "fees.md", "-o", "out_suite.json", "--count", "20")),
            ("merge", "merged", ("merge", "shard", "-o", "merged")),
            ("report", "rebuilt", ("report", "shard", "-o", "rebuilt")),
            ("mrm report", "w_workflow_artifacts", ("mrm", "report", "w_workflow.json")),
            ("baseline save", "b.jsonl", ("baseline", "save", "shard", "-o", "b.jsonl")),
            (
                "import",
                "imported.json",
                (*IMPORT, "-o", "imported.json"),
            ),
            (
                "perturb",
                "perturbed.json",
                (*PERTURB, "-o", "perturbed.json"),
            ),
            ("history", "plots", ("history", "shard", "--plots", "plots")),
        )
    ),
)


@dataclass(slots=True)
class KillFigures:
    """Observations of rounds of kills.

    Attributes:
        kills: processes that were killed while they ran.
        completed: processes that ended before their kill.
        losses: units of the output, or stored answers, that were lost.
        corrupt: files that were neither whole nor drafts, and units that an output has twice.
        failed: processes after a kill that ended with an error.
        faults: a sentence for each.
    """

    kills: int = 0
    completed: int = 0
    losses: int = 0
    corrupt: int = 0
    failed: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: KillFigures) -> None:
        """Add the figures of other rounds."""
        self.kills += other.kills
        self.completed += other.completed
        self.losses += other.losses
        self.corrupt += other.corrupt
        self.failed += other.failed
        self.faults += other.faults

    def __str__(self) -> str:
        counts = f"{self.kills} kills, {self.completed} ended before"
        return f"{counts}, {self.losses} lost, {self.corrupt} corrupt, {self.failed} failed"


class KilledProject:
    """A folder in which one command is killed and run.

    Args:
        folder: an empty folder.
        shard: report of a run, for the commands that read one.
    """

    def __init__(self, folder: Path, shard: Path | None) -> None:
        self.folder = folder
        self.children = Children()
        cases = [{"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(QUESTIONS)]
        answers = [
            {
                "key": f"p{n}",
                "input": f"Question {n}?",
                "actual_output": "yes" * size,
                "model_key": f"m{size}",
            }
            for n in range(QUESTIONS)
            for size in (1, 2)
        ]
        models = [{"key": f"m{size}", "name": f"m{size}"} for size in (1, 2)]
        rows = [
            {"input": f"q{n}", "actual_output": f"Call 030 12345{n:04}.", "model_key": "m"}
            for n in range(TABLE_ROWS)
        ]
        steps = {"topic_modeling": {}, "test_generation": {"count": 12}, "automated_evaluation": {}}
        workflow = {"name": "W", "documents": ["fees.md"], "steps": steps}
        texts = {
            "app.py": APP.replace("LEASE_S = 2.0", "LEASE_S = 0.5") + JUDGE,
            "evalstudio.toml": CONFIG.replace('cache = "resume"', "cache = true")
            + '\n[judge]\nhost = "python"\ntarget = "app:judge"\nconcurrency = 4\ncache = "always"\n',
            "s_suite.json": json.dumps(
                {"name": "S", "tests": [{"key": "t", "documents": [], "test_cases": cases}]}
            ),
            "a_answers.json": json.dumps({"name": "A", "dataset": {"inputs": answers}, "models": models}),
            "t.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
            "fees.md": "# Fees\n\n" + "".join(FACTS.format(n=n) for n in range(3, 15)),
            "w_workflow.json": json.dumps({"evalstudio_workflow": workflow}),
            "pytest.ini": "[pytest]\naddopts = s_suite.json\n",
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        if shard is not None:
            (folder / "shard").mkdir()
            (folder / "shard" / "record.jsonl").write_bytes((shard / "record.jsonl").read_bytes())

    def start(self, command: KilledCommand) -> Child:
        return self.children.start([sys.executable, *command.words], self.folder, is_group=True)

    def run_whole(self, command: KilledCommand) -> tuple[float, int]:
        """Run a command to its end, and return its seconds and how often the files changed."""
        start = time.monotonic()
        process = self.start(command)
        changes = self.await_changes(process, None)
        result = process.finish()
        assert result.returncode == 0, (
            f"exit status {result.returncode}: {result.out[-800:]}{result.err[-800:]}"
        )
        return time.monotonic() - start, changes

    def await_changes(self, process: Child, number: int | None) -> int:
        """Wait until the files have changed a number of times, or the process ends; return the changes."""
        changes, before = 0, self._snapshot()
        while not process.has_ended and changes != number:
            time.sleep(POLL_S)
            after = self._snapshot()
            changes += after != before
            before = after
        return changes

    def _snapshot(self) -> set[tuple[str, int, int]]:
        results = set()
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with suppress(FileNotFoundError):
                    state = os.stat(f"{folder}/{name}")
                    results.add((f"{folder}/{name}", state.st_size, state.st_mtime_ns))
        return results

    def answer_counts(self, name: str = "answered.txt") -> Counter[str]:
        path = self.folder / name
        return Counter(path.read_text().split("\n")[:-1]) if path.is_file() else Counter()

    def damaged(self) -> list[str]:
        """Return the files that are neither whole nor drafts."""
        files = [path for path in self.folder.rglob("*") if _is_result(path, self.folder)]
        return [f"{path.relative_to(self.folder)}: {fault}" for path in files if (fault := fault_of(path))]

    def units(self, command: KilledCommand) -> int:
        """Return the number of rows, cases, lines or files of the output."""
        path = self.folder / command.output
        if path.is_file():
            return units_of(path)
        files = [file for file in path.rglob("*") if _is_result(file, self.folder)]
        return len(files) + sum(units_of(file) for file in files if file.suffix in COUNTED)


def _is_result(path: Path, folder: Path) -> bool:
    """Return whether a path is a file and no draft."""
    parts = path.relative_to(folder).parts
    return path.is_file() and not any(part.startswith(".") or part.endswith(DRAFT_NAMES) for part in parts)


def kill_rounds(
    command: KilledCommand, folder: Path, shard: Path | None, kills: int, seed: int
) -> KillFigures:
    """Kill a command at random moments, let it end in between, and compare with an undisturbed run."""
    folder.mkdir()
    rounds = Rounds(command, folder, shard, seed)
    with closing(rounds):
        rounds.measure()
        for _ in range(MAX_STARTS * kills):
            if rounds.figures.kills == kills:
                break
            rounds.kill()
        rounds.end()
    return rounds.figures


class Rounds:
    """Kills of one command, in one folder until it has come to its end, then in the next one.

    Args:
        command: that is killed.
        folder: an empty folder.
        shard: report of a run, for the commands that read one.
        seed: of the moments.
    """

    def __init__(self, command: KilledCommand, folder: Path, shard: Path | None, seed: int) -> None:
        self.command = command
        self.figures = KillFigures()
        self.random = random.Random(seed)
        self._folder = folder
        self._shard = shard
        self._projects = 0
        self._project = self._new_project()
        self._seconds, self._changes, self._units = 0.0, 0, 0
        self._replaces = False

    def measure(self) -> None:
        """Run the command undisturbed, twice: does it replace its output?"""
        self._seconds, self._changes = self._project.run_whole(self.command)
        self._units = self._project.units(self.command)
        second_run = self._project.start(self.command).finish()
        self._replaces = second_run.returncode == 0
        assert self._units == self._project.units(self.command), self.command.name
        self._project = self._new_project()

    def kill(self) -> None:
        """Start the command, and kill it at a random time or at a random change of a file."""
        project, command, figures = self._project, self.command, self.figures
        questions, stored = project.answer_counts("asked.txt"), project.answer_counts()
        may_refuse, existed = self._may_refuse(), (project.folder / command.output).is_file()
        process = project.start(command)
        if self.random.random() < 0.5:
            time.sleep(self.random.uniform(0.3, 1.0) * self._seconds)
        else:
            project.await_changes(process, self.random.randint(1, max(1, self._changes)))
        is_running = not process.has_ended
        process.send_signal(signal.SIGKILL)
        result = process.finish()
        process.end()
        if result.returncode > 0 and not may_refuse:
            self._note_failure(result)
        figures.kills += is_running
        figures.completed += not is_running
        _note_damage(figures, command, project)
        if existed and not (project.folder / command.output).is_file():
            figures.losses += 1
            figures.faults.append(f"{command.name}: {command.output} is gone")
        if command.asks and is_running:
            _note_repeats(figures, command, project, questions, stored)
        if not is_running:
            self._compare()
            # Half of the commands that replace an output are killed over the output of an earlier run.
            if not self._replaces or self.random.random() < 0.5:
                self._project = self._new_project()

    def end(self) -> None:
        """Run the command to its end after the last kill."""
        may_refuse = self._may_refuse()
        result = self._project.start(self.command).finish()
        if result.returncode and not may_refuse:
            self._note_failure(result)
        _note_damage(self.figures, self.command, self._project)
        self._compare()

    def close(self) -> None:
        self._project.children.close()

    def _may_refuse(self) -> bool:
        """Return whether an earlier process wrote the output, and the command does not replace it."""
        return not self._replaces and (self._project.folder / self.command.output).exists()

    def _note_failure(self, result: Finished) -> None:
        self.figures.failed += 1
        text = f"{result.out[-800:]}{result.err[-800:]}"
        self.figures.faults.append(f"{self.command.name}: exit status {result.returncode}: {text}")

    def _new_project(self) -> KilledProject:
        if self._projects:
            self._project.children.close()
        self._projects += 1
        folder = self._folder / str(self._projects)
        folder.mkdir()
        return KilledProject(folder, self._shard)

    def _compare(self) -> None:
        units = self._project.units(self.command)
        self.figures.losses += max(0, self._units - units)
        self.figures.corrupt += max(0, units - self._units)
        if units != self._units:
            self.figures.faults.append(f"{self.command.name}: {units} of {self._units} units")


def _note_damage(figures: KillFigures, command: KilledCommand, project: KilledProject) -> None:
    for fault in project.damaged():
        figures.corrupt += 1
        figures.faults.append(f"{command.name}: {fault}")


def _note_repeats(
    figures: KillFigures,
    command: KilledCommand,
    project: KilledProject,
    before: Counter[str],
    stored: Counter[str],
) -> None:
    """Count the answers that an earlier, killed process stored, and that were asked for again."""
    repeats = sum((project.answer_counts("asked.txt") - before)[question] > 0 for question in stored)
    if repeats > CONCURRENCY:
        figures.losses += repeats - CONCURRENCY
        figures.faults.append(f"{command.name}: {repeats} stored answers were asked for again")


assert os.name == "posix", "signals of POSIX"
