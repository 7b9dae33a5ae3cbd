"""Ends runs at random moments, many times: `python tests/benchmarks/kills.py --rounds 100`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.kills import ROUNDS, Scene, play


def main() -> int:
    """Play rounds of every kind; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, metavar="N", help="rounds in all (default: 40)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the moments at which runs are ended (default: 0)"
    )
    arguments = parser.parse_args()
    names = list(ROUNDS)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder), arguments.seed)
        for number in range(arguments.rounds):
            name = names[number % len(names)]
            started = time.perf_counter()
            try:
                play(scene, name)
                outcome = "fine"
            except AssertionError as exc:
                outcome = f"FAILED: {exc}"
                failed += 1
            print(f"{number + 1:4} {name}: {outcome} ({time.perf_counter() - started:.1f} s)", flush=True)
    print(f"{arguments.rounds} rounds, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
