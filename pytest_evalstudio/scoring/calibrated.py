"""Evaluators with a calibration: their verdict is by the probability that people call the answer good."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.scoring.calibration.conformal import conformal_set, has_levels
from pytest_evalstudio.scoring.calibration.curve import level_probabilities, probability
from pytest_evalstudio.scoring.calibration.file import PROBABILITY, Conformal, Curve

if TYPE_CHECKING:
    from pytest_evalstudio.scoring.plan import ConfiguredEvaluator


def calibrated(selected: ConfiguredEvaluator, outcomes: Mapping[ConfiguredEvaluator, Outcome]) -> Outcome:
    """Return an outcome with the calibrated probability among its scores.

    If a metric of the calibration has no value, the outcome is not applicable; it is an error if the
    metric's evaluator returned an error.

    Args:
        outcomes: original outcomes of all evaluators for the same answer.
    """
    uncalibrated, attached = outcomes[selected], selected.attached
    if attached is None or uncalibrated.status != "score":
        return uncalibrated
    by_id = {other.id: outcome for other, outcome in outcomes.items()}
    scores = []
    for metric in attached.calibration.metrics:
        outcome = by_id[metric.evaluator]
        if outcome.status == "error":
            return structs.replace(
                uncalibrated,
                status="error",
                scores=NOTHING,
                reason=f"its calibration takes {metric.key}: {outcome.reason}",
            )
        score = outcome.scores.get(metric.metric)
        if score is None or not math.isfinite(score):
            why = f": {outcome.reason}" if outcome.status == "not_applicable" else ""
            return structs.replace(
                uncalibrated,
                status="not_applicable",
                scores=NOTHING,
                reason=f"its calibration takes {metric.key}, which has no finite value here{why}",
            )
        scores.append(score)
    curve = attached.calibration.curve
    likelihood = probability(curve, scores)
    possible = conformal_set(attached.calibration.conformal, likelihood, curve, scores)
    calibration = {
        "conformal_set": list(possible.labels),
        "uncertain": possible.is_uncertain,
        **_level_details(curve, scores, attached.calibration.conformal),
    }
    if possible.levels is not None:
        calibration["conformal_levels"] = list(possible.levels)
    return structs.replace(
        uncalibrated,
        scores={PROBABILITY: likelihood, **uncalibrated.scores},
        details={**uncalibrated.details, "calibration": calibration},
    )


def _level_details(curve: Curve, scores: Sequence[float], conformal: Conformal) -> dict[str, object]:
    """Return the probability of each level and the likeliest one; nothing for a curve without levels."""
    if conformal.levels is None or not has_levels(curve):
        return {}
    shares = level_probabilities(curve, scores, min(conformal.levels))
    return {
        "level_probabilities": {str(level): share for level, share in shares.items()},
        "likeliest_level": max(shares, key=shares.__getitem__),
    }
