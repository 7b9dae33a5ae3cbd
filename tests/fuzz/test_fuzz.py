"""A part of the fuzz test; `python -m tests.fuzz --count 600` runs more of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.runner import fuzz

FILES = 60
SECONDS = 10.0


@pytest.mark.slow
def test_broken_files_of_every_kind_end_in_a_sentence(tmp_path: Path) -> None:
    figures = fuzz(FILES, tmp_path, seconds=SECONDS)

    assert figures.files > 10
    assert not figures.faults, "\n\n".join(figures.faults)
