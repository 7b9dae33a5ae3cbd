"""Conversations: time compared with the ideal, and runs that are killed in the middle of them.

    python tests/benchmarks/conversations.py [--conversations 200] [--kills 20]

The first part holds conversations of five turns with a host that takes 100 ms, 16 at a time, through a
model session and through a whole pytest run. The second part kills pytest runs (SIGKILL) at random moments,
lets the next run continue, and counts the turns that were asked more than once; at most those that were in
flight may be.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_evalstudio.asking.dialogues import Dialogue, FixedTurns
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.plugins.registry import Registry
from support.children import Children

TURNS, DELAY_S, CONCURRENCY = 5, 0.1, 16
KILLED_CONVERSATIONS, KILLED_CONCURRENCY = 12, 4
APP = """
import asyncio

from pytest_evalstudio.asking import answers

answers.LEASE_S = 2.0  # the next run waits until the leases of a killed one expire


async def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    await asyncio.sleep({delay})
    return "fine, " + prompt
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
concurrency = {concurrency}
cache = "resume"
"""


def project(folder: Path, conversations: int, *, delay_s: float, concurrency: int) -> None:
    """Write an application and a suite whose turns all differ."""
    cases: list[dict[str, Any]] = [
        {
            "key": f"k{n}",
            "turns": [{"prompt": f"q{n}-{turn}", "condition": '"fine"'} for turn in range(TURNS)],
        }
        for n in range(conversations)
    ]
    suite = {"name": "S", "tests": [{"key": "t", "documents": [], "test_cases": cases}]}
    (folder / "app.py").write_text(APP.replace("{delay}", str(delay_s)), encoding="utf-8")
    (folder / "evalstudio.toml").write_text(CONFIG.format(concurrency=concurrency), encoding="utf-8")
    (folder / "s_suite.json").write_text(json.dumps(suite), encoding="utf-8")


def run_command(folder: Path) -> list[str]:
    """Return the command of a run."""
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "s_suite.json")]


def through_a_session(conversations: int) -> float:
    """Return the seconds of holding conversations through a model session."""
    requests = [
        Dialogue(
            prompt=Prompt(text=f"q{n}-0"),
            user=FixedTurns(tuple(f"q{n}-{turn}" for turn in range(TURNS))),
            key=f"k{n}",
        )
        for n in range(conversations)
    ]
    settings = {"host": "scripted", "default": "fine", "delay_s": DELAY_S, "concurrency": CONCURRENCY}
    with open_model("m", settings, Registry(), folder=Path(), cache=None) as session:
        start = time.perf_counter()
        answers = session.ask(requests)
        elapsed = time.perf_counter() - start
    assert all(len(answer.turns) == TURNS for answer in answers)
    return elapsed


def through_a_run(conversations: int) -> float:
    """Return the seconds of a whole pytest run, less those of the same run with a host that takes no time."""
    seconds = []
    for delay_s in (0.0, DELAY_S):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            project(folder, conversations, delay_s=delay_s, concurrency=CONCURRENCY)
            start = time.perf_counter()
            subprocess.run(run_command(folder), cwd=folder, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
    return seconds[1] - seconds[0]


def killed(folder: Path, seed: int) -> tuple[int, int]:
    """Kill a run, continue it, and return the turns asked before and those asked more than once."""
    rng = random.Random(seed)
    project(folder, KILLED_CONVERSATIONS, delay_s=0.05, concurrency=KILLED_CONCURRENCY)
    question_log = folder / "asked.txt"
    process = Children().start(run_command(folder), folder, is_group=True)
    process.wait_until(question_log.is_file, "the first turn")
    time.sleep(rng.uniform(0.0, 0.7))
    process.end()
    before = len(question_log.read_text().split())
    subprocess.run(run_command(folder), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    counts = Counter(question_log.read_text().split())
    assert len(counts) == KILLED_CONVERSATIONS * TURNS
    return before, sum(count - 1 for count in counts.values())


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args()
    ideal = arguments.conversations * TURNS * DELAY_S / CONCURRENCY
    for label, seconds in (
        ("session", through_a_session(arguments.conversations)),
        ("pytest run, less its work without waiting", through_a_run(arguments.conversations)),
    ):
        print(f"{label}: {seconds:.2f} s, {seconds / ideal:.3f} x the ideal of {ideal:.2f} s")
    repeated = []
    for seed in range(arguments.kills):
        with tempfile.TemporaryDirectory() as name:
            before, repeats = killed(Path(name), seed)
            repeated.append(repeats)
            print(f"kill {seed + 1}: {before} turns asked, {repeats} of them again")
    if repeated:
        total = KILLED_CONVERSATIONS * TURNS
        print(
            f"{len(repeated)} kills: at most {max(repeated)} of {total} turns asked again,"
            f" {KILLED_CONCURRENCY} in flight"
        )


if __name__ == "__main__":
    main()
