"""Leaderboard of each evaluator: value of each metric, confidence interval and rank of each model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field

from pytest_evalstudio.analysis.aggregators import Aggregator, ScoreAggregator
from pytest_evalstudio.core.errors import exception_text
from pytest_evalstudio.core.outcome_check import checked_figures
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.evaluator import Aggregates, ModelScore
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, Run
from pytest_evalstudio.stats.bootstrap import cluster_bootstrap_intervals
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.ranking import percentile, ranks
from pytest_evalstudio.stats.types import Floats, Interval

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.corrections import CorrectedRate

# A batch of bootstrapped columns has two arrays of so many floats, 32 MB each.
_ENTRIES_AT_ONCE = 4_000_000


class Cell(Struct, frozen=True, kw_only=True):
    """Figure of one model on one metric.

    Attributes:
        value: mean over the rows with a value, or the model-wide figure of an evaluator that has one; None
            without.
        threshold: limit for the value: the mean of the thresholds of the model's test cases.
        interval: 95 %; bootstrap over original cases for means, Wilson's for shares of passes; None where
            there is none.
        n: number of rows of the value.
        total: sum over them; of a boolean metric, the count.
        rank: 1 for the best; ties share one.
        passes: whether the value meets the threshold; None without a value or a finite threshold.
    """

    value: float | None
    threshold: float
    interval: Interval | None
    n: int
    total: float
    rank: int | None
    passes: bool | None


class Standing(Struct, frozen=True, kw_only=True):
    """Line of one model; rows count answers, verdicts count test cases (with all repeats).

    Attributes:
        uncertain: verdicts that a calibration leaves open: people may call the answer good or bad.
        pass_rate: share of judged verdicts that passed, None where none was judged.
        corrected: the same corrected for the judge's errors; None where they were not measured.
        table: what the evaluator's model-wide figures rest on, e.g. a confusion matrix.
        fault: why model-wide figures are missing, "" where they are not.
    """

    model: str
    name: str
    scored: int
    errors: int
    not_applicable: int
    judged: int
    passed: int
    uncertain: int
    pass_rate: float | None
    pass_interval: Interval | None
    cells: Mapping[str, Cell]
    table: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""
    corrected: CorrectedRate | None = None


class Leaderboard(Struct, frozen=True, kw_only=True):
    """Ranking of all models by one evaluator, the best on its primary metric first."""

    evaluator: EvaluatorEntry
    standings: tuple[Standing, ...]
    values: Mapping[str, Mapping[str, Floats]]
    """model key → metric key → values of its rows"""

    def standing(self, model: str) -> Standing | None:
        return next((line for line in self.standings if line.model == model), None)

    @property
    def columns(self) -> tuple[Metric, ...]:
        """Return the metrics without those that only mirror the primary one, e.g. failures beside passes."""
        info = self.evaluator
        return tuple(
            metric
            for metric in info.metrics
            if metric.primary or not (info.boolean and self._is_mirror(metric, info.primary))
        )

    def _is_mirror(self, metric: Metric, primary: Metric) -> bool:
        pairs = [(line.cells[metric.key], line.cells[primary.key]) for line in self.standings if line.scored]
        return bool(pairs) and all(cell.n == of.n and cell.total + of.total == of.n for cell, of in pairs)

    def percentile(self, model: str, metric: str, share: float) -> float | None:
        """Return a percentile of a model's rows on a metric, or None if no row has a value."""
        values = self.values.get(model, {}).get(metric)
        return None if values is None or not values.size else percentile(values, share)


def leaderboards(
    run: Run, items: Iterable[Item], aggregates: Mapping[str, Aggregates]
) -> dict[str, Leaderboard]:
    """Return the leaderboards of a run from its record's header and items, in one pass."""
    aggregator = Aggregator(run, aggregates)
    try:
        for item in items:
            aggregator.add(item)
        return build_leaderboards(aggregator, aggregates)
    finally:
        aggregator.close()


