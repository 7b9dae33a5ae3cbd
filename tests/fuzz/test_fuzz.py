"""Parts of the fuzz tests; `python -m tests.fuzz` and tests/benchmarks/damaged_files.py run more of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.runner import fuzz
from fuzz.systematic import fuzz_systematically

FILES = 60
SECONDS = 10.0
NESTED = ("brackets", "nested lists", "nested objects", "nested arrays", "nested tables")


@pytest.mark.slow
def test_broken_files_of_every_kind_end_in_a_sentence(tmp_path: Path) -> None:
    figures = fuzz(FILES, tmp_path, seconds=SECONDS)

    assert figures.files > 10
    assert not figures.faults, "\n\n".join(figures.faults)


@pytest.mark.slow
def test_every_damage_of_a_file_ends_in_a_sentence(tmp_path: Path) -> None:
    figures = fuzz_systematically(tmp_path, stride=131, seconds=SECONDS)

    # The number of kinds follows from the speed of the machine; the benchmark takes all of them.
    assert figures.kinds > 1
    assert not figures.faults, "\n\n".join(figures.faults)


@pytest.mark.slow
def test_deep_nesting_in_a_file_of_any_kind_ends_in_a_sentence(tmp_path: Path) -> None:
    figures = fuzz_systematically(tmp_path, names=NESTED)

    assert figures.kinds > 50
    assert not figures.faults, "\n\n".join(figures.faults)
