"""Tells scored tables from other files, without an optional package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

MANIFEST = "manifest.json"
"""File that a complete table has."""
PROGRESS = ".progress"
"""Folder of a table that is being written."""


def is_scored_table(path: str | os.PathLike[str]) -> bool:
    """Return True if a path or URL is a scored table, complete or not.

    `ScoredTable.open` refuses an incomplete one. Needs no optional package for a local path that is none.
    """
    name = str(path)
    if "://" not in name:
        folder = Path(name)
        return (folder / MANIFEST).is_file() or (folder / PROGRESS).is_dir()
    from pytest_evalstudio.contrib.tables.table.storage import Location

    location = Location.of(name)
    return location.child(MANIFEST).exists() or location.child(PROGRESS).exists()
