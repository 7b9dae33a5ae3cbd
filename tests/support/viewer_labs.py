"""Labs whose answers are spans, for viewers of traces."""

from __future__ import annotations

import json
from collections.abc import Sequence

from support.project import Project


def run_lab(project: Project, spans: Sequence[tuple[str, str]]) -> None:
    """Score an answer for each pair of trace and span, every second one wrong, and one without a span."""
    rows = [
        {
            "key": f"case-{number}",
            "model_key": "m",
            "input": f"What is fee {number}?",
            "actual_output": "It is six." if number % 2 else "It is five.",
            "output_condition": '"five"',
            "traceparent": f"00-{trace}-{span}-01",
        }
        for number, (trace, span) in enumerate(spans)
    ]
    rows.append({**rows[0], "key": "spanless", "traceparent": ""})
    models = [{"key": "m", "name": "m", "model_type": "python"}]
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n')
    project.write("fees_lab.json", json.dumps({"name": "f", "dataset": {"inputs": rows}, "models": models}))
    project.run()
