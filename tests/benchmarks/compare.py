"""Time and memory of `evalstudio compare` against reading both records once.

usage: python tests/benchmarks/compare.py [--rows 30000]

Prints processor seconds of both, medians of seven rounds, their ratio (target at most 2.5), and the peak
memory of the comparison (target at most 300 MB).
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

ROUNDS = 7
READ = """
import sys
from pathlib import Path
from pytest_evalstudio.record.reader import RecordReader
for place in sys.argv[1:]:
    for item in RecordReader(Path(place)).items():
        pass
"""
COMPARE = """
import sys
from pytest_evalstudio.cli import main
main(["compare", *sys.argv[1:]])
"""
SENTENCE = "the fee for a transfer abroad is charged to the account when it leaves and shown on the statement"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=30_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        sides = [Path(name) / side / "record.jsonl" for side in ("base", "new")]
        for seed, side in enumerate(sides):
            # In a process of its own: a child's peak memory is at least what its parent had at the start.
            code = (
                "import sys, compare; compare.write_record(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))"
            )
            command = [sys.executable, "-c", code, str(side), str(rows), str(seed)]
            subprocess.run(command, cwd=Path(__file__).parent, check=True)
        rounds = [
            (
                resource_use([sys.executable, "-c", READ, *map(str, sides)])[0],
                *resource_use([sys.executable, "-c", COMPARE, *map(str, sides)]),
            )
            for _ in range(ROUNDS)
        ]
    read_s, compare_s, megabytes = (statistics.median(values) for values in zip(*rounds, strict=True))
    print(
        f"two records of {rows:,} rows: reading {read_s:.1f} s, comparison {compare_s:.1f} s of processor,"
        f" ratio {compare_s / read_s:.2f}; {megabytes:.0f} MB"
    )


def write_record(file: str, rows: int, seed: int) -> None:
    """Write a record of three models; a tenth of the scores differs between two seeds."""
    from pytest_evalstudio.record.codec import encode_line
    from support.records import RecordBuilder, evaluator, score

    rng = random.Random(seed)
    path = Path(file)
    path.parent.mkdir()
    builder = RecordBuilder(evaluator("quality"), models=("one", "two", "three"))
    words = SENTENCE.split()
    for number in range(rows):
        model = ("one", "two", "three")[number % 3]
        value = float(number % 10 > 2 if rng.random() > 0.1 else rng.random() > 0.5)
        row = {
            "outcomes": {"quality": score(value)},
            "actual_output": " ".join(rng.choices(words, k=40)),
            "context": [" ".join(rng.choices(words, k=120))],
        }
        builder.add(f"k{number // 3}", model, row)
    lines = [builder.run, *builder.typed_items]
    path.write_bytes(b"".join(encode_line(line) + b"\n" for line in lines))


def resource_use(command: list[str]) -> tuple[float, float]:
    """Return processor seconds and peak megabytes of a process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command[:3])} ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
