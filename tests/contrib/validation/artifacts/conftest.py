"""An evaluated workflow, once per session."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.signing import CONFIG, STEPS, run_step

BANK = Path(__file__).parents[4] / "example_suites" / "bank" / "documents"


def write_questions(path: Path, document: str) -> None:
    """Write the example's questions on a document."""
    suite = json.loads(
        (BANK.parents[1] / "workflow" / "bank_questions_suite.json").read_text(encoding="utf-8")
    )
    (test,) = suite["tests"]
    plain = " ".join(document.split())
    test["test_cases"] = [case for case in test["test_cases"] if case.get("evidence", "|") in plain]
    path.write_text(json.dumps(suite), encoding="utf-8")


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workflow whose first four steps are completed."""
    folder = tmp_path_factory.mktemp("workflow")
    shutil.copy(BANK / "fee_schedule.md", folder)
    write_questions(folder / "fees_suite.json", (BANK / "fee_schedule.md").read_text(encoding="utf-8"))
    (folder / "evalstudio.toml").write_text(CONFIG, encoding="utf-8")
    path = folder / "bank_workflow.json"
    vectors = {"vectors": "tf-idf"}
    content = {
        "name": "Bank",
        "description": "Answers on fees.",
        "documents": ["fee_schedule.md"],
        "steps": {
            "topic_modeling": vectors,
            "test_generation": {"suite": "fees_suite.json"},
            "test_validation": vectors,
        },
    }
    path.write_text(json.dumps({"evalstudio_workflow": content}), encoding="utf-8")
    for step in STEPS:
        run_step(path, step)
    return path


@pytest.fixture
def workflow(evaluated: Path, tmp_path: Path) -> Path:
    """A copy of the workflow, to change."""
    shutil.copytree(evaluated.parent, tmp_path / "copy")
    return tmp_path / "copy" / evaluated.name
