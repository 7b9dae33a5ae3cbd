"""The causes of regressions, in whole sessions of a RAG application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from support.project import Project

APP = """
from pathlib import Path

FOLDER = Path(__file__).parent
TOP_K = 3
PENALTY = ""  # source that the index has lost


def retrieve(prompt, top_k=TOP_K):
    words = set(prompt.lower().strip("?").split())
    chunks = []
    for path in sorted(FOLDER.glob("docs/*.md")):
        for number, text in enumerate(path.read_text().split("\\n\\n"), 1):
            source = f"{path.name}#{number}"
            if source != PENALTY:
                score = len(words & set(text.lower().replace(".", "").split()))
                chunks.append({"text": text, "source": source, "score": score})
    return sorted(chunks, key=lambda chunk: -chunk["score"])[:top_k]


def generate(prompt, context, system_prompt="", llm_model_name=""):
    words = set(prompt.lower().strip("?").split())
    best = max(context, default="", key=lambda text: len(words & set(text.lower().replace(".", "").split())))
    if "briefly" in system_prompt:
        best = best.split(" ")[0]
    return best or "I do not know."
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "bank"
host = "python"
retrieve = "app:retrieve"
generate = "app:generate"
"""
FEES = """A transfer abroad costs 12 USD.

A lost card costs 25 USD."""
CASES = (
    {"key": "abroad", "prompt": "What costs a transfer abroad?", "condition": '"12 USD"'},
    {"key": "card", "prompt": "What costs a lost card?", "condition": '"25 USD"'},
)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A bank's assistant whose baseline has passed."""
    made = Project(pytester, with_app=False)
    made.write("app.py", APP)
    made.write("docs/fees.md", FEES)
    made.write("evalstudio.toml", CONFIG)
    made.suite(*CASES, name="bank_suite.json")
    made.run("bank_suite.json").assert_outcomes(passed=2)
    assert made.run_command("baseline", "save").ret == 0
    return made


def explained(project: Project, *arguments: str) -> tuple[pytest.RunResult, Mapping[str, Any]]:
    """Run with the search for causes; return the run and the entries by key."""
    result = project.run(
        "bank_suite.json",
        "--evalstudio-baseline=evalstudio-baseline.jsonl",
        "--evalstudio-explain",
        *arguments,
    )
    header, _ = project.record()
    return result, {entry["key"]: entry for entry in header.get("causes", {}).values()}


def test_a_chunk_that_is_no_longer_retrieved_is_the_cause(project: Project) -> None:
    project.write("app.py", APP.replace('PENALTY = ""', 'PENALTY = "fees.md#1"'))
    result, causes = explained(project)
    assert list(causes) == ["abroad"]
    assert (causes["abroad"]["code"], causes["abroad"]["basis"]) == ("retrieval", "replay")
    text = causes["abroad"]["text"]
    assert text.startswith("retrieval: passes with the baseline's chunks; `fees.md#1` is no longer retrieved")
    result.stdout.fnmatch_lines(
        ["*cause: retrieval: passes with the baseline's chunks*", "causes: 1 retrieval*"]
    )
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "Causes of regressions" in page
    summary = (project.folder / "evalstudio-report" / "summary.md").read_text(encoding="utf-8")
    assert "| retrieval | 1 |" in summary
