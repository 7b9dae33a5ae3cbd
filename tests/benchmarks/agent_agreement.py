"""Agreement of `tool_calls` with the reward of a benchmark of agents.

    python tests/benchmarks/agent_agreement.py tau_airline_sample.jsonl

Each line of the file is a conversation: `messages` in OpenAI's form, `expected_actions` (name and kwargs),
the benchmark's own `reward` (1.0 where the data base is as expected at the end), `task_id` and `trial`.
The conversations become the rows of a lab, whose answers pytest scores as for a user. Prints the share of
conversations whose verdict agrees with the reward, over the tools that change the data base and over all
tools, and pass^k of the sample (Yao et al., 2024).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from math import comb
from pathlib import Path
from typing import Any

from pytest_evalstudio.record.reader import RecordReader

CHANGES = 'only = ["book_*", "cancel_*", "send_*", "update_*"]'
VARIANTS = {
    "tools that change the data base": (CHANGES,),
    "the same, other arguments forbidden": (CHANGES, 'other_arguments = "forbid"'),
    "the same, in the expected order": (CHANGES, 'mode = "exact"'),
    "all tools": (),
    "all tools, others allowed": ('mode = "superset"',),
}
MODEL = {"key": "agent", "name": "agent", "llm_model_name": "agent", "model_type": "openai_llm"}


def lab_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a conversation as a row of a lab."""
    return {
        "key": f"task-{row['task_id']}-{row['trial']}",
        "model_key": MODEL["key"],
        "messages": row["messages"],
        "expected_tool_calls": [
            {"name": action["name"], "arguments": action["kwargs"]} for action in row["expected_actions"]
        ],
    }


def verdicts(rows: list[dict[str, Any]], options: tuple[str, ...]) -> list[str]:
    """Return the verdicts of a run of pytest on the rows of a lab."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lab = {"models": [MODEL], "dataset": {"inputs": list(map(lab_row, rows))}}
        (folder / "agent_lab.json").write_text(json.dumps(lab), encoding="utf-8")
        lines = ['evaluators = ["tool_calls"]', "[evaluator.tool_calls]", *options]
        (folder / "evalstudio.toml").write_text("\n".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "agent_lab.json"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if result.returncode not in (0, 1):
            raise SystemExit(result.stdout + result.stderr)
        record = RecordReader(folder / "evalstudio-report" / "record.jsonl")
        by_key = {item.key: item.verdict for item in record.items()}
        return [by_key[lab_row(row)["key"]] for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    rows = [json.loads(line) for line in parser.parse_args().file.read_text(encoding="utf-8").splitlines()]
    good = [row["reward"] == 1.0 for row in rows]
    for name, options in VARIANTS.items():
        passed = [verdict == "passed" for verdict in verdicts(rows, options)]
        agreeing = sum(verdict == reward for verdict, reward in zip(passed, good, strict=True))
        print(f"{name}: {agreeing} of {len(rows)} = {agreeing / len(rows):.4f}")
    successes: defaultdict[int, list[bool]] = defaultdict(list)
    for row, is_good in zip(rows, good, strict=True):
        successes[row["task_id"]].append(is_good)
    for k in range(1, 5):
        shares = [comb(sum(trials), k) / comb(len(trials), k) for trials in successes.values()]
        print(f"pass^{k}: {sum(shares) / len(shares):.3f}")


if __name__ == "__main__":
    main()
