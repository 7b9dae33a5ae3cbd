"""Excerpt of a scored table for its report: the worst answers and a random sample, figures of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.analysis.population import Population
from pytest_evalstudio.contrib.tables.pages.excerpt import (
    error_rows_of,
    random_rows,
    worst_rows_of,
    write_excerpt,
)
from pytest_evalstudio.contrib.tables.pages.population import boards_of, verdicts_of
from pytest_evalstudio.contrib.tables.scored_record import ScoredManifest
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable, distinct_rows
from pytest_evalstudio.record.reader import read_run


@dataclass(frozen=True, slots=True, kw_only=True)
class TableExcerpt:
    """Record of some rows of a table, with the figures of all of them."""

    record: Path
    population: Population


def excerpt_of(table: ScoredTable, folder: Path, *, size: int, seed: int) -> TableExcerpt:
    """Write the excerpt of a table for its report.

    Args:
        folder: of the record.
        size: answers of the random sample; the worst answers come on top.
        seed: of the sample.
    """
    ranked = worst_rows_of(table.manifest)
    worst = distinct_rows(table.answers_of(ranked), ranked)
    drawn = random_rows(table, size, seed=seed)
    rows = drawn.union(worst, error_rows_of(table.manifest))
    record = write_excerpt(table, rows, folder, first=worst)
    note = _note(table.manifest, worst=len(worst), drawn=len(drawn), listed=len(rows), seed=seed)
    population = Population(
        boards=boards_of(table.manifest, read_run(record).evaluators),
        verdicts=verdicts_of(table),
        note=note,
        empty=table.manifest.empty_answers,
    )
    return TableExcerpt(record=record, population=population)


def _note(manifest: ScoredManifest, *, worst: int, drawn: int, listed: int, seed: int) -> tuple[str, ...]:
    rows = f"{manifest.answers:,} scored answers"
    note = (
        [f"All {rows} of a scored table are listed."]
        if listed == manifest.answers
        else [
            f"Means, shares of passes, numbers of tests and intervals are of all {rows} of a scored table.",
            f"Listed cases, failures and lengths are of {listed:,} answers: the {worst:,} worst of each model"
            f" and metric, the first with each error, and {drawn:,} drawn at random (seed {seed}).",
        ]
    )
    if manifest.sampling is not None:
        population = sum(stratum.population for stratum in manifest.sampling.strata)
        note.append(
            f"The {rows} are a sample of {population:,} rows: means and shares are weighted estimates for all"
            " of them, numbers of tests are of the sample."
        )
    if manifest.texts != "all":
        note.append(f"The table was written with --texts {manifest.texts}: other answers have no texts.")
    return tuple(note)
