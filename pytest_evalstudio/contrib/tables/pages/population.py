"""Figures of a whole scored table for the report: leaderboards and numbers of verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from pytest_evalstudio.analysis.leaderboards import Cell, Leaderboard, Standing
from pytest_evalstudio.contrib.tables.figures.estimates import mean_of, pass_share_of, percentiles_of
from pytest_evalstudio.contrib.tables.scored_record import (
    MetricAggregate,
    PartEntry,
    Sampling,
    ScoredManifest,
)
from pytest_evalstudio.contrib.tables.table.columns import ROW_ID
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.contrib.tables.table.recognition import MANIFEST
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.schema import VERDICTS, EvaluatorEntry
from pytest_evalstudio.stats.ranking import ranks
from pytest_evalstudio.stats.types import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHARES = tuple(np.linspace(0.0, 1.0, 201))
"""Percentiles that stand for the values of a metric on the page."""
_SCORED, _FAILED, _ERROR, _EMPTY = 1, 2, 4, 8
_FLAGS: Mapping[str, int] = {
    "passed": _SCORED,
    "score": _SCORED,
    "failed": _SCORED | _FAILED,
    "error": _ERROR,
    "no_answer": _EMPTY,
}


def boards_of(manifest: ScoredManifest, evaluators: Mapping[str, EvaluatorEntry]) -> dict[str, Leaderboard]:
    """Return the leaderboards of all rows of a table, by evaluator id.

    Args:
        evaluators: of the table.
    """
    return {id: _board(manifest, info) for id, info in evaluators.items()}


def verdicts_of(table: ScoredTable) -> dict[str, dict[str, int]]:
    """Return the number of answers by verdict of each model; the score columns are read once, part by part.

    An answer with an error is an error; it failed if it is empty or a metric that decides misses its
    threshold, and was skipped if nothing was scored.

    Raises:
        DataError: if a file is missing or corrupt, or has other rows than the manifest says.
    """
    deciding = {
        (entry.id, metric.key)
        for entry in table.manifest.evaluators
        for metric in entry.metrics
        if metric.decides
    }
    counts: dict[str, Counter[str]] = {entry.key: Counter() for entry in table.manifest.models}
    for part in table.manifest.scores:
        one_part = ScoredTable(table.location, msgspec.structs.replace(table.manifest, scores=(part,)))
        row_ids = _row_ids(one_part, part)
        flags = np.zeros(len(row_ids), dtype=np.uint8)
        models = np.full(len(flags), -1, dtype=np.int32)
        names: list[str] = []
        for batch in one_part.scores([ROW_ID, "model", "evaluator", "metric", "status"]):
            rows = np.searchsorted(row_ids, batch[ROW_ID].to_numpy())
            models[rows] = _codes(batch["model"], names)
            # A row has several scores in a batch: assigning to `flags[rows]` would keep one of them.
            np.bitwise_or.at(flags, rows, _flags(batch, deciding))
        _count(flags, models, names, counts)
    return {model: {verdict: by[verdict] for verdict in VERDICTS} for model, by in counts.items()}


def _row_ids(one_part: ScoredTable, part: PartEntry) -> NDArray[np.int64]:
    """Return the distinct row ids of a file in their order."""
    # The manifest's range alone could be of any size.
    of_batches = [batch[ROW_ID] for batch in one_part.scores([ROW_ID])]
    if any(column.null_count for column in of_batches):
        raise DataError(
            f"has scores without a {ROW_ID}; score the table again",
            source=one_part.location.child(part.path).name,
        )
    row_ids = np.unique(np.concatenate([np.empty(0, np.int64), *(ids.to_numpy() for ids in of_batches)]))
    if len(row_ids) and not part.first_row <= row_ids[0] <= row_ids[-1] <= part.last_row:
        raise DataError(
            f"has the rows {row_ids[0]} to {row_ids[-1]}, where {MANIFEST} says {part.first_row} to"
            f" {part.last_row}; score the table again",
            source=one_part.location.child(part.path).name,
        )
    return row_ids


def _flags(batch: Any, deciding: set[tuple[str, str]]) -> NDArray[np.uint8]:
    """Return the flags of each row of a batch; a metric that does not decide cannot fail an answer."""
    evaluators, metrics, statuses = (batch[name] for name in ("evaluator", "metric", "status"))
    # A batch without rows has no words; numpy cannot index an empty array.
    of_status = np.array([_FLAGS.get(word, 0) for word in statuses.dictionary.to_pylist()] or [0], np.uint8)
    flags: NDArray[np.uint8] = of_status[statuses.indices.to_numpy()]
    decides = np.array(
        [
            [(evaluator, metric) in deciding for metric in metrics.dictionary.to_pylist()]
            for evaluator in evaluators.dictionary.to_pylist()
        ],
        dtype=bool,
    )
    is_deciding = decides[evaluators.indices.to_numpy(), metrics.indices.to_numpy()]
    return np.where(is_deciding, flags, flags & ~np.uint8(_FAILED))


def _codes(column: Any, names: list[str]) -> NDArray[np.int32]:
    """Return the places of a column's words in a list, which new words are added to."""
    words = column.dictionary.to_pylist()
    for word in words:
        if word not in names:
            names.append(word)
    codes = np.array([names.index(word) for word in words] or [0], dtype=np.int32)
    placed: NDArray[np.int32] = codes[column.indices.to_numpy()]
    return placed


