"""Scored tables in text: a leaderboard of each evaluator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pytest_evalstudio.contrib.tables.figures.errors import error_lines
from pytest_evalstudio.contrib.tables.figures.estimates import Figure, mean_of, pass_share_of
from pytest_evalstudio.contrib.tables.scored_record import MetricAggregate, ScoredManifest
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.text.figures import figure, percent

NAME_CHARS = 34
HEAD = (
    f"  {'metric':<{NAME_CHARS}} {'model':<20} {'n':>11} {'mean':>9}"
    f"  {'95 % interval':<19} {'passed':>7}  errors"
)


def leaderboard_lines(manifest: ScoredManifest) -> list[str]:
    """Return the figures of each metric and model, the best model of a metric first, and the errors."""
    lines = []
    for evaluator in manifest.evaluators:
        lines += [evaluator.id, HEAD]
        primary = next((metric.key for metric in evaluator.metrics if metric.primary), "")
        passes = {entry.model: entry.value for entry in _aggregates(manifest, evaluator.id, primary)}
        for metric in evaluator.metrics:
            of_metric = _aggregates(manifest, evaluator.id, metric.key)
            if evaluator.boolean and not metric.primary and _are_mirrored(of_metric, passes):
                continue
            sign = -1 if metric.better == "higher" else 1
            of_metric.sort(key=lambda entry: (entry.value is None, sign * (entry.value or 0.0), entry.model))
            name = _named(metric)
            lines += [_line(name, entry, manifest, metric.range) for entry in of_metric]
        # An error is one of all metrics of an evaluator; the primary metric has each error once.
        lines += [f"  {line}" for line in error_lines(_aggregates(manifest, evaluator.id, primary))]
    lines += _empty_answer_lines(manifest)
    if manifest.sampling is not None:
        population = sum(stratum.population for stratum in manifest.sampling.strata)
        lines.append(
            f"estimates from a sample of {manifest.answers:,} of {population:,} rows in"
            f" {len(manifest.sampling.strata)} strata"
        )
    return lines


def _aggregates(manifest: ScoredManifest, evaluator: str, metric: str) -> list[MetricAggregate]:
    return [
        entry
        for entry in manifest.aggregates
        if not entry.group and (entry.evaluator, entry.metric) == (evaluator, metric)
    ]


def _are_mirrored(entries: Sequence[MetricAggregate], passes: Mapping[str, float | None]) -> bool:
    """Return True if all values are 1 minus the passes, or all are 0: the passes say as much."""
    pairs = [(entry.value, passes.get(entry.model)) for entry in entries]
    known = [(value, share) for value, share in pairs if value is not None and share is not None]
    mirrors = all(math.isclose(value + share, 1.0) for value, share in known)
    return mirrors or not any(value for value, _ in known)


def _empty_answer_lines(manifest: ScoredManifest) -> list[str]:
    """Return a line for each model with empty answers, which no evaluator of answers scores."""
    return [
        f"no answer: {count:,} of {manifest.rows_of(model):,} answers of {model} are empty"
        for model, count in manifest.empty_answers.items()
    ]


def _named(metric: Metric) -> str:
    """Return the name of a metric, with its threshold if a value can miss it."""
    worst = metric.range[0] if metric.better == "higher" else metric.range[1]
    if not math.isfinite(metric.threshold) or metric.threshold == worst:
        return metric.key
    return f"{metric.key} {'>=' if metric.better == 'higher' else '<='} {figure(metric.threshold)}"


def _line(name: str, entry: MetricAggregate, manifest: ScoredManifest, limits: tuple[float, float]) -> str:
    mean = mean_of(entry, manifest.sampling, limits)
    share = pass_share_of(entry, manifest.sampling)
    passed = "" if share.value is None else percent(share.value)
    return (
        f"  {name:<{NAME_CHARS}} {entry.model:<20} {mean.n:>11,} {_number(mean.value):>9}"
        f"  {_interval(mean):<19} {passed:>7}  {entry.error_count:,}"
    )


def _number(value: float | None) -> str:
    return "" if value is None else figure(value)


def _interval(figure: Figure) -> str:
    if figure.interval is None:
        return ""
    low, high = figure.interval
    return f"{_number(low)} to {_number(high)}"
