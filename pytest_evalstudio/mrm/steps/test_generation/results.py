"""Id, artifacts and results of the step."""

from __future__ import annotations

ID = "test_generation"
SUITE = "tests_suite.json"
