"""Half a surrogate pair anywhere in the data of others ends no run and no command."""

from __future__ import annotations

import pytest

from support.command import evalstudio
from support.project import Project

HALF = "x \ud83d y"
APP = r"""
from pytest_evalstudio.core.cases import Answer
HALF = "x \ud83d y"

async def ask(prompt):
    if "raise" in prompt:
        raise RuntimeError(HALF)
    return {
        "answer": "It is 4. " + HALF,
        "context": [HALF, "4"],
        "context_sources": [HALF + ".md", "b.md"],
        "tool_calls": [{"name": "find" + HALF, "arguments": {HALF: [HALF]}, "result": HALF}],
    }
"""
CASE = {
    "prompt": f"2+2? {HALF}",
    "condition": '"4"',
    "expected_output": HALF,
    "categories": [HALF],
    "metadata": {HALF: HALF},
    "expected_tool_calls": [{"name": "find" + HALF, "arguments": {HALF: [HALF]}}],
}


@pytest.fixture
def odd(project: Project) -> Project:
    project.write("app.py", APP)
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching", "tool_calls", "rouge", "sensitive_data_leakage"]\n'
        '[evaluator.rouge]\nthreshold = 0.0\n[[model]]\nname = "app"\nhost = "python"\n'
        'target = "app:ask"\n',
    )
    project.suite(
        {"key": f"k {HALF}", **CASE}, {"key": "other", **CASE}, {"key": "raise", "prompt": f"raise {HALF}"}
    )
    return project


def test_a_run_with_a_baseline_and_its_commands(odd: Project) -> None:
    first = odd.run_process("-q", "--evalstudio-output", "first")
    assert "INTERNALERROR" not in first.stdout.str() + first.stderr.str()
    assert first.parseoutcomes() == {"passed": 2, "errors": 1}
    record = (odd.folder / "first" / "record.jsonl").read_text(encoding="utf-8")
    assert "x � y" in record
    assert "\\ud83d" not in record

    saved = evalstudio("baseline", "save", "first", "--allow-errors", folder=odd.folder)
    assert saved.returncode == 0, saved.stderr
    second = odd.run_process(
        "-q", "--evalstudio-baseline", "evalstudio-baseline.jsonl", "--evalstudio-output", "second"
    )
    assert "INTERNALERROR" not in second.stdout.str() + second.stderr.str()
    assert second.parseoutcomes() == {"passed": 2, "errors": 1}
    for command in (
        ["compare", "first", "second"],
        ["history", "first", "second"],
        ["select", "first", "second"],
        ["baseline", "show"],
    ):
        result = evalstudio(*command, folder=odd.folder)
        assert result.returncode in (0, 1), (command, result.stderr)
