"""Agreement of `tool_calls` with the reward of a benchmark of agents.

    python tests/benchmarks/agent_agreement.py tau_airline_sample.jsonl

Each line of the file is a conversation: `messages` in OpenAI's form, `expected_actions` (name and kwargs),
the benchmark's own `reward` (1.0 where the data base is as expected at the end), `task_id` and `trial`.
Prints the share of conversations in which `tool_calls` agrees with the reward, over the tools that change the
data base and over all tools, and pass^k of the sample (Yao et al., 2024).
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from math import comb
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.engine.builders import make_case
from pytest_evalstudio.evaluators.tool_calls import ToolCalls
from pytest_evalstudio.text.sentences import split_sentences

CHANGES = ("book_*", "cancel_*", "send_*", "update_*")
VARIANTS = {
    "tools that change the data base": ToolCalls(only=CHANGES),
    "the same, other arguments forbidden": ToolCalls(only=CHANGES, other_arguments="forbid"),
    "the same, in the expected order": ToolCalls(only=CHANGES, mode="exact"),
    "all tools": ToolCalls(),
    "all tools, others allowed": ToolCalls(mode="superset"),
}


def passes(evaluator: ToolCalls, row: dict[str, Any]) -> bool:
    """Return whether the calls of a conversation are as expected."""
    calls = [call for message in row["messages"] for call in message.get("tool_calls") or ()]
    case = make_case(
        row["instruction"],
        "done",
        tool_calls=read_tool_calls(calls),
        expected_tool_calls=[
            {"name": action["name"], "arguments": action["kwargs"]} for action in row["expected_actions"]
        ],
    )
    [outcome] = evaluator.score([case], Tools(split_sentences=split_sentences))
    return outcome.scores["tool_calls_match"] == 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    rows = [json.loads(line) for line in parser.parse_args().file.read_text(encoding="utf-8").splitlines()]
    for name, evaluator in VARIANTS.items():
        agreeing = sum(passes(evaluator, row) == (row["reward"] == 1.0) for row in rows)
        print(f"{name}: {agreeing} of {len(rows)} = {agreeing / len(rows):.4f}")
    successes: defaultdict[int, list[bool]] = defaultdict(list)
    for row in rows:
        successes[row["task_id"]].append(row["reward"] == 1.0)
    for k in range(1, 5):
        shares = [comb(sum(trials), k) / comb(len(trials), k) for trials in successes.values()]
        print(f"pass^{k}: {sum(shares) / len(shares):.3f}")


if __name__ == "__main__":
    main()
