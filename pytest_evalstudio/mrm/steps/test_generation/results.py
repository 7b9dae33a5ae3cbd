"""Id, artifacts and results of the step."""

from __future__ import annotations

ID = "test_generation"
ADVERSARIAL = "robustness_adversarial"
"""Id of the step that asks the adversarial questions; it imports this package."""
SUITE = "tests_suite.json"
