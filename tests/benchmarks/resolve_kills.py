"""Kill `evalstudio resolve` at random moments, start it again, and compare the lab with an undisturbed one.

Run: python tests/benchmarks/resolve_kills.py --rounds 20
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_evalstudio.asking.answers import FILE_NAME
from support.openai_server import OpenAIServer, Reply, serve

QUESTIONS = 400
DELAY_S = 0.2
CONCURRENCY = 8
TIMES = ("actual_duration", "first_token_s", "llm_model_meta", "retries")
"""Keys of a lab that differ from run to run."""


def main() -> int:
    """Play the rounds; return 1 if a stored answer was asked for again, or the lab differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="kills (default: 20)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the moments (default: 0)")
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    temporary = tempfile.TemporaryDirectory
    with temporary() as first, temporary() as second, serve() as service:
        service.default = lambda question: Reply(text=f"answer to {question}", delay_s=DELAY_S)
        undisturbed, killed = (suite_folder(Path(folder), service) for folder in (first, second))
        start(undisturbed).wait()
        service.requests.clear()
        repeated = 0
        for number in range(arguments.rounds):
            stored_questions = stored(killed)
            asked_before = len(service.requests)
            process = start(killed)
            time.sleep(moments.uniform(1.0, 4.0))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            time.sleep(2 * DELAY_S)
            new_questions = questions(service)[asked_before:]
            repeated += sum(question in stored_questions for question in new_questions)
            print(
                f"{number + 1:3} killed: {len(stored_questions)} answers before, {len(new_questions)} asked",
                flush=True,
            )
        stored_questions, asked_before = stored(killed), len(service.requests)
        start(killed).wait()
        repeated += sum(question in stored_questions for question in questions(service)[asked_before:])
        is_equal = lab(killed) == lab(undisturbed)
        print(f"stored answers asked for again: {repeated}; {len(service.requests)} requests for {QUESTIONS}")
        print(f"lab equal to that of an undisturbed run: {is_equal}")
    return 0 if is_equal and not repeated else 1


def suite_folder(folder: Path, service: OpenAIServer) -> Path:
    """Write a suite and its configuration."""
    cases = [{"key": f"k{number}", "prompt": f"q{number}"} for number in range(QUESTIONS)]
    suite = {"name": "S", "tests": [{"key": "t", "documents": [], "test_cases": cases}]}
    (folder / "s_suite.json").write_text(json.dumps(suite), encoding="utf-8")
    (folder / "evalstudio.toml").write_text(
        f'[[model]]\nname = "m"\nhost = "openai_compatible"\nurl = "{service.url}"\nllm_model_name = "m"\n'
        f"concurrency = {CONCURRENCY}\n",
        encoding="utf-8",
    )
    return folder


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Start a run in a process of its own."""
    command = [sys.executable, "-m", "pytest_evalstudio.cli", "resolve", "s_suite.json", "-o", "s_lab.json"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stored(folder: Path) -> set[str]:
    """Return the questions whose answers are stored."""
    path = folder / ".evalstudio" / FILE_NAME
    if not path.is_file():
        return set()
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT answer FROM answers").fetchall()
    return {str(json.loads(row[0])["text"]).removeprefix("answer to ") for row in rows}


def questions(service: OpenAIServer) -> list[str]:
    """Return the questions that the service was asked, in order."""
    return [request["messages"][-1]["content"] for request in list(service.requests)]


def lab(folder: Path) -> Any:
    """Return the lab without what differs from run to run."""
    return json.loads(
        (folder / "s_lab.json").read_text(encoding="utf-8"),
        object_pairs_hook=lambda pairs: dict(_stable_pairs(pairs)),
    )


def _stable_pairs(pairs: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    return ((key, value) for key, value in pairs if key not in TIMES)


if __name__ == "__main__":
    sys.exit(main())
