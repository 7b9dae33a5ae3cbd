"""Rows of Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_evalstudio.core.columns import check_columns
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.reading import check_file
from pytest_evalstudio.formats.imported.plain_values import plain

SUFFIX = ".parquet"


def read_parquet(path: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a file.

    Raises:
        ConfigurationError: if pyarrow is not installed.
        DataError: if it is not Parquet, or has two columns of one name.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise ConfigurationError(
            f"{name}: reading Parquet needs pyarrow: pip install 'pytest-evalstudio[parquet]'"
        ) from None
    try:
        check_file(path)
        with pyarrow.parquet.ParquetFile(path) as file:
            check_columns(file.schema_arrow.names, name)
            rows = file.read().to_pylist()
    except (OSError, pyarrow.ArrowException) as exc:
        raise DataError(f"cannot be read as Parquet: {str(exc).splitlines()[0]}", source=name) from None
    return [{str(name): plain(value) for name, value in row.items()} for row in rows]
