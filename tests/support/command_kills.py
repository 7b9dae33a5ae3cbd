"""Commands that write files, killed at random moments: what they leave, and what the next run makes of it.

A command is killed several times in one folder and then runs to its end. Each time, every file in the folder
must be whole or a draft of a known name; in the end the output must have all units of an undisturbed run, and
no answer that was stored may have been asked for again.
"""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import sys
import time
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from support.children import Child, Children
from support.kills import APP, CONFIG, QUESTIONS

CONCURRENCY = 4
"""Answers that may be on their way to the cache when a command is killed."""
JUDGE = """
import re

def judge(prompt):
    ask(re.search(r"Question \\d+", prompt)[0].replace(" ", ""))
    return '{"reason": "r", "score_first": 7, "score_second": 6, "choice": "first"}'
"""
TABLE_ROWS = 2_000
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
SCORE = ("score", "t.jsonl", "-e", "pii_leakage")
IMPORT = ("import", "table", "t.jsonl", "--map", "input=input")
PERTURB = ("perturb", "s_suite.json", "-p", "copy")
COMMANDS = (
    KilledCommand(name="pytest", words=PYTEST, output="evalstudio-report", asks=True),
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
        lost: units of the output, or stored answers, that were lost.
        corrupt: files that were neither whole nor drafts.
        faults: a sentence for each.
    """

    kills: int = 0
    completed: int = 0
    lost: int = 0
    corrupt: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: KillFigures) -> None:
        """Add the figures of other rounds."""
        self.kills += other.kills
        self.completed += other.completed
        self.lost += other.lost
        self.corrupt += other.corrupt
        self.faults += other.faults

    def __str__(self) -> str:
        counts = f"{self.kills} kills, {self.completed} ended before"
        return f"{counts}, {self.lost} lost, {self.corrupt} corrupt"


class KilledProject:
    """A folder in which one command is killed and run.

    Args:
        folder: an empty folder.
        shard: report of a run, for the commands that read one.
        seed: of the moments.
    """

    def __init__(self, folder: Path, shard: Path | None, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
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
        steps = {"name": "W", "documents": ["fees.md"], "steps": {"topic_modeling": {}}}
        texts = {
            "app.py": APP.replace("LEASE_S = 2.0", "LEASE_S = 0.5") + JUDGE,
            "evalstudio.toml": CONFIG.replace('cache = "resume"', "cache = true")
            + '\n[judge]\nhost = "python"\ntarget = "app:judge"\nconcurrency = 4\ncache = "always"\n',
            "s_suite.json": json.dumps(
                {"name": "S", "tests": [{"key": "t", "documents": [], "test_cases": cases}]}
            ),
            "a_answers.json": json.dumps({"name": "A", "dataset": {"inputs": answers}, "models": models}),
            "t.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
            "fees.md": "# Fees\n\n" + "".join(FACTS.format(n=n) for n in range(3, 60)),
            "w_workflow.json": json.dumps({"evalstudio_workflow": steps}),
            "pytest.ini": "[pytest]\naddopts = s_suite.json\n",
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        if shard is not None:
            (folder / "shard").mkdir()
            (folder / "shard" / "record.jsonl").write_bytes((shard / "record.jsonl").read_bytes())

    def start(self, command: KilledCommand) -> Child:
        return self.children.start([sys.executable, *command.words], self.folder, is_group=True)

    def complete(self, command: KilledCommand) -> float:
        """Run a command to its end, and return its seconds."""
        started = time.monotonic()
        existed = (self.folder / command.output).exists()
        ended = self.start(command).finish()
        # A command that does not replace its output refuses where an earlier one ended before its kill.
        assert ended.returncode == 0 or existed, (
            f"exit status {ended.returncode}: {ended.out[-800:]}{ended.err[-800:]}"
        )
        return time.monotonic() - started

    def answered(self, name: str = "answered.txt") -> Counter[str]:
        path = self.folder / name
        return Counter(path.read_text().split("\n")[:-1]) if path.is_file() else Counter()

    def damaged(self) -> list[str]:
        """Return the files that are neither whole nor drafts."""
        files = [path for path in self.folder.rglob("*") if _is_result(path, self.folder)]
        return [f"{path.relative_to(self.folder)}: {fault}" for path in files if (fault := _fault(path))]

    def units(self, command: KilledCommand) -> int:
        """Return the number of rows, cases, lines or files of the output."""
        path = self.folder / command.output
        if path.is_file():
            return _units(path)
        files = [file for file in path.rglob("*") if _is_result(file, self.folder)]
        return len(files) + sum(_units(file) for file in files if file.suffix in (".jsonl", ".csv"))


def _is_result(path: Path, folder: Path) -> bool:
    """Return whether a path is a file and no draft."""
    parts = path.relative_to(folder).parts
    return path.is_file() and not any(part.startswith(".") or part.endswith(DRAFT_NAMES) for part in parts)


def _fault(path: Path) -> str:
    """Return what is wrong with a file, by its kind."""
    try:
        READERS.get(path.suffix, lambda path: 0)(path)
    except (ValueError, OSError, KeyError, ElementTree.ParseError, zipfile.BadZipFile) as exc:
        return f"{type(exc).__name__}: {exc}"
    return ""


def _read_lines(path: Path) -> int:
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines[0].startswith('{"kind":"run"') or path.name == "record.jsonl":
        lines[-1] = ""  # an unfinished record may end in half a line
    return len([json.loads(line) for line in lines if line])


def _read_json(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    json.loads(text)
    return text.count('"key"') or 1


def _read_csv(path: Path) -> int:
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    if len({len(row) for row in rows if row}) > 1:
        raise ValueError("rows of different lengths")
    return len(rows)


def _read_page(path: Path) -> int:
    if not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
        raise ValueError("no end of the page")
    return 1


def _read_picture(path: Path) -> int:
    ElementTree.parse(path)  # written by this package
    return 1


def _read_archive(path: Path) -> int:
    with zipfile.ZipFile(path) as files:
        if (name := files.testzip()) is not None:
            raise ValueError(f"{name} is damaged")
        return len(files.namelist())


def _read_parquet(path: Path) -> int:
    import pyarrow
    import pyarrow.parquet

    try:
        return int(pyarrow.parquet.read_metadata(path).num_rows)
    except pyarrow.ArrowException as exc:
        raise ValueError(str(exc)) from None


READERS: dict[str, Callable[[Path], int]] = {
    ".jsonl": _read_lines,
    ".json": _read_json,
    ".csv": _read_csv,
    ".html": _read_page,
    ".svg": _read_picture,
    ".zip": _read_archive,
    ".parquet": _read_parquet,
}


def _units(path: Path) -> int:
    return READERS[path.suffix](path)


def kill_rounds(
    command: KilledCommand, folder: Path, shard: Path | None, kills: int, seed: int
) -> KillFigures:
    """Kill a command at random moments, run it to its end, and compare with an undisturbed run."""
    figures = KillFigures()
    folder.mkdir()
    (folder / "whole").mkdir()
    (folder / "killed").mkdir()
    whole, killed = (KilledProject(folder / name, shard, seed) for name in ("whole", "killed"))
    with closing(whole.children), closing(killed.children):
        seconds = whole.complete(command)
        for _ in range(kills):
            before = killed.answered("asked.txt")
            stored = killed.answered()
            process = killed.start(command)
            time.sleep(killed.random.uniform(0.3, 1.0) * seconds)
            is_running = not process.has_ended
            process.send_signal(signal.SIGKILL)
            process.finish()
            process.end()
            figures.kills += is_running
            figures.completed += not is_running
            _note_damage(figures, command, killed)
            if command.asks and is_running:
                _note_repeats(figures, command, killed, before, stored)
        killed.complete(command)
        _note_damage(figures, command, killed)
        expected, actual = whole.units(command), killed.units(command)
        if actual < expected:
            figures.lost += expected - actual
            figures.faults.append(f"{command.name}: {actual} of {expected} units")
    return figures


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
    again = sum((project.answered("asked.txt") - before)[question] > 0 for question in stored)
    if again > CONCURRENCY:
        figures.lost += again - CONCURRENCY
        figures.faults.append(f"{command.name}: {again} stored answers were asked for again")


assert os.name == "posix", "signals of POSIX"
