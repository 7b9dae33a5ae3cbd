"""Columns of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_evalstudio.core.errors import DataError


def check_columns(names: Sequence[str], source: str, line: int = 0) -> None:
    """Refuse two columns of one name, since which of them counts is not known.

    Args:
        names: of all columns of a table or keys of a row.
        source: file, for the message.
        line: of the header, 0 for none.

    Raises:
        DataError: for the first name that is there twice.
    """
    if len(set(names)) == len(names):
        return
    repeated = next(name for name, count in Counter(names).items() if count > 1)
    raise DataError(
        f"the column {repeated!r} is there twice; rename or remove one",
        source=source,
        line=line,
        column=min(line, 1),
    )
