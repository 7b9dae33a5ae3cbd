"""The record's header as types: which evaluators and models a run had."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_evalstudio.core.outcomes import Metric

Kind = Literal["bool", "classification", "heatmap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorInfo:
    """What the header says of one evaluator.

    Attributes:
        id: its name in this run; an instance of its own has another one than its type.
        asserted: keys of the metrics that decide items.
        embedder: the embedding model that its scores and thresholds are of, "" for none.
        judge: models, vote and versions of the prompts that its scores come from; empty for none.
        calibration: by which its primary metric is a probability; empty for none.
    """

    id: str
    type: str
    name: str
    metrics: tuple[Metric, ...]
    asserted: frozenset[str]
    description: str = ""
    domain: str = ""
    method: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    scope: str = "row"
    boolean: bool = False
    model_types: tuple[str, ...] = ()
    parameters: Mapping[str, Any]
    embedder: str = ""
    judge: Mapping[str, Any] = field(default_factory=dict)
    calibration: Mapping[str, Any] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    problem_type: str = "accuracy"
    avid: str = "P0200"

    @property
    def primary(self) -> Metric:
        return next((metric for metric in self.metrics if metric.primary), self.metrics[0])

    @property
    def sentence_metric(self) -> Metric:
        """The metric that stretches of answers are scored by: the primary one, or the one that a calibration put a probability in place of."""
        return next((metric for metric in self.metrics if metric.key == self.calibration.get("of")), self.primary)

    @property
    def kind(self) -> Kind:
        if self.boolean:
            return "bool"
        return "classification" if self.domain == "classification" else "heatmap"

    @property
    def judged_metrics(self) -> tuple[Metric, ...]:
        """Metrics with a threshold that says something of its own: a boolean evaluator's others are complements."""
        metrics = (self.primary,) if self.boolean else self.metrics
        return tuple(metric for metric in metrics if math.isfinite(metric.threshold))

    @property
    def flip_metrics(self) -> tuple[Metric, ...]:
        """Metrics whose pass state is compared between a question and its perturbations."""
        return tuple(metric for metric in self.judged_metrics if metric.primary or self.kind == "heatmap")


def evaluators_of(header: Mapping[str, Any]) -> dict[str, EvaluatorInfo]:
    """The run's evaluators by id, in the header's order."""
    return {id: _evaluator(id, entry) for id, entry in header.get("evaluators", {}).items()}


def model_name(header: Mapping[str, Any], key: str) -> str:
    """The label of a model for people; its key where it has none."""
    return str(header.get("models", {}).get(key, {}).get("name") or key)


def number(value: Any) -> float:
    """A number of the record, in which infinities are strings.

    >>> number("-Infinity"), number(1)
    (-inf, 1.0)
    """
    return float(value)


def _evaluator(id: str, entry: Mapping[str, Any]) -> EvaluatorInfo:
    return EvaluatorInfo(
        id=id,
        type=entry.get("type", id),
        name=entry.get("name") or id,
        metrics=tuple(_metric(metric) for metric in entry["metrics"]),
        asserted=frozenset(metric["key"] for metric in entry["metrics"] if metric.get("asserted")),
        description=entry.get("description", ""),
        domain=entry.get("domain", ""),
        method=tuple(entry.get("method", ())),
        needs=tuple(entry.get("needs", ())),
        scope=entry.get("scope", "row"),
        boolean=bool(entry.get("boolean")),
        model_types=tuple(entry.get("model_types", ())),
        parameters=entry.get("parameters", {}),
        embedder=entry.get("embedder", ""),
        judge=entry.get("judge", {}),
        calibration=entry.get("calibration", {}),
        keywords=tuple(entry.get("keywords", ())),
        problem_type=entry.get("problem_type", "accuracy"),
        avid=entry.get("avid", "P0200"),
    )


def _metric(entry: Mapping[str, Any]) -> Metric:
    low, high = entry.get("range", (0.0, 1.0))
    return Metric(
        key=entry["key"],
        name=entry.get("name") or entry["key"],
        better=entry.get("better", "higher"),
        range=(number(low), number(high)),
        threshold=number(entry.get("threshold", 0.75)),
        primary=bool(entry.get("primary")),
        description=entry.get("description", ""),
    )
