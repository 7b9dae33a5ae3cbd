"""Evaluators with a calibration: their verdict is by the probability that people call the answer good."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.engine.scoring.calibration import conformal_set as set_of
from pytest_evalstudio.engine.scoring.calibration import is_uncertain, level_set, probability
from pytest_evalstudio.formats.calibration import Calibration, load_calibration

if TYPE_CHECKING:
    from pytest_evalstudio.engine.scoring.plan import ConfiguredEvaluator

PROBABILITY = "calibrated_probability"
"""Key of the metric that takes the primary one's place."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """A calibration that an evaluator has.

    Attributes:
        file: as the configuration names it.
        sha256: of the file's content.
        of: key of the metric that was the evaluator's primary one.
    """

    calibration: Calibration
    file: str
    sha256: str
    of: str

    def describe(self) -> dict[str, object]:
        """Return the description of the calibration for the record's header."""
        saved = self.calibration
        conformal = saved.conformal
        return {
            "file": self.file,
            "sha256": self.sha256,
            "of": self.of,
            "method": saved.method,
            "metrics": saved.keys,
            "labels": saved.labels + conformal.labels,
            "alpha": conformal.alpha,
            "quantile": conformal.quantile,
            "coverage": conformal.kind,
            "cut": saved.cut,
            "figures": saved.figures,
        }


def attach(
    id: str, spec: EvaluatorSpec, path: Path, file: str, embedder: str
) -> tuple[Attached, EvaluatorSpec]:
    """Load an evaluator's calibration.

    Args:
        path: path of the file.
        file: as the configuration names it.
        embedder: the embedding model of this run.

    Returns:
        It, and the evaluator's declaration with the probability as its primary metric.

    Raises:
        ConfigurationError: if it cannot be read, or belongs to another evaluator.
    """
    if spec.boolean or spec.scope == "model" or spec.aggregates:
        why = "it says passed or failed, not how much" if spec.boolean else "its figures are of a whole model"
        raise ConfigurationError(f"evaluator {id} cannot have a calibration: {why}")
    calibration = load_calibration(path)
    own_metrics = [metric for metric in calibration.metrics if metric.evaluator == id]
    if not own_metrics:
        raise ConfigurationError(f"{file} calibrates {', '.join(calibration.keys)}, and no metric of {id}")
    for metric in own_metrics:
        check_metric(spec, metric.metric, metric.better, file)
    for metric in calibration.metrics:
        if metric.embedder and metric.embedder != embedder:
            raise ConfigurationError(
                f"{file} was made with scores of the embedder {metric.embedder!r}, and this run has"
                f" {embedder!r}: calibrate again, or, if it is the same model under another name, write that"
                " name into the file"
            )
    attached = Attached(
        calibration=calibration,
        file=file,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        of=spec.primary.key,
    )
    return attached, dataclasses.replace(
        spec,
        metrics=(
            _metric(calibration),
            *(dataclasses.replace(metric, primary=False) for metric in spec.metrics),
        ),
    )


def check_metric(spec: EvaluatorSpec, key: str, better: str, file: str) -> None:
    """Check that an evaluator has a metric that a calibration takes.

    Raises:
        ConfigurationError: if it has none, or one of the other direction.
    """
    metric = spec.metric(key)
    if metric is None or key == PROBABILITY:
        known = ", ".join(metric.key for metric in spec.metrics if metric.key != PROBABILITY)
        raise ConfigurationError(
            f"{file} takes the metric {key!r} of {spec.id}, which has {known}; calibrate again"
        )
    if metric.better != better:
        raise ConfigurationError(
            f"{file} takes {key!r} of {spec.id} for one of which {better} is better, and {metric.better} is;"
            " calibrate again"
        )


def check_together(selected: Iterable[ConfiguredEvaluator]) -> None:
    """Check that evaluators whose scores a calibration takes are chosen together with it.

    Raises:
        ConfigurationError: naming the one that is missing.
    """
    chosen = {each.id: each for each in selected}
    for each in chosen.values():
        for metric in each.attached.calibration.metrics if each.attached is not None else ():
            if metric.evaluator not in chosen:
                raise ConfigurationError(
                    f"evaluator {each.id}: its calibration {each.attached.file if each.attached else ''}"
                    f" takes {metric.key}, and evaluator {metric.evaluator!r} is not chosen with it; add it"
                    " to the evaluators"
                )
            check_metric(
                chosen[metric.evaluator].spec,
                metric.metric,
                metric.better,
                each.attached.file if each.attached else "",
            )


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
        given = by_id[metric.evaluator]
        if given.status == "error":
            return dataclasses.replace(
                uncalibrated,
                status="error",
                scores=NOTHING,
                reason=f"its calibration takes {metric.key}: {given.reason}",
            )
        score = given.scores.get(metric.metric)
        if score is None or not math.isfinite(score):
            why = f": {given.reason}" if given.status == "not_applicable" else ""
            return dataclasses.replace(
                uncalibrated,
                status="not_applicable",
                scores=NOTHING,
                reason=f"its calibration takes {metric.key}, which has no finite value here{why}",
            )
        scores.append(score)
    chance = probability(attached.calibration.curve, scores)
    labels = set_of(attached.calibration.conformal, chance)
    levels = level_set(attached.calibration, scores)
    details = {
        **uncalibrated.details,
        "calibration": {
            "conformal_set": list(labels),
            "uncertain": is_uncertain(labels),
            **({} if levels is None else {"conformal_levels": list(levels)}),
        },
    }
    return dataclasses.replace(
        uncalibrated, scores={PROBABILITY: chance, **uncalibrated.scores}, details=details
    )


def conformal_set(
    selected: ConfiguredEvaluator, scores: Mapping[str, float | None]
) -> tuple[int, ...] | None:
    """Return the prediction set of labels for the calibrated probability among the scores, if any."""
    chance = scores.get(PROBABILITY)
    if selected.attached is None or chance is None:
        return None
    return set_of(selected.attached.calibration.conformal, chance)


def uncertain_words(selected: ConfiguredEvaluator, labels: tuple[int, ...] | None) -> str:
    """Return why a verdict is uncertain, or "" if it is not."""
    if labels is None or selected.attached is None:
        return ""
    return doubt(labels, selected.attached.calibration.conformal.alpha)


def doubt(labels: Sequence[int], alpha: float) -> str:
    """Return why a prediction set leaves a verdict uncertain, or "" if it does not.

    Args:
        labels: labels of the prediction set, 1 for good, 0 for bad.
        alpha: share of sets that may not contain people's label.

    >>> doubt([0, 1], 0.1), doubt([1], 0.1)
    ('uncertain: both good and bad are in the 0.9 prediction set', '')
    """
    if not is_uncertain(labels):
        return ""
    either = "both good and bad are" if labels else "neither good nor bad is"
    return f"uncertain: {either} in the {1 - alpha:.4g} prediction set"


def _metric(calibration: Calibration) -> Metric:
    return Metric(
        key=PROBABILITY,
        name="Calibrated probability",
        threshold=calibration.cut,
        primary=True,
        description=(
            f"Probability that people call the answer good, from {', '.join(calibration.keys)}"
            f" ({calibration.method} calibration)."
        ),
    )
