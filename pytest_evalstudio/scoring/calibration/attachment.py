"""Attachment of a calibration to an evaluator, whose primary metric becomes the probability."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct, structs

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.scoring.calibration.conformal import ConformalSet, conformal_set
from pytest_evalstudio.scoring.calibration.curve import threshold
from pytest_evalstudio.scoring.calibration.file import PROBABILITY, Calibration, load_calibration


class Attached(Struct, frozen=True, kw_only=True):
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

    def conformal_set(self, scores: Mapping[str, float | None]) -> ConformalSet | None:
        """Return the conformal set of the calibrated probability among the scores, if any."""
        likelihood = scores.get(PROBABILITY)
        return None if likelihood is None else conformal_set(self.calibration.conformal, likelihood)

    def uncalibrated_thresholds(self, thresholds: Mapping[str, float]) -> dict[str, float]:
        """Return the threshold of a single metric that corresponds to the one of the probability."""
        limit = threshold(self.calibration, thresholds.get(PROBABILITY, self.calibration.cut))
        return {} if limit is None else {self.calibration.metrics[0].metric: limit}


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
        raise ConfigurationError(
            f"{file} calibrates {', '.join(calibration.keys)}, but no metric of {id}; give a"
            f" calibration of {id}"
        )
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
            *(structs.replace(metric, primary=False) for metric in spec.metrics),
        ),
    )


def check_metric(spec: EvaluatorSpec, key: str, better: str, file: str) -> None:
    """Check that an evaluator has a metric that a calibration takes.

    Raises:
        ConfigurationError: if it has none, or one of the other direction.
    """
    metric = spec.metric(key)
    if metric is None or key == PROBABILITY:
        names = ", ".join(metric.key for metric in spec.metrics if metric.key != PROBABILITY)
        raise ConfigurationError(
            f"{file} needs the metric {key!r} of {spec.id}, which only has {names}; calibrate again"
        )
    if metric.better != better:
        raise ConfigurationError(
            f"{file} was made when {better} values of {key!r} of {spec.id} were better; now"
            f" {metric.better} values are better. Calibrate again"
        )


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


class WithCalibration(Protocol):
    """An evaluator that may have a calibration."""

    @property
    def id(self) -> str:
        """Return the id of the evaluator."""

    @property
    def spec(self) -> EvaluatorSpec:
        """Return its declaration."""

    @property
    def attached(self) -> Attached | None:
        """Return its calibration, None without one."""


def check_together(selected: Iterable[WithCalibration]) -> None:
    """Check that evaluators whose scores a calibration takes are chosen together with it.

    Raises:
        ConfigurationError: naming the one that is missing.
    """
    evaluators = {each.id: each for each in selected}
    for each in evaluators.values():
        for metric in each.attached.calibration.metrics if each.attached is not None else ():
            if metric.evaluator not in evaluators:
                raise ConfigurationError(
                    f"evaluator {each.id}: its calibration {each.attached.file if each.attached else ''}"
                    f" needs {metric.key}, but evaluator {metric.evaluator!r} is not selected; add it to the"
                    " evaluators"
                )
            check_metric(
                evaluators[metric.evaluator].spec,
                metric.metric,
                metric.better,
                each.attached.file if each.attached else "",
            )