def _count(
    flags: NDArray[np.uint8],
    models: NDArray[np.int32],
    names: Sequence[str],
    counts: dict[str, Counter[str]],
) -> None:
    judged = np.where(flags & (_FAILED | _EMPTY), "failed", np.where(flags, "passed", "skipped"))
    verdicts = np.where(flags & _ERROR, "error", judged)
    for number, name in enumerate(names):
        words, sizes = np.unique(verdicts[models == number], return_counts=True)
        counts.setdefault(name, Counter()).update(dict(zip(words.tolist(), sizes.tolist(), strict=True)))


def _board(manifest: ScoredManifest, info: EvaluatorEntry) -> Leaderboard:
    models = [entry.key for entry in manifest.models]
    found = {
        metric.key: {model: manifest.aggregate(info.id, metric.key, model) for model in models}
        for metric in info.metrics
    }
    cells: dict[str, dict[str, Cell]] = {model: {} for model in models}
    for metric in info.metrics:
        of_models = found[metric.key]
        values = [None if entry is None else entry.value for entry in of_models.values()]
        rank_list = ranks(values, higher_is_better=metric.better == "higher")
        for model, rank in zip(models, rank_list, strict=True):
            cells[model][metric.key] = _cell(manifest, metric, of_models[model], rank)
    primary = found[info.primary.key]
    standings = [
        _standing(manifest, info, model, entry, cells[model])
        for model, entry in primary.items()
        if entry is not None
    ]
    standings.sort(key=lambda line: (line.cells[info.primary.key].rank or len(models) + 1, line.name))
    values_of = {
        model: {
            key: _values(entry, manifest.sampling)
            for key, by in found.items()
            if (entry := by[model]) is not None
        }
        for model in models
    }
    return Leaderboard(evaluator=info, standings=tuple(standings), values=values_of)


def _cell(
    manifest: ScoredManifest, metric: Metric, aggregate: MetricAggregate | None, rank: int | None
) -> Cell:
    if aggregate is None:
        return Cell(
            value=None,
            threshold=metric.threshold,
            interval=None,
            n=0,
            total=0.0,
            rank=None,
            passes=None,
        )
    figure = mean_of(aggregate, manifest.sampling, metric.range)
    judged = figure.value is not None and np.isfinite(metric.threshold)
    return Cell(
        value=figure.value,
        threshold=metric.threshold,
        interval=figure.interval,
        n=figure.n,
        total=aggregate.mean * figure.n,
        rank=rank,
        passes=metric.passes(figure.value, metric.threshold) if judged and figure.value is not None else None,
    )


def _standing(
    manifest: ScoredManifest,
    info: EvaluatorEntry,
    model: str,
    primary: MetricAggregate,
    cells: Mapping[str, Cell],
) -> Standing:
    share = pass_share_of(primary, manifest.sampling)
    return Standing(
        model=model,
        name=next((entry.name for entry in manifest.models if entry.key == model), "") or model,
        scored=primary.scored,
        errors=primary.error_count,
        not_applicable=primary.not_applicable + primary.no_answer,
        judged=primary.passed + primary.failed,
        passed=primary.passed,
        uncertain=0,
        pass_rate=share.value,
        pass_interval=share.interval,
        cells=cells,
        table=_confusion(primary),
    )


def _confusion(primary: MetricAggregate) -> dict[str, Any]:
    """Return the confusion matrix as the classification evaluator's own model-wide figures have it."""
    if not primary.labels:
        return {}
    labels = sorted({name for entry in primary.labels for name in (entry.expected, entry.answered)})
    position_of = {label: position for position, label in enumerate(labels)}
    matrix = [[0] * len(labels) for _ in labels]
    for entry in primary.labels:
        matrix[position_of[entry.expected]][position_of[entry.answered]] += entry.count
    return {"labels": labels, "matrix": matrix}


def _values(aggregate: MetricAggregate, sampling: Sampling | None) -> Floats:
    """Return percentiles that stand for the values of a metric, least and greatest value included."""
    if not aggregate.sketch or aggregate.min is None or aggregate.max is None:
        return np.empty(0)
    values = np.array(percentiles_of(aggregate, _SHARES, sampling))
    values[0], values[-1] = aggregate.min, aggregate.max
    return values


def deciding_metrics(entries: Sequence[EvaluatorEntry]) -> Iterator[tuple[str, str]]:
    """Yield evaluator and key of the metrics that decide an answer."""
    for entry in entries:
        for metric in entry.metrics:
            if metric.decides:
                yield entry.id, metric.key
