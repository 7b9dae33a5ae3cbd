"""Stratified samples of rows, drawn in one pass over the columns that make the strata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_evalstudio.contrib.tables.input.fields import ANSWER, Wanted, array_of
from pytest_evalstudio.contrib.tables.input.sources import SampledRows, TableSource
from pytest_evalstudio.contrib.tables.scored_record import Sampling, ScoredStratum
from pytest_evalstudio.core.errors import ConfigurationError, DataError, nearest
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.stats.strata import allocate

MIN_ROWS = 2
"""Rows of each stratum: one row has no variance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSample:
    """A drawn sample.

    Attributes:
        chosen: its rows.
        sampling: its description for the manifest.
        totals: number of rows of each source.
    """

    chosen: SampledRows
    sampling: Sampling
    totals: tuple[int, ...]


class _Reservoir:
    """Uniform sample of the rows of a stratum: those with the smallest of random numbers.

    Source: bottom-k sampling, equivalent to a reservoir (Vitter, 1985).
    """

    def __init__(self, size: int) -> None:
        self.seen = 0
        self._size = size
        self._keys: NDArray[np.float64] = np.empty(0)
        self._rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def add(self, keys: NDArray[np.float64], rows: NDArray[np.int64]) -> None:
        self.seen += len(rows)
        self._keys = np.concatenate([self._keys, keys])
        self._rows = np.concatenate([self._rows, rows])
        # Sort only when the sample has doubled, not after each batch.
        if len(self._keys) > 2 * self._size:
            self._cut(self._size)

    def take(self, count: int) -> NDArray[np.int64]:
        """Return so many of its rows."""
        self._cut(count)
        return self._rows

    def _cut(self, count: int) -> None:
        order = np.argsort(self._keys, kind="stable")[:count]
        self._keys, self._rows = self._keys[order], self._rows[order]


def draw(
    sources: Sequence[TableSource], columns_read: Sequence[Wanted], *, size: int, by: Sequence[str], seed: int
) -> RowSample:
    """Draw a stratified random sample.

    Sizes are in proportion to the strata, and at least `MIN_ROWS`.

    Args:
        by: fields, kept columns or columns of the sources; () for a simple random sample.

    Raises:
        ConfigurationError: if there are too many strata for the sample.
        DataError: if a column is missing.
    """
    generator = np.random.default_rng(seed)
    reservoirs: dict[tuple[str, ...], _Reservoir] = {}
    totals = []
    first = 0
    for source, columns in zip(sources, columns_read, strict=True):
        names = _columns(source, columns, by)
        # A source has to be read even without strata: its number of rows may not be known.
        fields = dict.fromkeys(names, "") or {columns.mapping[ANSWER]: ANSWER}
        count = 0
        for rows, arrays in source.reader().read(fields, None):
            keys = generator.random(len(rows))
            values = [_values(arrays[name], name, source) for name in names]
            for stratum, positions in _strata(values, len(rows)).items():
                if stratum not in reservoirs:
                    _check_room(len(reservoirs) + 1, size, by)
                    # Any stratum may get the whole sample: sizes follow from the numbers of rows, which are
                    # not known yet.
                    reservoirs[stratum] = _Reservoir(size)
                reservoirs[stratum].add(keys[positions], rows[positions] + first)
            count = int(rows[-1]) + 1
        totals.append(count)
        first += count
    return _sample(reservoirs, size, tuple(by), seed, tuple(totals))


def _columns(source: TableSource, columns_read: Wanted, by: Sequence[str]) -> list[str]:
    """Return the columns of a source for the names in `--by`."""
    mapped_columns = {**columns_read.groups, **columns_read.mapping}
    names = []
    columns: list[str] | None = None
    for name in by:
        column = mapped_columns.get(name)
        if column is None:
            columns = columns if columns is not None else list(source.reader().columns())
            if name not in columns:
                hint = nearest(name, [*mapped_columns, *columns])
                raise DataError(
                    f"has no column {name!r}, which --by names. {hint}".rstrip(), source=source.name
                )
            column = name
        names.append(column)
    return names


def _values(array: object, column: str, source: TableSource) -> list[str]:
    return [value or "" for value in array_of(array, "", column, source.name).to_pylist()]


def _strata(values: Sequence[Sequence[str]], count: int) -> dict[tuple[str, ...], NDArray[np.int64]]:
    """Return the places of the rows of each stratum."""
    positions: dict[tuple[str, ...], list[int]] = {}
    for position, stratum in enumerate(zip(*values, strict=True) if values else [()] * count):
        positions.setdefault(stratum, []).append(position)
    return {stratum: np.array(rows, dtype=np.int64) for stratum, rows in positions.items()}


def _check_room(strata: int, size: int, by: Sequence[str]) -> None:
    if MIN_ROWS * strata > size:
        raise ConfigurationError(
            f"--sample {size}: --by {','.join(by)} has more than {size // MIN_ROWS} strata, and each needs"
            f" {MIN_ROWS} rows; take a larger sample or fewer columns"
        )


def _sample(
    reservoirs: dict[tuple[str, ...], _Reservoir],
    size: int,
    by: tuple[str, ...],
    seed: int,
    totals: tuple[int, ...],
) -> RowSample:
    names = sorted(reservoirs)
    sizes = {str(index): reservoirs[name].seen for index, name in enumerate(names)}
    base = {key: min(MIN_ROWS, size_of) for key, size_of in sizes.items()}
    more = allocate(
        size - sum(base.values()),
        {key: float(size_of) for key, size_of in sizes.items()},
        {key: size_of - base[key] for key, size_of in sizes.items()},
    )
    strata, rows, numbers = [], [], []
    for index, name in enumerate(names):
        drawn = reservoirs[name].take(base[str(index)] + more[str(index)])
        rows.append(drawn)
        numbers.append(np.full(len(drawn), index, dtype=np.int32))
        values = tuple(safe_identifier(value) for value in name)
        strata.append(ScoredStratum(values=values, population=reservoirs[name].seen, sample=len(drawn)))
    all_rows = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    all_numbers = np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int32)
    order = np.argsort(all_rows)
    return RowSample(
        chosen=SampledRows(
            rows=all_rows[order],
            strata=all_numbers[order],
            weights=np.array([stratum.population / stratum.sample for stratum in strata]),
        ),
        sampling=Sampling(seed=seed, size=size, by=by, strata=tuple(strata)),
        totals=totals,
    )
