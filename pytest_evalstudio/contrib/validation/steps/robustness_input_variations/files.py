"""Id of the step and names of its files."""

from __future__ import annotations

ID = "robustness_input_variations"
SUITE = "variations_suite.json"
FLIPS = "flips.json"
PICTURE = "flips.svg"
