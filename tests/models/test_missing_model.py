"""A run whose model is not available."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.workers import WORKERS

SUITE = (
    '{"inputs": [{"key": "k", "input": "Why?", "actual_output": "Since it is so.", "context": ["It is so."],'
    ' "corpus": []}]}'
)


@pytest.mark.parametrize("options", WORKERS)
def test_a_model_that_is_not_available_is_an_error_of_its_cases(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / "data.json").write_text(SUITE)
    (tmp_path / "evalstudio.toml").write_text(
        'evaluators = ["groundedness"]\nembeddings.model = "./no-such-folder"\n'
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "data.json"]
    run = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "error: groundedness: embeddings.model = './no-such-folder' is not available" in run.stdout
    assert "1 error" in run.stdout
    collection = subprocess.run(
        [*command, "--collect-only"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert collection.returncode == 0, collection.stdout + collection.stderr
