"""Scored tables among the results that commands read: they become records of some of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pytest_evalstudio.batch.table.reader import ScoredTable
from pytest_evalstudio.batch.table.recognition import is_scored_table
from pytest_evalstudio.cli.common import say

if TYPE_CHECKING:
    from collections.abc import Collection

ROWS = 20_000
"""Random answers of a table that are read where all of them would need too much memory."""
Choice = Callable[[ScoredTable], "Collection[int]"]


@contextmanager
def as_records(paths: Sequence[str], choose: Choice) -> Iterator[list[str]]:
    """Replace each scored table among paths by the record of some of its rows.

    Args:
        paths: records, folders of reports, results files and scored tables.
        choose: returns the row ids of a table that are read.

    Raises:
        DataError: if a scored table is incomplete or damaged.
    """
    with TemporaryDirectory(prefix="evalstudio-") as folder:
        yield [
            _record(path, choose, Path(folder) / str(number)) if is_scored_table(path) else path
            for number, path in enumerate(paths)
        ]


def at_random(rows: int, seed: int) -> Choice:
    """Return a choice of rows at random, which says how many of how many it took."""

    def choose(table: ScoredTable) -> Collection[int]:
        from pytest_evalstudio.batch.pages.excerpt import random_rows

        sample = random_rows(table, rows, seed=seed)
        if len(sample) < table.manifest.answers:
            say(
                f"{table.location.name}: {len(sample):,} of {table.manifest.answers:,} answers, drawn at"
                f" random (seed {seed})",
                error=True,
            )
        return sample

    return choose


def with_keys(keys: Collection[str]) -> Choice:
    """Return a choice of the rows with given keys."""

    def choose(table: ScoredTable) -> Collection[int]:
        from pytest_evalstudio.batch.pages.excerpt import rows_with_keys

        return rows_with_keys(table, keys)

    return choose


def _record(path: str, choose: Choice, folder: Path) -> str:
    from pytest_evalstudio.batch.pages.excerpt import write_excerpt

    table = ScoredTable.open(path)
    return str(write_excerpt(table, choose(table), folder))
