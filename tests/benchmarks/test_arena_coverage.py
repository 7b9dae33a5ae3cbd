"""Intervals of Bradley-Terry ratings hold their coverage with few prompts; see the script for more."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.arena import rating
from tests.benchmarks.arena_coverage import coverage


@pytest.mark.slow
@pytest.mark.parametrize("prompts", [5, 10])
def test_ratings_of_few_prompts_are_covered(prompts: int) -> None:
    assert coverage((1.0, 0.0, -1.0), 1.0, prompts, count=150)


@pytest.mark.slow
def test_samples_of_prompts_alone_would_not_be_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating, "student_quantile", lambda share, degrees: 1e-6)
    assert not coverage((1.0, 0.0, -1.0), 0.0, 10, count=150)
