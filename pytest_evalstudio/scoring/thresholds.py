"""Thresholds as tables and the command line give them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.outcomes import out_of_range
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec


def parse_threshold(text: str) -> tuple[str, float]:
    """Return `ID[.METRIC]=X` of the command line as (name, threshold).

    Raises:
        ConfigurationError: if it is not of that form.
    """
    name, sign, number = text.partition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not sign or not name.strip() or math.isnan(value):
        raise ConfigurationError(
            f"--evalstudio-threshold {text!r}: expected ID=NUMBER or ID.METRIC=NUMBER, e.g. rouge=0.4 or"
            " rouge.rouge_1=0.5"
        )
    return name.strip(), value


def by_evaluator(thresholds: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return evaluator id to metric key to threshold, "" for the primary metric, of `ID[.METRIC]` names."""
    grouped: dict[str, dict[str, float]] = {}
    for name, value in thresholds.items():
        evaluator_id, _, metric = name.partition(".")
        if "." in metric:
            from pytest_evalstudio.core.guide_names import class_and_metric

            evaluator_id, metric = class_and_metric(name) or (evaluator_id, metric)
        grouped.setdefault(evaluator_id, {})[metric] = value
    return grouped


def thresholds_of(options: Mapping[str, object], spec: EvaluatorSpec, location: str) -> dict[str, float]:
    """Return metric key to threshold of an evaluator's table.

    Raises:
        ConfigurationError: for an unknown metric, a threshold that is not a number, or a finite one outside
            the metric's range.
    """
    thresholds: dict[str, float] = {}
    many = options.get("thresholds", {})
    if not isinstance(many, Mapping):
        raise ConfigurationError(
            f"{location}.thresholds: expected a table of metric = number, found {many!r}"
        )
    for key, value in many.items():
        metric = metric_key(spec, str(key), f"{location}.thresholds")
        thresholds[metric] = _threshold(spec, metric, value, f"{location}.thresholds.{key}")
    if "threshold" in options:
        primary = spec.primary.key
        thresholds[primary] = _threshold(spec, primary, options["threshold"], f"{location}.threshold")
    return thresholds


def named_thresholds(thresholds: Mapping[str, float], spec: EvaluatorSpec, location: str) -> dict[str, float]:
    """Return metric key to threshold of one evaluator's entry of `by_evaluator`.

    Raises:
        ConfigurationError: for an unknown metric, or a finite threshold outside the metric's range.
    """
    metrics = {metric_key(spec, name, location): value for name, value in thresholds.items()}
    return {key: _threshold(spec, key, value, location) for key, value in metrics.items()}


def metric_key(spec: EvaluatorSpec, name: str, location: str) -> str:
    """Return the key of a metric, that of the primary one for "".

    Raises:
        ConfigurationError: if the evaluator does not have it.
    """
    key = name or spec.primary.key
    if spec.metric(key) is None:
        fault = unknown_name("metric", key, [metric.key for metric in spec.metrics], _listed(spec))
        raise ConfigurationError(f"{location}: {fault}")
    return key


def _listed(spec: EvaluatorSpec) -> str:
    return f"{spec.id} has {', '.join(metric.key for metric in spec.metrics)}."


def _threshold(spec: EvaluatorSpec, key: str, value: object, location: str) -> float:
    threshold = _number(value, location)
    metric = spec.metric(key)
    if metric is not None and (fault := out_of_range(key, threshold, metric.range)):
        raise ConfigurationError(f"{location}: {fault}")
    return threshold


def _number(value: object, location: str) -> float:
    # NaN alone differs from itself.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ConfigurationError(f"{location}: expected a number, found {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ConfigurationError(f"{location}: the number is too large") from None
