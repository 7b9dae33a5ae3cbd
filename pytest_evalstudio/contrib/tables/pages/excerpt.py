"""Rows of a scored table as the record of a run, for everything that reads records."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from pytest_evalstudio.contrib.tables.pages.population import deciding_metrics
from pytest_evalstudio.contrib.tables.scored_record import AnswerRow, ScoredManifest
from pytest_evalstudio.contrib.tables.table.columns import ROW_ID
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.contrib.tables.table.storage import EXTRA, PURPOSE
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.numbers import DEFAULT_SEED
from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.record.schema import (
    SCHEMA_VERSION,
    FileEntry,
    Item,
    RecordRow,
    Run,
    RunSettings,
    VerdictWord,
)
from pytest_evalstudio.record.writer import RecordWriter
from pytest_evalstudio.text.figures import figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EMPTY_STATUS = "no_answer"
"""Status of an empty answer, where the evaluator reads answers."""
_NO_ANSWER_REASON = "no answer: the text is empty"
_BLOCK = 5_000
"""Rows that are turned into items together."""
_ROW_NAME = re.compile(r"row-(\d+)")


@dataclass(slots=True)
class _Scores:
    """Scores of one answer.

    Attributes:
        metrics: (evaluator, metric) to value and status.
        texts: evaluator to code and reason of what was not scored.
    """

    model: str
    metrics: dict[tuple[str, str], tuple[float | None, str]] = field(default_factory=dict)
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)


def worst_rows_of(manifest: ScoredManifest) -> list[int]:
    """Return the rows that are the worst of a model on a metric that decides, the worst of each first.

    Metrics that no answer misses have none.
    """
    deciding = set(deciding_metrics(manifest.evaluators))
    ranked = [
        (rank, row.row_id)
        for entry in manifest.aggregates
        if not entry.group and entry.failed and (entry.evaluator, entry.metric) in deciding
        for rank, row in enumerate(entry.worst)
    ]
    return list(dict.fromkeys(row for _, row in sorted(ranked)))


def error_rows_of(manifest: ScoredManifest) -> set[int]:
    """Return the first row with each error of an evaluator, for each model."""
    return {
        example.row_id
        for entry in manifest.aggregates
        if not entry.group
        for example in entry.error_examples.values()
    }


def random_rows(table: ScoredTable, size: int, *, seed: int = DEFAULT_SEED) -> set[int]:
    """Return row ids drawn at random, each scored answer with the same probability.

    The same rows are drawn whatever the order and the size of the files. Memory is bounded by the sample.

    Args:
        size: rows to draw; all where the table has fewer.
    """
    smallest = np.empty(0, dtype=np.int64)
    for part in table.manifest.scores:
        first = _first_metric(table, part.path)
        smallest = _least(np.concatenate([smallest, first]), size, seed)
    return set(smallest.tolist())


def rows_with_keys(table: ScoredTable, keys: Collection[str]) -> set[int]:
    """Return the rows whose key is one of the given ones; an answer without a key is `row-N`."""
    key_set = set(keys)
    compute = import_extra("pyarrow.compute", PURPOSE, extra=EXTRA)
    pa = import_extra("pyarrow", PURPOSE, extra=EXTRA)
    values = pa.array(sorted(key_set), pa.string())
    rows = {int(match[1]) for key in key_set if (match := _ROW_NAME.fullmatch(key))}
    for batch in table.answers([ROW_ID, "key"]):
        mask = compute.is_in(batch["key"], value_set=values)
        rows.update(batch.filter(mask)[ROW_ID].to_pylist())
    return rows


def write_excerpt(
    table: ScoredTable, rows: Collection[int], folder: Path, *, first: Sequence[int] = ()
) -> Path:
    """Write rows of a table as the record of a run, and return its path.

    Args:
        rows: row ids; those that the table does not have are left out.
        folder: of the record.
        first: rows that come first in the record, in this order; the others follow as in the table.
    """
    writer = RecordWriter(folder, run_of(table))
    ordered = sorted(rows)
    indexes = {row: index for index, row in enumerate(dict.fromkeys((*first, *ordered)))}
    try:
        for row, item in _items(table, ordered):
            writer.append_item(msgspec.structs.replace(item, index=indexes[row]))
        return writer.finish(writer.run)
    finally:
        writer.close()


def _items(table: ScoredTable, rows: Sequence[int]) -> Iterator[tuple[int, Item]]:
    manifest = table.manifest
    deciding = set(deciding_metrics(manifest.evaluators))
    identities: set[tuple[str, str, str]] = set()
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        scores = _scores_of(table, block)
        answers = table.answers_of(block)
        for row in block:
            if row in scores:
                yield row, _item(table, row, scores[row], answers.get(row), deciding, identities)


def _scores_of(table: ScoredTable, rows: Sequence[int]) -> dict[int, _Scores]:
    dataset = import_extra("pyarrow.dataset", PURPOSE, extra=EXTRA)
    columns = [ROW_ID, "model", "evaluator", "metric", "value", "status", "code", "reason"]
    scores_of_row: dict[int, _Scores] = {}
    narrowed = _narrowed(table, rows)
    for batch in narrowed.scores(columns, dataset.field(ROW_ID).isin(list(rows))):
        for entry in batch.to_pylist():
            scores = scores_of_row.setdefault(entry[ROW_ID], _Scores(entry["model"]))
            scores.metrics[entry["evaluator"], entry["metric"]] = entry["value"], entry["status"]
            if entry["code"] or entry["reason"]:
                scores.texts[entry["evaluator"]] = entry["code"] or "", entry["reason"] or ""
    return scores_of_row


def _narrowed(table: ScoredTable, rows: Sequence[int]) -> ScoredTable:
    """Return a table with the files only that have any of the rows, which are sorted."""
    ordered = np.asarray(rows, dtype=np.int64)
    parts = tuple(
        part
        for part in table.manifest.scores
        if np.searchsorted(ordered, part.first_row) < np.searchsorted(ordered, part.last_row, side="right")
    )
    return ScoredTable(table.location, msgspec.structs.replace(table.manifest, scores=parts))


def _item(
    table: ScoredTable,
    row: int,
    scores: _Scores,
    answer: AnswerRow | None,
    deciding: Collection[tuple[str, str]],
    identities: set[tuple[str, str, str]],
) -> Item:
    manifest = table.manifest
    source = manifest.sources[answer.source].path if answer is not None else table.location.name
    key = (answer.key if answer is not None else "") or f"row-{row}"
    # Items of a record are unique by file, key and model; keys of a table need not be.
    if (source, key, scores.model) in identities:
        key = f"{key} (row-{row})"
    identities.add((source, key, scores.model))
    outcomes = {entry.id: _outcome(entry.id, scores) for entry in manifest.evaluators}
    verdicts = {id: _verdict(id, outcome, scores, deciding) for id, outcome in outcomes.items()}
    # Must agree with `population.verdicts_of`, which counts the same answers.
    is_empty = any(status == _EMPTY_STATUS for _, status in scores.metrics.values())
    word = _word(verdicts.values())
    return Item(
        index=0,
        nodeid=f"{source} {key} [{scores.model}]",
        verdict="failed" if is_empty and word != "error" else word,
        duration_s=0.0,
        file=source,
        key=key,
        test_key="",
        model_key=scores.model,
        code=ItemCode.ANSWER_EMPTY.value if is_empty and word != "error" else "",
        reason=_reason(verdicts) or (_NO_ANSWER_REASON if is_empty else ""),
        rows=(_row(answer, outcomes),),
        verdicts=verdicts,
        flips=(),
    )


def _outcome(evaluator: str, scores: _Scores) -> Outcome:
    of_evaluator = {key: entry for (id, key), entry in scores.metrics.items() if id == evaluator}
    statuses = {status for _, status in of_evaluator.values()}
    text, reason = scores.texts.get(evaluator, ("", ""))
    code = OutcomeCode(text)
    if statuses & {"passed", "failed", "score"}:
        values = {key: value for key, (value, _) in of_evaluator.items()}
        return Outcome(status="score", scores=values, code=code, reason=reason)
    status = "error" if "error" in statuses else "not_applicable"
    return Outcome(status="error" if status == "error" else "not_applicable", code=code, reason=reason)


def _verdict(
    evaluator: str, outcome: Outcome, scores: _Scores, deciding: Collection[tuple[str, str]]
) -> Verdict:
    statuses = {
        key: status
        for (id, key), (_, status) in scores.metrics.items()
        if id == evaluator and (id, key) in deciding
    }
    missed = tuple(key for key, status in statuses.items() if status == "failed")
    judged = outcome.status == "score" and bool(set(statuses.values()) & {"passed", "failed"})
    return Verdict(
        status=outcome.status,
        passed=not missed if judged else None,
        scores=outcome.scores,
        missed=missed,
        code=outcome.code,
        reason=outcome.reason,
    )


def _word(verdicts: Iterable[Verdict]) -> VerdictWord:
    words = list(verdicts)
    if any(verdict.status == "error" for verdict in words):
        return "error"
    if any(verdict.passed is False for verdict in words):
        return "failed"
    return "passed" if any(verdict.status == "score" for verdict in words) else "skipped"


def _reason(verdicts: Mapping[str, Verdict]) -> str:
    """Return the first fact against an answer."""
    for id, verdict in verdicts.items():
        if verdict.status == "error":
            return f"{id}: {verdict.reason or verdict.code}"
        if verdict.missed:
            value = verdict.scores.get(verdict.missed[0])
            return f"{id}: {verdict.missed[0]} {figure(value)}" if value is not None else f"{id}: missed"
    return ""


def _row(answer: AnswerRow | None, outcomes: dict[str, Outcome]) -> RecordRow:
    if answer is None:
        return RecordRow(outcomes=outcomes)
    return RecordRow(
        question=answer.input,
        categories=tuple(f"{name}:{value}" for name, value in answer.groups.items() if value),
        expected_output=answer.expected_output,
        answer=Answer(text=answer.actual_output, context=answer.context),
        is_rag=bool(answer.context),
        outcomes=outcomes,
    )


def run_of(table: ScoredTable) -> Run:
    """Return the header of a record of rows of a table."""
    manifest = table.manifest
    name = table.location.name.rstrip("/").rpartition("/")[2]
    return Run(
        schema_version=SCHEMA_VERSION,
        run_id=manifest.run_id,
        created=manifest.started,
        finished=manifest.finished,
        interrupted=False,
        exit_status=0,
        tool=manifest.producer,
        python="",
        gates=(),
        settings=RunSettings(),
        evaluators={entry.id: entry for entry in manifest.evaluators},
        models={entry.key: entry for entry in manifest.models},
        files=tuple(
            FileEntry(path=source.path, kind="dataset", name="", description="")
            for source in manifest.sources
        ),
        steps={},
        name=name,
    )


def _first_metric(table: ScoredTable, path: str) -> NDArray[np.int64]:
    """Return the row ids of one file of scores, each once."""
    parts = tuple(part for part in table.manifest.scores if part.path == path)
    one_part = ScoredTable(table.location, msgspec.structs.replace(table.manifest, scores=parts))
    ids = [batch[ROW_ID].to_numpy() for batch in one_part.scores([ROW_ID])]
    return np.unique(np.concatenate(ids)).astype(np.int64) if ids else np.empty(0, dtype=np.int64)


def _least(rows: NDArray[np.int64], size: int, seed: int) -> NDArray[np.int64]:
    """Return the rows with the least hash, at most `size`.

    Source: Steele, Lea and Flood, 2014 (SplitMix64).
    """
    if len(rows) <= size:
        return rows
    # With seed + 1, since SplitMix64 of row 0 and seed 0 is 0, the least hash: that row would always be
    # drawn.
    hashed = rows.astype(np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    hashed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashed = (hashed ^ (hashed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashed ^= hashed >> np.uint64(31)
    return rows[np.argpartition(hashed, size)[:size]]