def build_leaderboards(
    aggregator: Aggregator, aggregates: Mapping[str, Aggregates]
) -> dict[str, Leaderboard]:
    """Return the leaderboards of the aggregated items, by evaluator id.

    Args:
        aggregates: evaluator id to the object whose `aggregate` gives its model-wide figures.
    """
    intervals = _bootstrap(aggregator)
    return {
        id: _leaderboard(info, aggregator, intervals, aggregates.get(id))
        for id, info in aggregator.evaluators.items()
    }


def _leaderboard(
    info: EvaluatorEntry,
    aggregator: Aggregator,
    intervals: Mapping[tuple[str, str, str], Interval | None],
    aggregate: Aggregates | None,
) -> Leaderboard:
    models = sorted(aggregator.models)
    originals = aggregator.cases.originals() if info.judge_check is not None else ()
    values = {model: _values(aggregator.scores[info.id].get(model)) for model in models}
    figures, faults = _model_wide(info, aggregator, models, aggregate)
    columns: dict[str, dict[str, Cell]] = {model: {} for model in models}
    for metric in info.metrics:
        cells_of_metric = [_figure(metric, values[model], figures.get(model)) for model in models]
        rank_list = ranks([value for value, _ in cells_of_metric], higher_is_better=metric.better == "higher")
        for model, (value, wide), rank in zip(models, cells_of_metric, rank_list, strict=True):
            numbers = values[model].get(metric.key, np.empty(0))
            interval = None if wide else _interval(info, numbers, intervals.get((info.id, model, metric.key)))
            scores = aggregator.scores[info.id].get(model, ScoreAggregator())
            columns[model][metric.key] = _cell(metric, value, interval, numbers, rank, scores, wide=wide)
    standings = [
        _standing(
            aggregator,
            info,
            model,
            columns[model],
            figures.get(model),
            faults.get(model, ""),
            originals,
        )
        for model in models
        if model in aggregator.scores[info.id]
    ]
    standings.sort(key=lambda line: (line.cells[info.primary.key].rank or math.inf, line.name, line.model))
    return Leaderboard(evaluator=info, standings=tuple(standings), values=values)


def _values(scores: ScoreAggregator | None) -> dict[str, Floats]:
    """Return the values by metric, without the rows that have none; those of `scores` itself if all have."""
    if scores is None:
        return {}
    columns = {key: np.asarray(column, dtype=np.float64) for key, column in scores.values.items()}
    missing = {key: np.isnan(column) for key, column in columns.items()}
    return {key: column[~missing[key]] if missing[key].any() else column for key, column in columns.items()}


def _model_wide(
    info: EvaluatorEntry, aggregator: Aggregator, models: list[str], aggregate: Aggregates | None
) -> tuple[dict[str, ModelScore], dict[str, str]]:
    figures: dict[str, ModelScore] = {}
    faults: dict[str, str] = {}
    if aggregate is None or info.id not in aggregator.spool:
        return figures, faults
    for model in models:
        if not aggregator.scores[info.id].get(model, ScoreAggregator()).scored:
            continue
        try:
            score = aggregate.aggregate(aggregator.spool.rows(info.id, model))
            figures[model] = checked_figures({metric.key: metric for metric in info.metrics}, score)
        except Exception as exc:  # other people's code: the run's report must outlive it, and says so
            faults[model] = f"model-wide figures could not be computed: {exception_text(exc)}"
    return figures, faults


def _figure(
    metric: Metric, values: Mapping[str, Floats], wide: ModelScore | None
) -> tuple[float | None, bool]:
    """Return the metric's value for a model, and True if it is a model-wide figure, not a mean of rows."""
    mean = _mean(values.get(metric.key))
    score = None if wide is None else wide.scores.get(metric.key)
    if score is None or math.isnan(score):
        return mean, False
    # A figure that is the mean of the rows keeps the interval of that mean.
    return float(score), mean is None or not math.isclose(mean, score, abs_tol=1e-12)


def _mean(numbers: Floats | None) -> float | None:
    if numbers is None or not numbers.size:
        return None
    # fsum raises ValueError for infinities of both signs; NumPy gives NaN, which has no mean.
    total = math.fsum(numbers) if np.isfinite(numbers).all() else float(numbers.sum())
    return None if math.isnan(total) else total / numbers.size


