"""Thresholds as tables and the command line give them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
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
        grouped.setdefault(evaluator_id, {})[metric] = value
    return grouped


def thresholds_of(options: Mapping[str, object], spec: EvaluatorSpec, place: str) -> dict[str, float]:
    """Return metric key to threshold of an evaluator's table.

    Raises:
        ConfigurationError: for an unknown metric, or a threshold that is not a number.
    """
    thresholds: dict[str, float] = {}
    many = options.get("thresholds", {})
    if not isinstance(many, Mapping):
        raise ConfigurationError(f"{place}.thresholds: expected a table of metric = number, found {many!r}")
    for key, value in many.items():
        thresholds[metric_key(spec, str(key), f"{place}.thresholds")] = _number(
            value, f"{place}.thresholds.{key}"
        )
    if "threshold" in options:
        thresholds[spec.primary.key] = _number(options["threshold"], f"{place}.threshold")
    return thresholds


def metric_key(spec: EvaluatorSpec, name: str, place: str) -> str:
    """Return the key of a metric, that of the primary one for "".

    Raises:
        ConfigurationError: if the evaluator does not have it.
    """
    key = name or spec.primary.key
    if spec.metric(key) is None:
        raise ConfigurationError(
            f"{place}: {unknown_name('metric', key, [metric.key for metric in spec.metrics], _listed(spec))}"
        )
    return key


def _listed(spec: EvaluatorSpec) -> str:
    return f"{spec.id} has {', '.join(metric.key for metric in spec.metrics)}."


def _number(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ConfigurationError(f"{place}: expected a number, found {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ConfigurationError(f"{place}: the number is too large") from None
