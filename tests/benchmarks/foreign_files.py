"""Cost of foreign JSON files in a tree: python tests/benchmarks/foreign_files.py [FILES [RUNS]].

Runs pytest on one empty test in a folder of FILES foreign JSON files of 100 kB, half of them named like data
sets, as it is and with `-p no:evalstudio`, in turns. Prints the medians of the processor time and the ratio.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = 10_000
RUNS = 5
PER_FOLDER = 100
TARGET = 1.2
CONTENTS = (
    {"features": [[0.123456789] * 10] * 750},
    [{"id": number, "text": "x" * 90} for number in range(850)],
    {"name": "photo", "pixels": [128] * 20_000},
    {"version": 1, "inputs": [[0.123456789] * 10] * 750},
)


def main() -> None:
    arguments = [int(text) for text in sys.argv[1:]]
    files, runs = [*arguments, *(FILES, RUNS)[len(arguments) :]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_one.py").write_text("def test_nothing():\n    pass\n")
        write_files(folder, files)
        seconds(folder)
        pairs = [(seconds(folder), seconds(folder, "-p", "no:evalstudio")) for _ in range(runs)]
    installed, absent = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{files} foreign JSON files of 100 kB, median of {runs} runs each, in turns")
    print(f"plugin installed: {installed:.2f} s; with -p no:evalstudio: {absent:.2f} s")
    print(f"ratio: {installed / absent:.2f} (target: below {TARGET})")


def write_files(folder: Path, count: int) -> None:
    """Write files of about 100 kB, PER_FOLDER in a folder."""
    texts = [json.dumps(content)[:100_000] for content in CONTENTS]
    for number in range(count):
        below = folder / f"data{number // PER_FOLDER}"
        below.mkdir(exist_ok=True)
        kind = "dataset" if number // len(texts) % 2 else "image"
        (below / f"{kind}{number}.json").write_text(texts[number % len(texts)])


def seconds(folder: Path, *options: str) -> float:
    """Return the processor time of a run, user and system."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    start = os.times()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    end = os.times()
    return end.children_user - start.children_user + end.children_system - start.children_system


if __name__ == "__main__":
    main()
