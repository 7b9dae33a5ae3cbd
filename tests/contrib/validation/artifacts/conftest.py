"""An evaluated workflow, once per session."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.signing import CONFIG, STEPS, run_step

BANK = Path(__file__).parents[4] / "example_suites" / "bank" / "documents"


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workflow whose first four steps are completed."""
    folder = tmp_path_factory.mktemp("workflow")
    shutil.copy(BANK / "fee_schedule.md", folder)
    (folder / "evalstudio.toml").write_text(CONFIG, encoding="utf-8")
    path = folder / "bank_workflow.json"
    vectors = {"vectors": "tf-idf"}
    content = {
        "name": "Bank",
        "description": "Answers on fees.",
        "documents": ["fee_schedule.md"],
        "steps": {"topic_modeling": vectors, "test_generation": {"count": 14}, "test_validation": vectors},
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
