"""Tables of the configuration without effect: files that may name an evaluator."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_evalstudio.formats.config import load_configuration
from pytest_evalstudio.formats.unused_tables import unused_tables

CONFIG = "[evaluator.rouge]\nthreshold = 0.5\n"


@pytest.fixture
def configured(tmp_path: Path) -> Path:
    path = tmp_path / "evalstudio.toml"
    path.write_text(CONFIG)
    return path


def test_a_table_that_no_file_names_has_no_effect(configured: Path) -> None:
    [message] = unused_tables(load_configuration(configured), ())
    assert "evaluator.rouge: the table has no effect" in message


def test_a_pipe_is_not_read(configured: Path) -> None:
    os.mkfifo(configured.with_name("answers.json"))
    assert unused_tables(load_configuration(configured), ()) == []
