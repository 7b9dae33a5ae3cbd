"""Tables of the configuration that have no effect: options of evaluators that nothing selects."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.formats.config import Configuration

SUFFIXES = (".json", ".jsonl", ".yaml", ".yml", ".csv", ".toml", ".py", ".ipynb")
"""Ends of the names of files that may select an evaluator."""
MAX_FILES = 2_000
MAX_BYTES = 2_000_000
"""Larger trees and files are taken to name every evaluator: a wrong error is worse than a missing one."""


def unused_tables(config: Configuration, selected: Collection[str]) -> list[str]:
    """Return a message for each `[evaluator.ID]` that nothing uses.

    A table may also serve a test case, a workflow or a test in Python that is not part of this run. It counts
    as used where a file below the configuration's folder has its name.

    Args:
        selected: ids of the evaluators that are used anyway.
    """
    unused = [name for name in config.evaluator if name not in selected]
    if not unused or not config.file:
        return []
    for text in _texts_below(config.folder, besides=Path(config.file)):
        unused = [name for name in unused if text is not None and name.encode() not in text]
        if not unused:
            return []
    return [
        f"{config.file}: evaluator.{name}: the table has no effect, since no run, test case or test uses"
        f" {name}; add it to `evaluators`, or remove the table"
        for name in unused
    ]


def _texts_below(folder: Path, besides: Path) -> Iterator[bytes | None]:
    """Yield the content of each file that may select an evaluator, None where it is not known."""
    count = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "evalstudio-report", "__"))]
        for name in names:
            path = Path(parent, name)
            if not name.endswith(SUFFIXES) or path == besides:
                continue
            count += 1
            if count > MAX_FILES:
                yield None
                return
            try:
                yield read_bytes(path) if path.stat().st_size <= MAX_BYTES else None
            except OSError:
                yield None
