"""A workflow whose questions a language model writes, over HTTP on loopback: asked once, stored, and
evaluated.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.suite import TestSuite
from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

DOCUMENTS = Path(__file__).parents[3] / "example_suites" / "bank" / "documents"
ADDED = {"generators": ["multi_hop", "inference", "sentiment_variation"], "count": 6, "writer": "judge"}
STEPS: dict[str, Any] = {
    "topic_modeling": {"vectors": "tf-idf"},
    "test_generation": ADDED,
    "test_validation": {"metrics": ["condition"]},
}


def quotes(prompt: str) -> Reply:
    """Asks for the first sentence of each chunk that it is shown."""
    mark = re.search(r"<<<([0-9a-f]{32})", prompt)
    assert mark is not None
    excerpts = re.findall(rf"<<<{mark[1]} excerpt[ \d]*\n(.*?)\n{mark[1]}>>>", prompt, re.DOTALL)
    evidence = [text.partition(". ")[0] for text in excerpts]
    return Reply(
        text=json.dumps(
            {
                "questions": [
                    {
                        "question": f"I wonder: {evidence[0]}?",
                        "answer": "Yes, that is so.",
                        "evidence": evidence,
                    }
                ]
            }
        )
    )


@pytest.fixture
def bank(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    shutil.copytree(DOCUMENTS, project.folder / "documents")
    return project


def configure(project: Project, server: OpenAIServer, **judge: Any) -> None:
    keys = {"host": "openai_compatible", "url": server.url, "llm_model_name": "m", **judge}
    table = "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
    project.write("evalstudio.toml", f'evaluators = ["text_matching"]\n[judge]\n{table}\n')
    documents = [f"documents/{path.name}" for path in sorted(DOCUMENTS.iterdir())]
    project.write(
        "bank_workflow.json",
        json.dumps({"evalstudio_workflow": {"name": "Bank", "documents": documents, "steps": STEPS}}),
    )


def run(project: Project, *more: str) -> pytest.RunResult:
    return project.run(
        "-k", "topic_modeling or test_generation or test_validation or automated_evaluation", *more
    )


def test_questions_are_written_once(bank: Project) -> None:
    with serve() as server:
        server.default = quotes
        configure(bank, server)
        run(bank).assert_outcomes(passed=4)
        request_count = len(server.requests)
        assert request_count == 6
        run(bank, "--evalstudio-from", "test_generation").assert_outcomes(passed=4)
        assert len(server.requests) == request_count, "what was written is stored"
    suite = TestSuite.load(bank.folder / "bank_workflow_artifacts" / "2_test_generation" / "tests_suite.json")
    kinds = {
        category.removeprefix("generator:")
        for _, case in suite.cases()
        for category in case.categories
        if category.startswith("generator:")
    }
    assert kinds == {"multi_hop", "inference", "sentiment_variation"}
    assert {(case.model_extra or {})["written_by"] for _, case in suite.cases()} == {"judge"}


def test_a_budget_that_is_spent_fails_the_step_in_words(bank: Project) -> None:
    with serve() as server:
        server.default = quotes
        configure(bank, server, max_calls=2)
        result = run(bank)
        result.assert_outcomes(passed=1, failed=1, skipped=2)
        result.stdout.fnmatch_lines(
            [
                "*2 of 6 test cases, since the writer did not answer all requests: 4 of 6 (4: *the budget of"
                " calls is used up*"
            ]
        )
        assert "Traceback" not in result.stdout.str()
        assert len(server.requests) == 2
        configure(bank, server, max_calls=4)
        run(bank).assert_outcomes(passed=4)
        assert len(server.requests) == 6
