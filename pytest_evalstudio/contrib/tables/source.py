"""Scored tables as sources of `compare`, `report` and the commands that read answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import say
from pytest_evalstudio.cli.sources import Rows
from pytest_evalstudio.contrib.tables.table.recognition import is_scored_table

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits
    from pytest_evalstudio.analysis.comparison.results import Comparison
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.report.build import Report


class ScoredTables:
    """Tables that `evalstudio score` writes; a `cli.sources.Source`."""

    name = "a scored table"

    def recognises(self, path: str) -> bool:
        """Return True if a path or URL is a scored table, complete or not."""
        return is_scored_table(path)

    def compare(
        self, base: str, new: str, *, models: Mapping[str, str], limits: ComparisonLimits
    ) -> Comparison:
        """Compare two tables."""
        # Imported here: `recognises` runs in commands that need no table, and the package is an extra.
        from pytest_evalstudio.contrib.tables.comparison.compare import compare_tables
        from pytest_evalstudio.contrib.tables.table.reader import ScoredTable

        return compare_tables(ScoredTable.open(base), ScoredTable.open(new), models=models, limits=limits)

    def compare_models(self, path: str, base: str, new: str, *, limits: ComparisonLimits) -> Comparison:
        """Compare two models of one table."""
        from pytest_evalstudio.analysis.comparison.compare import compare
        from pytest_evalstudio.analysis.comparison.sides import of_model
        from pytest_evalstudio.contrib.tables.comparison.compare import side_of
        from pytest_evalstudio.contrib.tables.table.reader import ScoredTable

        side = side_of(ScoredTable.open(path))
        return compare(of_model(side, base, new), of_model(side, new, new), limits=limits)

    def report(self, path: str, output: Path, *, rows: int, seed: int, registry: Registry) -> Report:
        """Build the report of a table from its aggregates, its worst answers and a random sample."""
        from tempfile import TemporaryDirectory

        from pytest_evalstudio.contrib.tables.pages.page import excerpt_of
        from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
        from pytest_evalstudio.record.outputs import OutputFolder
        from pytest_evalstudio.report.build import build_report

        table = ScoredTable.open(path)
        with OutputFolder(output).locked(), TemporaryDirectory(prefix="evalstudio-") as folder:
            excerpt = excerpt_of(table, Path(folder), size=rows, seed=seed)
            return build_report(excerpt.record, output, {}, registry=registry, population=excerpt.population)

    def write_record(self, path: str, rows: Rows, folder: Path) -> Path:
        """Write the record of some answers; a random sample says how many of how many it has."""
        from pytest_evalstudio.contrib.tables.pages.excerpt import random_rows, rows_with_keys, write_excerpt
        from pytest_evalstudio.contrib.tables.table.reader import ScoredTable

        table = ScoredTable.open(path)
        if rows.keys is not None:
            return write_excerpt(table, rows_with_keys(table, rows.keys), folder)
        sample = random_rows(table, rows.sample, seed=rows.seed)
        if len(sample) < table.manifest.answers:
            say(
                f"{table.location.name}: {len(sample):,} of {table.manifest.answers:,} answers, drawn at"
                f" random (seed {rows.seed})",
                error=True,
            )
        return write_excerpt(table, sample, folder)


SCORED_TABLES = ScoredTables()
