"""An application with a suite, and a lab, whose every text and key is a canary."""

from __future__ import annotations

import json
from typing import Any

from support.canaries import Canaries, answer
from support.project import Project

CONFIG = """
evaluators = [
  "text_matching", "tool_calls", "tool_rules", "tool_arguments", "final_state", "effort", "pii_leakage",
  "sensitive_data_leakage", "lexical_groundedness", "rouge",
]

[comparison]
segments = ["team"]

[[model]]
name = "app"
host = "python"
target = "app:ask"

[evaluator.tool_rules]
rules = [{ tool = "transfer", at_most = 0 }]
"""
APP = """
import json
from pathlib import Path

ANSWERS = json.loads(Path(__file__).with_name("data.json").read_text(encoding="utf-8"))


def ask(prompt):
    answer = ANSWERS[prompt[:3]]
    if "raise" in answer:
        raise RuntimeError(answer["raise"])
    return answer
"""


def expectations(canaries: Canaries, source: str) -> dict[str, Any]:
    """Return the expectations of a test case or a row."""
    text, name, keys = canaries.text, canaries.name, canaries.keys
    return {
        "expected_output": text(f"{source}: expected output"),
        "expected_facts": [text(f"{source}: fact")],
        "guidelines": [text(f"{source}: guideline")],
        "expected_chunks": [text(f"{source}: expected chunk")],
        "expected_documents": [name(f"{source}: expected document")],
        "expected_tool_calls": [
            {"name": "transfer", "arguments": keys(f"{source}: expected arguments")},
            {"name": name(f"{source}: expected tool"), "arguments": {}},
        ],
        "expected_state": {"/all": keys(f"{source}: state"), f"/{name(f'{source}: pointer')}": 5},
        "metadata": {"team": name(f"{source}: segment"), **keys(f"{source}: metadata")},
        "x-note": keys(f"{source}: key of the user's own"),
        "categories": [name(f"{source}: category")],
        "conversation": [
            {"role": "user", "content": text(f"{source}: earlier question")},
            {"role": "assistant", "content": text(f"{source}: earlier answer")},
        ],
    }


def host_answer(canaries: Canaries, source: str) -> dict[str, Any]:
    """Return an answer as an application returns it, with its thoughts in the text."""
    fields = answer(canaries, source)
    thoughts = fields.pop("thoughts")
    names = ("served_model", "request_id", "session")
    content = {name: value for name, value in fields.items() if name not in names}
    return {"answer": f"<think>{thoughts}</think>{canaries.text(f'{source}: answer')}", **content}


def condition(canaries: Canaries, source: str) -> str:
    return json.dumps(canaries.name(f"{source}: condition"))


def write_sources(project: Project, canaries: Canaries) -> None:
    """Write an application with a suite and a lab."""
    text, name = canaries.text, canaries.name
    answers: dict[str, Any] = {
        "q1?": host_answer(canaries, "host"),
        "q2?": {"raise": text("host: exception")},
        "q3?": host_answer(canaries, "host: turn"),
    }
    project.write("evalstudio.toml", CONFIG)
    project.write("app.py", APP)
    project.write("data.json", json.dumps(answers))
    project.suite(
        {
            "key": name("suite: key"),
            "prompt": f"q1? {text('suite: prompt')}",
            "condition": condition(canaries, "suite"),
            **expectations(canaries, "suite"),
        },
        {"key": "raises", "prompt": f"q2? {text('suite: prompt that raises')}", "condition": '"x"'},
        {
            "key": "turns",
            "turns": [
                {"prompt": f"q3? {text('turn: prompt')}", "expected_output": text("turn: expected output")},
                {"prompt": f"q3? {text('turn: second prompt')}", "condition": condition(canaries, "turn")},
            ],
        },
    )
    row = {
        "key": name("lab: key"),
        "input": text("lab: input"),
        "actual_output": text("lab: answer"),
        "output_condition": condition(canaries, "lab"),
        "model_key": "m",
        **answer(canaries, "lab"),
        **expectations(canaries, "lab"),
    }
    failed = {"key": "failed", "input": "q", "error": text("lab: error"), "model_key": "m"}
    project.lab(row, failed, model_type="h2ogpte")
