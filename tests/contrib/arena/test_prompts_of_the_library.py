"""The arena's prompts of the library: their number and categories, and that pytest leaves them out."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from pytest_evalstudio import TestSuite

FOLDER = Path(__file__).parents[3] / "example_suites" / "arena"
CATEGORIES = {
    "knowledge",
    "reasoning",
    "math",
    "coding",
    "writing",
    "recommendation",
    "harm_recognition",
}


def test_there_are_sixty_different_prompts_of_seven_categories() -> None:
    suite = TestSuite.load(FOLDER / "arena_prompts_suite.json")
    cases = [case for test in suite.tests for case in test.test_cases]
    categories = Counter(category for case in cases for category in case.categories)
    assert len({case.prompt for case in cases}) == len(cases) == 60
    assert set(categories) == CATEGORIES
    assert min(categories.values()) >= 7


def test_a_test_run_leaves_them_out() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", str(FOLDER)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "no tests collected" in result.stdout
