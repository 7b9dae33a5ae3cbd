"""Id of the step and names of its files."""

from __future__ import annotations

ID = "test_validation"
VALIDATED = "validated_suite.json"
REJECTED = "rejected_suite.json"
SCORES = "validation.json"
