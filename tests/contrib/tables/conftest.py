"""Scored tables that several modules read."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tables_of_answers import graded, score_graded


@pytest.fixture(scope="session")
def scored_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with old.parquet, where a tenth of the answers is wrong, and new.parquet with three."""
    folder = tmp_path_factory.mktemp("graded")
    score_graded(folder, "new", graded(3))
    score_graded(folder, "old", graded(1))
    return folder
