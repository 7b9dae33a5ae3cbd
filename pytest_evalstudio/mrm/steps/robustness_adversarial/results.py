"""Id, artifacts and results of the step."""

from __future__ import annotations

from pytest_evalstudio.mrm.steps.test_generation.results import ADVERSARIAL

ID = ADVERSARIAL
SUITE = "adversarial_suite.json"
FIGURES = "adversarial.json"
PICTURE = "adversarial.svg"
