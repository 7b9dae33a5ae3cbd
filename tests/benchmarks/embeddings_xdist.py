"""Evaluators on sentence embeddings under pytest-xdist: `-n 2` against `-n 0`, with memory and threads of
each process.

usage: python tests/benchmarks/embeddings_xdist.py LAB [COPIES] [ROUNDS]        (default: 3 copies, 3 rounds)

LAB is made large by repeating its rows with variations; every run starts without vectors. Wall times are
whole: imports, model and xdist's own start included. Memory is what is resident at the most, pages of the
    weights' file that processes share
counted in each, and what is a process's own at the end. Needs Linux and the extras `offline` and `xdist`.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from large_lab import Run, run_pytest, write_large_lab, write_settings

LAB = "large_lab.json"


def main(source: str, copies: int = 3, rounds: int = 3) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = write_large_lab(Path(source), folder / LAB, copies)
        write_settings(folder)
        print(f"{rows:,} rows, {os.cpu_count()} cores", flush=True)
        ratios = []
        for _ in range(rounds):
            single_process, shared = (afresh(folder, *arguments) for arguments in (("-n", "0"), ("-n", "2")))
            ratios.append(shared.wall_s / single_process.wall_s)
            print(
                f"-n 0: {described(single_process)}\n-n 2: {described(shared)}\n  {ratios[-1]:.2f} x",
                flush=True,
            )
        print(
            f"-n 2 against -n 0: {statistics.median(ratios):.2f} x (median of {rounds}:"
            f" {', '.join(f'{ratio:.2f}' for ratio in ratios)})"
        )


def afresh(folder: Path, *arguments: str) -> Run:
    shutil.rmtree(folder / ".evalstudio", ignore_errors=True)
    return run_pytest(folder, LAB, *arguments)


def described(run: Run) -> str:
    processes = (
        f"{name} {result['peak_mb']:.0f} MB at the most, {result['own_mb']:.0f} MB its own,"
        f" {result['threads'] or 'no'} threads of torch"
        for name, result in run.witnesses.items()
    )
    return f"{run.wall_s:.1f} s, processor time {run.cpu_s:.1f} s; {'; '.join(processes)}"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