def _interval(info: EvaluatorEntry, numbers: Floats, bootstrapped: Interval | None) -> Interval | None:
    """Return Wilson's interval for a share of passes, else the bootstrap interval."""
    if info.boolean and numbers.size and bool(np.isin(numbers, (0.0, 1.0)).all()):
        return wilson_interval(int(numbers.sum()), int(numbers.size))
    return bootstrapped


def _cell(
    metric: Metric,
    value: float | None,
    interval: Interval | None,
    numbers: Floats,
    rank: int | None,
    scores: ScoreAggregator,
    *,
    wide: bool,
) -> Cell:
    threshold = scores.threshold(metric)
    judged = value is not None and math.isfinite(threshold)
    return Cell(
        value=value,
        threshold=threshold,
        interval=interval,
        n=scores.scored if wide else int(numbers.size),
        total=float(numbers.sum()) if numbers.size else 0.0,
        rank=rank,
        passes=metric.passes(value, threshold) if judged and value is not None else None,
    )


def _standing(
    aggregator: Aggregator,
    info: EvaluatorEntry,
    model: str,
    cells: Mapping[str, Cell],
    wide: ModelScore | None,
    fault: str,
    originals: Sequence[int],
) -> Standing:
    scores = aggregator.scores[info.id][model]
    return Standing(
        model=model,
        name=aggregator.run.model_name(model),
        scored=scores.scored,
        errors=scores.errors,
        not_applicable=scores.not_applicable,
        judged=scores.judged,
        passed=scores.passed,
        uncertain=scores.uncertain,
        pass_rate=scores.passed / scores.judged if scores.judged else None,
        pass_interval=wilson_interval(scores.passed, scores.judged) if scores.judged else None,
        cells=cells,
        table=dict(wide.table) if wide is not None else {},
        fault=fault,
        corrected=_corrected(info, scores, originals),
    )


def _corrected(
    info: EvaluatorEntry, scores: ScoreAggregator, originals: Sequence[int]
) -> CorrectedRate | None:
    if info.judge_check is None:
        return None
    from pytest_evalstudio.analysis.corrections import corrected_rate  # most evaluators have no judge

    return corrected_rate(info, scores, originals)


def _bootstrap(aggregator: Aggregator) -> dict[tuple[str, str, str], Interval | None]:
    """Return the bootstrap intervals of all means that do not get Wilson's interval.

    All of them use the same draws of original cases.
    """
    cases = np.array(aggregator.cases.originals(), dtype=np.int64)
    ordered = np.sort(cases)
    distinct = ordered[np.flatnonzero(np.diff(ordered, prepend=-1))]
    originals, clusters = np.searchsorted(distinct, cases), len(distinct)
    columns = [
        (id, model, key)
        for id, info in aggregator.evaluators.items()
        for model, scores in sorted(aggregator.scores[id].items())
        for key, column in sorted(scores.values.items())
        if len(column) and not _is_share(info, column)
    ]
    intervals: dict[tuple[str, str, str], Interval | None] = {}
    width = max(1, _ENTRIES_AT_ONCE // max(1, clusters))
    for start in range(0, len(columns), width):
        batch = columns[start : start + width]
        sums, counts = np.zeros((clusters, len(batch))), np.zeros((clusters, len(batch)))
        for position, (id, model, key) in enumerate(batch):
            scores = aggregator.scores[id][model]
            numbers = np.asarray(scores.values[key], dtype=np.float64)
            finite = np.isfinite(numbers)
            groups = originals[np.array(scores.cases, dtype=np.int64)[finite]]
            sums[:, position] = np.bincount(groups, weights=numbers[finite], minlength=clusters)
            counts[:, position] = np.bincount(groups, minlength=clusters)
        intervals.update(zip(batch, cluster_bootstrap_intervals(sums, counts), strict=True))
    return intervals


def _is_share(info: EvaluatorEntry, column: Iterable[float]) -> bool:
    return info.boolean and all(value in (0.0, 1.0) for value in column)
