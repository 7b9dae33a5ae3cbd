"""Time and memory of a run over answers with tool calls, compared with the same answers without.

    python tests/benchmarks/agent_steps.py [--answers 10000] [--calls 30] [--rounds 3]

All labs have one condition per answer and the same evaluators: `text_matching`, `tool_calls`, `tool_rules`
and `effort`. The third one also expects each of the calls. Prints the medians of processor time and largest
memory of each run, and their ratios to the first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

CONFIGURATION = """evaluators = ["text_matching", "tool_calls", "tool_rules", "effort"]
[evaluator.tool_rules]
rules = [{ tool = "cancel", after = "find" }]
"""


def row(number: int, calls: int, expects: bool) -> dict[str, Any]:
    """Return an answer with calls.

    Args:
        expects: whether the case expects all of them.
    """
    searches = [
        {
            "name": "search",
            "arguments": {"page": page, "query": f"fee {number}"},
            "result": f"fee {page}: 5 USD",
        }
        for page in range(calls - 2)
    ]
    last = [
        {"name": "find", "arguments": {"code": f"E{number}"}},
        {"name": "cancel", "arguments": {"code": f"E{number}"}},
    ]
    steps: dict[str, Any] = {"tool_calls": searches + last}
    if expects:
        steps["expected_tool_calls"] = [{"name": "search"}] * len(searches) + last
    return {
        "key": f"c{number}",
        "model_key": "m",
        "input": f"Cancel booking E{number}, please.",
        "actual_output": f"Booking E{number} is cancelled; the fee was 5 USD.",
        "output_condition": '"cancelled"',
        **(steps if calls else {}),
    }


def measure(folder: Path, name: str, answers: int, calls: int, expects: bool) -> tuple[float, float]:
    """Return seconds of processor time and MB of one run."""
    folder.mkdir()
    (folder / "evalstudio.toml").write_text(CONFIGURATION, encoding="utf-8")
    lab = {
        "name": name,
        "models": [{"key": "m", "name": "m"}],
        "dataset": {"inputs": [row(number, calls, expects) for number in range(answers)]},
    }
    (folder / "agent_lab.json").write_text(json.dumps(lab), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "agent_lab.json"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, output
    assert f"{answers} passed" in output, output
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    labs = {
        "without calls": (0, False),
        "with calls": (arguments.calls, False),
        "with calls and expectations": (arguments.calls, True),
    }
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in labs}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            for name, (calls, expects) in labs.items():
                path = Path(folder) / f"{number} {name}"
                results[name].append(measure(path, name, arguments.answers, calls, expects))
    medians = {name: [median(values) for values in zip(*runs, strict=True)] for name, runs in results.items()}
    plain_s, plain_mb = medians["without calls"]
    for name, (seconds, megabytes) in medians.items():
        ratios = f"{seconds / plain_s:.2f} x the time, {megabytes / plain_mb:.2f} x the memory"
        print(f"{name}: {seconds:.1f} s, {megabytes:.0f} MB ({ratios})")


if __name__ == "__main__":
    main()
