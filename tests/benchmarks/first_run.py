"""The first impression: `evalstudio init` and the suite of three cases that it writes, against pytest alone.

usage: python tests/benchmarks/first_run.py [RUNS]

Each run starts in an empty folder. Prints the medians of wall and processor time of both commands and of
pytest on two empty tests without the plugin, and the packages whose import takes longest.
"""

from __future__ import annotations

import os
import resource
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
    rounds = [first_run() for _ in range(runs)]
    print(f"first run in an empty folder: medians of {runs}, wall time (processor time)")
    for name in ("evalstudio init", "pytest starter_suite.yaml", "both", "pytest alone on two empty tests"):
        walls, processors = zip(*(times[name] for times in rounds), strict=True)
        print(f"{name}: {statistics.median(walls):.2f} s ({statistics.median(processors):.2f} s)")
    longest = sorted(imports().items(), key=lambda entry: -entry[1])[:8]
    print("longest imports:", ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in longest))


def first_run() -> dict[str, tuple[float, float]]:
    """Return wall and processor seconds of each command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        init = spent_s(folder, [*EVALSTUDIO, "init", "."])
        suite = spent_s(folder, [*PYTEST, "starter_suite.yaml"])
        (folder / "test_empty.py").write_text("def test_one():\n    pass\n\n\ndef test_two():\n    pass\n")
        bare = spent_s(folder, [*PYTEST, "-p", "no:evalstudio", "test_empty.py"])
    return {
        "evalstudio init": init,
        "pytest starter_suite.yaml": suite,
        "both": (init[0] + suite[0], init[1] + suite[1]),
        "pytest alone on two empty tests": bare,
    }


def spent_s(folder: Path, command: list[str]) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment() -> dict[str, str]:
    """Return this process's environment with bytecode files allowed, as an installation has them."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def imports() -> dict[str, float]:
    """Return the seconds that the suite spends in the modules of each package, without what they import."""
    with tempfile.TemporaryDirectory() as name:
        spent_s(Path(name), [*EVALSTUDIO, "init", "."])
        command = [sys.executable, "-X", "importtime", *PYTEST[1:], "starter_suite.yaml"]
        lines = subprocess.run(
            command, cwd=name, env=environment(), check=True, capture_output=True, text=True
        ).stderr
    seconds: dict[str, float] = defaultdict(float)
    for line in lines.splitlines():
        numbers = line.removeprefix("import time:").split("|")
        if len(numbers) == 3 and numbers[0].strip().isdigit():
            seconds[numbers[2].strip().partition(".")[0]] += int(numbers[0]) / 1e6
    return seconds


if __name__ == "__main__":
    main()
