"""Calls of sequential stopping against a fixed number of repeats, by a whole pytest run and exactly.

usage: python tests/benchmarks/sequential_stopping.py [--items 400] [--max 20]

Models pass each repeat with a given probability, independently. Prints mean repeats per item for the pass
rates 0.99, 0.9, 0.7 and 0.5, the decisions, and the same numbers by dynamic programming.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.stats.sequential import Sprt, characteristics

RATES = (0.99, 0.9, 0.7, 0.5)
APP = """
import random

RNG = random.Random(1)


def ask(prompt, rate):
    return "yes" if RNG.random() < rate else "no"
"""
MODEL = """
[[model]]
name = "{rate}"
host = "python"
target = "app:ask"
concurrency = 1
parameters = {{rate = {rate}}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--max", type=int, default=20)
    arguments = parser.parse_args()
    design = Sprt(max_runs=arguments.max, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, arguments.items, arguments.max)
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "--no-summary"]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        record = RecordReader(folder / "evalstudio-report" / "record.jsonl")
        runs: dict[str, list[int]] = {}
        ends: dict[str, list[str]] = {}
        for item in record.items():
            model = record.run.model_name(item.model_key)
            runs.setdefault(model, []).append(len(item.rows))
            ends.setdefault(model, []).append(item.verdicts["text_matching"].stopped)
    for rate in RATES:
        run_counts, words = runs[str(rate)], ends[str(rate)]
        exact = characteristics(design, rate)
        decided = ", ".join(f"{words.count(word) / len(words):.3f} {word}" for word in ("pass", "fail"))
        print(
            f"pass rate {rate:g}: {sum(run_counts) / len(run_counts):.2f} repeats per item in place of"
            f" {design.max_runs} ({decided}); exact {exact.mean_runs:.2f}"
            f" ({exact.passed:.3f} pass, {exact.failed:.3f} fail)"
        )


def write(folder: Path, items: int, most: int) -> None:
    """Write the suite, the configuration and the application."""
    cases = [
        {"key": f"k{number}", "prompt": f"question {number}", "condition": '"yes"'} for number in range(items)
    ]
    suite = {"name": "s", "tests": [{"key": "t", "documents": [], "test_cases": cases}]}
    (folder / "questions_suite.json").write_text(json.dumps(suite))
    (folder / "app.py").write_text(APP)
    models = "".join(MODEL.format(rate=rate) for rate in RATES)
    stopping = f'runs = {{max = {most}, stop = "sprt", p0 = 0.9, p1 = 0.7, alpha = 0.05, beta = 0.1}}'
    (folder / "evalstudio.toml").write_text(f'evaluators = ["text_matching"]\n{stopping}\n{models}')


if __name__ == "__main__":
    main()
