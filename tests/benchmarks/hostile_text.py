"""Processor time of all functions that handle text of strangers, on hostile shapes of text.

    python tests/benchmarks/hostile_text.py [--sizes 50000 200000 800000] [--only WORDS] [--limit 20]

Prints, for each function, its worst shape at the longest text: seconds at each size, and the exponent of
growth between the last two (1 is linear, 2 quadratic). Each function runs in a process of its own, which ends
when a text takes more than the limit.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_evalstudio.core.plugins.registry import Registry
from support.hostile_shapes import SHAPES, hostile_text
from support.text_subjects import TextSubject, text_subjects

NOISE_S = 0.02


def measure(subject: TextSubject, shape: str, sizes: list[int], limit: float) -> list[float]:
    """Return the seconds at each size, infinite from the first size that takes more than the limit."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        warnings.simplefilter("ignore")
        subject.function(hostile_text("mixed", 2_000, 9))
        with os.fdopen(write_end, "w") as out:
            for salt, size in enumerate(sizes):
                text = hostile_text(shape, size, salt)
                signal.setitimer(signal.ITIMER_PROF, limit)  # its signal ends the process
                start = time.process_time()
                try:
                    subject.function(text)
                except BaseException as exc:
                    sys.stderr.write(
                        f"{subject.name}, {shape}, {size}: {type(exc).__name__}: {str(exc)[:200]}\n"
                    )
                out.write(json.dumps(time.process_time() - start) + "\n")
                out.flush()
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as results:
        seconds = [float(line) for line in results]
    os.waitpid(child, 0)
    return seconds + [math.inf] * (len(sizes) - len(seconds))


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the exponent of growth between the last two sizes; NaN below the noise."""
    if len(sizes) < 2 or seconds[-2] < NOISE_S:
        return math.nan
    return math.log(seconds[-1] / seconds[-2]) / math.log(sizes[-1] / sizes[-2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000, 200_000, 800_000])
    parser.add_argument("--only", default="", help="words that the function's name has")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of processor time for a text")
    parser.add_argument("--roles", action="store_true", help="each input of evaluators alone, too")
    parser.add_argument("--rules", action="store_true", help="only evaluators that ask no model")
    parser.add_argument("--all-shapes", action="store_true", help="a line for each shape")
    arguments = parser.parse_args()
    sizes = sorted(arguments.sizes)
    lines = []
    for subject in text_subjects(Registry()):
        if arguments.only not in subject.name or (subject.is_role and not arguments.roles):
            continue
        if arguments.rules and not subject.is_rule_evaluator:
            continue
        rows = [(measure(subject, shape, sizes, arguments.limit), shape) for shape in SHAPES]
        rows.sort(key=lambda row: row[0][::-1], reverse=True)
        for seconds, shape in rows if arguments.all_shapes else rows[:1]:
            numbers = "  ".join(f"{value:8.3f}" for value in seconds)
            line = f"{numbers}  {exponent(sizes, seconds):5.2f}  {subject.name}: {shape}"
            lines.append((seconds[::-1], line))
            sys.stderr.write(line + "\n")
    print("  ".join(f"{size:>8,}" for size in sizes) + "   exp.  function: shape")
    for _, line in sorted(lines, reverse=True):
        print(line)


if __name__ == "__main__":
    main()
