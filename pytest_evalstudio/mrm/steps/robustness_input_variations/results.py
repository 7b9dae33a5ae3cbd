"""Id, artifacts and results of the step."""

from __future__ import annotations

ID = "robustness_input_variations"
SUITE = "variations_suite.json"
FLIPS = "flips.json"
PICTURE = "flips.svg"
