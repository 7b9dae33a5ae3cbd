"""Damage files of all kinds in all ways, and run the commands that read them.

Run: python tests/benchmarks/damaged_files.py

Prints the commands that ended with a traceback, an undocumented exit status or control characters, or took
more than 10 s.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.systematic import fuzz_systematically


def main() -> int:
    """Run; return 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stride", type=int, default=1, metavar="N", help="try every Nth pair (default: 1)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no pair after this time")
    arguments = parser.parse_args()
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        figures = fuzz_systematically(Path(folder), stride=arguments.stride, seconds=arguments.seconds)
    for fault in figures.faults:
        print(f"- {fault}\n")
    statuses = ", ".join(f"{status}: {number}" for status, number in sorted(figures.statuses.items()))
    print(
        f"{figures.kinds} kinds, {figures.cases} files, {figures.commands} commands, exit statuses {statuses}"
    )
    print(f"slowest {figures.slowest_s:.1f} s: {figures.slowest}")
    print(
        f"{len(figures.tracebacks)} tracebacks, {len(figures.hangs)} hangs, {len(figures.others)} other"
        f" faults in {time.monotonic() - start_s:.0f} s"
    )
    return 1 if figures.faults else 0


if __name__ == "__main__":
    sys.exit(main())
