"""Answers of the worst rows alone: those of each batch are known at once, those of the table at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_evalstudio.contrib.tables.scored_record import MetricAggregate, PartEntry
from pytest_evalstudio.contrib.tables.table.columns import ROW_ID
from pytest_evalstudio.contrib.tables.table.reader import ANSWERS
from pytest_evalstudio.contrib.tables.table.storage import Location

NAME = f"{ANSWERS}/part-worst.parquet"


def kept_row_ids(aggregates: Iterable[MetricAggregate]) -> set[int]:
    """Return the rows whose answers are kept: those with the worst values, and the first with each error."""
    row_ids = set()
    for entry in aggregates:
        row_ids |= {row.row_id for row in entry.worst}
        row_ids |= {example.row_id for example in entry.error_examples.values()}
    return row_ids


def keep_worst(
    location: Location, parts: Sequence[PartEntry], aggregates: Sequence[MetricAggregate]
) -> tuple[PartEntry, ...]:
    """Write the answers of the rows that are the worst or first errors of the whole table.

    Args:
        location: folder of the table.
        parts: files with the worst answers of each batch.
        aggregates: of the table.

    Returns:
        The one file that replaces the others; () without rows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    worst = pa.array(sorted(kept_row_ids(aggregates)), pa.int64())
    tables = []
    for part in parts:
        if not pc.any(
            pc.and_(pc.greater_equal(worst, part.first_row), pc.less_equal(worst, part.last_row))
        ).as_py():
            continue
        table = pq.read_table(pa.BufferReader(location.child(part.path).read()))
        tables.append(table.filter(pc.is_in(table[ROW_ID], value_set=worst)))
    if not tables:
        return ()
    together = pa.concat_tables(tables).unify_dictionaries()
    sink = pa.BufferOutputStream()
    pq.write_table(together, sink, compression="zstd")
    location.child(NAME).write(sink.getvalue().to_pybytes())
    rows = together[ROW_ID].to_pylist()
    return (PartEntry(path=NAME, rows=len(rows), first_row=min(rows), last_row=max(rows)),)
