"""The first impression: `evalstudio init` and the suite of two cases that it writes, against pytest alone.

usage: python tests/benchmarks/first_run.py [RUNS]

Each run starts in an empty folder. Prints the medians of the wall time of both commands and of pytest on two
empty tests without the plugin, and the packages whose import takes longest.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

RUNS = 9
EVALSTUDIO = [sys.executable, "-c", "from pytest_evalstudio.cli import main; raise SystemExit(main())"]
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    init, suite, bare = zip(*(first_run() for _ in range(runs)), strict=True)
    print(f"first run in an empty folder, wall time, median of {runs}")
    print(f"evalstudio init: {statistics.median(init):.2f} s; pytest starter_suite.json: ", end="")
    together = statistics.median(map(sum, zip(init, suite, strict=True)))
    print(f"{statistics.median(suite):.2f} s; together {together:.2f} s")
    print(f"pytest alone on two empty tests: {statistics.median(bare):.2f} s")
    longest = sorted(imports().items(), key=lambda entry: -entry[1])[:8]
    print("longest imports:", ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in longest))


def first_run() -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        init = wall_s(folder, [*EVALSTUDIO, "init", "."])
        suite = wall_s(folder, [*PYTEST, "starter_suite.json"])
        (folder / "test_empty.py").write_text("def test_one():\n    pass\n\n\ndef test_two():\n    pass\n")
        return init, suite, wall_s(folder, [*PYTEST, "-p", "no:evalstudio", "test_empty.py"])


def wall_s(folder: Path, command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def imports() -> dict[str, float]:
    """Return the seconds that the suite spends in the modules of each package, without what they import."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([*EVALSTUDIO, "init", "."], cwd=name, check=True, stdout=subprocess.DEVNULL)
        command = [sys.executable, "-X", "importtime", *PYTEST[1:], "starter_suite.json"]
        lines = subprocess.run(command, cwd=name, check=True, capture_output=True, text=True).stderr
    spent: dict[str, float] = defaultdict(float)
    for line in lines.splitlines():
        numbers = line.removeprefix("import time:").split("|")
        if len(numbers) == 3 and numbers[0].strip().isdigit():
            spent[numbers[2].strip().partition(".")[0]] += int(numbers[0]) / 1e6
    return spent


if __name__ == "__main__":
    main()
