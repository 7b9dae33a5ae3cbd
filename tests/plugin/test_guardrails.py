"""A run under a guardrail configuration."""

from __future__ import annotations

import json

from support.project import Project


def test_a_guardrail_decides_a_run(project: Project) -> None:
    project.write("evalstudio.toml", 'guardrails = "guardrails.json"\n')
    project.write(
        "guardrails.json",
        json.dumps({"calibrated_thresholds": {"lexical_groundedness": {"supported_words": 0.6}}}),
    )
    row = {
        "input": "What is the fee?",
        "actual_output": "The fee is 30 USD and paid gladly by everyone.",
        "context": ["The fee is 30 USD."],
    }
    project.write("answers_dataset.json", json.dumps({"inputs": [{"key": "fee", **row}]}))
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*lexical_groundedness: supported_words 0.3333 < 0.6*"])
    project.write(
        "guardrails.json",
        json.dumps({"calibrated_thresholds": {"lexical_groundedness": {"supported_words": 0.1}}}),
    )
    project.run().assert_outcomes(passed=1)
