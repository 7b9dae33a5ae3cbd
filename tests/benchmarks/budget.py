"""Function calls of four standard runs, compared with the numbers under version control.

usage: python tests/benchmarks/budget.py [--write]

Counts the calls of this package's functions and of what they call directly, in the main thread of a process
with a fixed hash seed, without other plugins and without pyarrow: the same on every machine. Fails where a
run needs over 5 % more calls than `budget.json` says for this version of Python; `--write` enters the present
ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks import agent_steps, whole_run
from tests.benchmarks.evaluators import EVALUATORS

FILE = Path(__file__).with_suffix(".json")
TOLERANCE = 1.05
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
COUNTED = """
import cProfile, pathlib, sys
sys.modules["pyarrow"] = None  # the results as Parquet are left out
import pytest
profile = cProfile.Profile()
status = profile.runcall(pytest.main, sys.argv[2:])
calls = 0
for entry in profile.getstats():
    if "pytest_evalstudio" in getattr(entry.code, "co_filename", ""):
        calls += entry.callcount + sum(inner.callcount for inner in entry.calls or ())
pathlib.Path(sys.argv[1]).write_text(str(calls))
sys.exit(status not in (0, 1))
"""


def _lab(folder: Path) -> list[str]:
    whole_run.write_lab(folder / "big_lab.json", 200, 2, 0.5, 600)
    return ["big_lab.json", "--evalstudio-evaluators", "text_matching"]


def _rules(folder: Path) -> list[str]:
    whole_run.write_lab(folder / "big_lab.json", 50, 2, 0.5, 1_700)
    return ["big_lab.json", "--evalstudio-evaluators", ",".join(EVALUATORS)]


def _agent(folder: Path) -> list[str]:
    rows = [agent_steps.row(number, 30, True) for number in range(100)]
    lab = {"name": "agent", "models": [{"key": "m", "name": "m"}], "dataset": {"inputs": rows}}
    (folder / "agent_lab.json").write_text(json.dumps(lab), encoding="utf-8")
    (folder / "evalstudio.toml").write_text(agent_steps.CONFIGURATION, encoding="utf-8")
    return ["agent_lab.json"]


def _starter(folder: Path) -> list[str]:
    command = "from pytest_evalstudio.cli import main; raise SystemExit(main(['init', '.']))"
    subprocess.run([sys.executable, "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return ["starter_suite.yaml"]


RUNS: dict[str, Callable[[Path], list[str]]] = {
    "precomputed answers": _lab,
    "rule evaluators": _rules,
    "agents": _agent,
    "starter suite": _starter,
}


def counted(prepare: Callable[[Path], list[str]]) -> int:
    """Return the calls of a run in an empty folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = ["-q", "-p", "no:cacheprovider", "-p", "pytest_evalstudio.plugin", *prepare(folder)]
        command = [sys.executable, "-c", COUNTED, str(folder / "calls"), *options]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if process.returncode:
            raise SystemExit(process.stdout + process.stderr)
        return int((folder / "calls").read_text())


def main(*, write: bool) -> int:
    """Print the calls of each run and its budget; return 1 if one is exceeded."""
    budgets = json.loads(FILE.read_text(encoding="utf-8"))
    budget = budgets.get(VERSION, {})
    calls = {name: counted(prepare) for name, prepare in RUNS.items()}
    for name, count in calls.items():
        share = f"{count / budget[name]:.3f} of the budget" if name in budget else "no budget"
        print(f"{name}: {count:,} calls, {share}")
    if write:
        budgets[VERSION] = calls
        FILE.write_text(json.dumps(budgets, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        return 0
    return int(any(count > TOLERANCE * budget.get(name, count) for name, count in calls.items()))


if __name__ == "__main__":
    sys.exit(main(write="--write" in sys.argv))
