"""Time and memory per item of a run's phases, as the number of cases grows.

    python tests/benchmarks/growth.py [--cases 1000 10000 100000] [--models 3]

Answers are precomputed and judged by five evaluators; half of them fail. Prints processor seconds per 1,000
items of each phase, and the largest memory of the process at its end, per item above that of an empty run:
collection, tests (with scores and record), analysis with results files, and the page. Then the ratio of each
figure to that of the size before (target at most 1.1).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from whole_run import write_lab

EVALUATORS = "text_matching,rouge,lexical_groundedness,looping_detection,pii_leakage"
PHASES = ("collection", "tests", "analysis", "page")
MEASURED = """
import json
import resource
import sys
import time

import pytest

import pytest_evalstudio.report.build as build

marks = {}


def mark(name):
    usage = resource.getrusage(resource.RUSAGE_SELF)
    marks[name] = (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


class Phases:
    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self):
        mark("start")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self):
        mark("collection")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self):
        result = yield
        mark("tests")
        return result


def marked(function, name):
    def call(*arguments, **options):
        result = function(*arguments, **options)
        mark(name)
        return result

    return call


build._analyse = marked(build._analyse, "analysis")
build.build_report = marked(build.build_report, "page")
status = pytest.main(sys.argv[2:], plugins=[Phases()])
open(sys.argv[1], "w").write(json.dumps(marks))
sys.exit(0 if status in (0, 1) else 3)
"""


def measure(folder: Path, cases: int, models: int) -> dict[str, tuple[float, float]]:
    """Return the processor seconds of each phase, and megabytes at its end."""
    folder.mkdir()
    write_lab(folder / "big_lab.json", cases, models, 0.5, 600)
    (folder / "measured.py").write_text(MEASURED, encoding="utf-8")
    options = [
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "big_lab.json",
        "--evalstudio-evaluators",
        EVALUATORS,
    ]
    command = [sys.executable, "measured.py", "marks.json", *options]
    result = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    if result.returncode:
        raise SystemExit(f"the run of {cases:,} cases ended with status {result.returncode}")
    marks = json.loads((folder / "marks.json").read_text(encoding="utf-8"))
    before = [marks["start"], *(marks[name] for name in PHASES)]
    return {
        name: (marks[name][0] - earlier[0], marks[name][1])
        for name, earlier in zip(PHASES, before, strict=False)
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--models", type=int, default=3)
    arguments = parser.parse_args()
    earlier: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        empty = measure(Path(name, "empty"), 1, 1)
        for cases in arguments.cases:
            items = cases * arguments.models
            figures = {
                phase: (1_000 * seconds / items, 1_000 * (megabytes - empty[phase][1]) / items)
                for phase, (seconds, megabytes) in measure(
                    Path(name, str(cases)), cases, arguments.models
                ).items()
            }
            print(f"{cases:,} cases x {arguments.models} models")
            for phase, (seconds, kilobytes) in figures.items():
                ratios = ""
                if phase in earlier:
                    old_s, old_kb = earlier[phase]
                    ratios = f"; {seconds / old_s:.2f} x the time and {kilobytes / old_kb:.2f} x the memory"
                print(f"  {phase}: {seconds:.3f} s per 1,000 items, {kilobytes:.2f} kB per item{ratios}")
            earlier = figures


if __name__ == "__main__":
    main()
