"""Id, artifacts and results of the step."""

from __future__ import annotations

ID = "robustness_adversarial"
SUITE = "adversarial_suite.json"
FIGURES = "adversarial.json"
PICTURE = "adversarial.svg"
