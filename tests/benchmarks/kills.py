"""Ends runs and commands at random moments, many times.

`python tests/benchmarks/kills.py --rounds 100`: runs of pytest that are killed, interrupted or short of disk.
`python tests/benchmarks/kills.py --kills 200`: kills of all commands that write files (`--command`: of one).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.command_kills import COMMANDS, KilledCommand, KillFigures, kill_rounds
from support.kills import REPORT, ROUNDS, Scene, play


def main() -> int:
    """Play rounds of every kind; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, metavar="N", help="rounds in all (default: 40)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the moments at which runs are ended (default: 0)"
    )
    parser.add_argument("--kills", type=int, metavar="N", help="kill the commands that write files N times")
    parser.add_argument(
        "--command",
        action="append",
        choices=[command.name for command in COMMANDS],
        help="kill this command only; can be repeated",
    )
    arguments = parser.parse_args()
    if arguments.kills:
        commands = [command for command in COMMANDS if command.name in (arguments.command or [command.name])]
        return kill_commands(commands, arguments.kills, arguments.seed)
    names = list(ROUNDS)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder), arguments.seed)
        for number in range(arguments.rounds):
            name = names[number % len(names)]
            start_s = time.perf_counter()
            try:
                play(scene, name)
                outcome = "fine"
            except AssertionError as exc:
                outcome = f"FAILED: {exc}"
                failed += 1
            print(f"{number + 1:4} {name}: {outcome} ({time.perf_counter() - start_s:.1f} s)", flush=True)
    print(f"{arguments.rounds} rounds, {failed} failed")
    return 1 if failed else 0


def kill_commands(commands: Sequence[KilledCommand], kills: int, seed: int) -> int:
    """Kill commands in turn; return 1 if an answer was lost, a file is corrupt or a later process failed."""
    total = KillFigures()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "run").mkdir()
        scene = Scene(folder / "run", seed)
        scene.check_next_run()
        for number, command in enumerate(commands):
            share = kills * (number + 1) // len(commands) - kills * number // len(commands)
            start_s = time.perf_counter()
            report = scene.folder / REPORT
            figures = kill_rounds(command, folder / f"c{number}", report, share, seed + number)
            total.add(figures)
            print(
                f"{command.name}: {figures} ({time.perf_counter() - start_s:.0f} s)",
                *figures.faults,
                sep="\n  ",
                flush=True,
            )
    print(total)
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main())
