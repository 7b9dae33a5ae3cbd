"""What it costs to have the plugin installed and not to use it: python tests/benchmarks/idle.py [RUNS].

Runs pytest on one empty test, as it is and with `-p no:evalstudio`, in turns, and prints the medians of the
CPU time (user and system) of the whole process and of the difference, and what the plugin makes pytest import
besides itself and the standard library.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 15
WITHOUT = ("-p", "no:evalstudio")
CONFTEST = """
import os
import sys


def pytest_unconfigure():
    if "IDLE_MODULES" in os.environ:
        with open(os.environ["IDLE_MODULES"], "w") as file:
            file.write("\\n".join(sys.modules))
"""


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(CONFTEST)
        (folder / "test_one.py").write_text("def test_nothing():\n    pass\n")
        added = modules(folder) - modules(
            folder, *WITHOUT
        )  # these runs compile what is not compiled yet, too
        pairs = [(cpu_ms(folder), cpu_ms(folder, *WITHOUT)) for _ in range(runs)]
    installed, absent = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"pytest on one empty test, CPU time, median of {runs} runs each, in turns")
    low, middle, high = statistics.quantiles((plugin_ms - other for plugin_ms, other in pairs), n=4)
    print(f"plugin installed: {installed:.1f} ms; with -p no:evalstudio: {absent:.1f} ms")
    print(
        f"difference of a pair: median {middle:+.1f} ms, half of them between {low:+.1f} and {high:+.1f} ms"
    )
    package_modules = sorted(module for module in added if module.partition(".")[0] == "pytest_evalstudio")
    standard = sorted(module for module in added if module.partition(".")[0] in sys.stdlib_module_names)
    other = sorted(added.difference(package_modules, standard))
    print(f"imported by the plugin: {', '.join(package_modules)}")
    print(f"of the standard library: {', '.join(standard) or 'nothing'}")
    print(f"anything else: {', '.join(other) or 'nothing'}")


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_one.py"]


def cpu_ms(folder: Path, *options: str) -> float:
    process = subprocess.Popen(command(*options), cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"pytest ended with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def modules(folder: Path, *options: str) -> set[str]:
    listing = folder / "modules.txt"
    subprocess.run(
        command(*options),
        cwd=folder,
        env={**os.environ, "IDLE_MODULES": str(listing)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return set(listing.read_text().split())


if __name__ == "__main__":
    main()
