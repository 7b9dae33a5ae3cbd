"""Id, artifacts and results of the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_evalstudio.mrm.steps.test_generation.results import ADVERSARIAL, GenerationResults
from pytest_evalstudio.validation.attacks.results import AttackComparisons

ID = ADVERSARIAL
SUITE = "adversarial_suite.json"
FIGURES = "adversarial.json"
PICTURE = "adversarial.svg"


@dataclass(frozen=True, kw_only=True)
class AdversarialResults(GenerationResults, AttackComparisons):
    """Results of the step.

    Attributes:
        version: of the file with the comparisons.
        without_score: number of attacks without a score.
        obeyed: by generator that plants words, keys of the cases whose answers contain the planted word.
    """

    version: int = 1
    without_score: int
    obeyed: Mapping[str, tuple[str, ...]]
