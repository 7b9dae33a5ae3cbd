"""Files that a configuration names, whose content counts among the inputs of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SMALL = 1_000_000
"""Bytes of the largest file whose content counts: weights of models are larger."""
MAX_FILES = 200
LONGEST_NAME = 255


def named_files(value: Any, folder: Path) -> Iterator[Path]:
    """Yield the small files that a configuration names, and those in folders that it names."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from named_files(item, folder)
    elif isinstance(value, str) and value and len(value) <= LONGEST_NAME and "\0" not in value:
        path = folder / value
        inside = (
            sorted(path.iterdir())[:MAX_FILES]
            # Not all files of the configuration's own folder, where a value is ".".
            if path.is_dir() and path.resolve() != folder.resolve()
            else [path]
        )
        yield from (file for file in inside if file.is_file() and file.stat().st_size <= SMALL)
