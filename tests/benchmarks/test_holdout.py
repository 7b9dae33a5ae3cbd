"""Fitting optimisers are flagged and an improving one is not; see the script for more repetitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.holdout import FITTING, figures_of, session_counts


@pytest.mark.parametrize("name", FITTING)
def test_optimisers_that_fit_the_open_half_are_flagged(name: str) -> None:
    figures = figures_of(name, repeats=5, cases=120)
    assert figures.flagged == 1.0
    # Of five suites, whose looks miss together: the script has the coverage.
    assert min(figures.coverage, figures.noisy_coverage) >= 0.8
    assert figures.open - figures.population > 0.3


def test_an_optimiser_that_improves_the_application_is_not_flagged() -> None:
    figures = figures_of("improve", repeats=4, cases=120)
    assert figures.flagged == 0.0
    assert figures.coverage >= 0.9
    assert figures.population > 0.4


def test_the_commands_count_as_the_benchmark_does(tmp_path: Path) -> None:
    in_memory, of_files = session_counts("memorise", 1, 120, tmp_path)
    assert (in_memory.open, in_memory.hidden) == (of_files.open, of_files.hidden)
