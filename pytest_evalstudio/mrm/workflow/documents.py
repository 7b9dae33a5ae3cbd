"""Paths of documents relative to artifacts, so that a workflow's folder can be moved with them."""

from __future__ import annotations

import os
from pathlib import Path


def relative(document: str, folder: Path) -> str:
    """Return a document's path from a folder, with slashes; URLs and paths on other drives stay."""
    if "://" in document:
        return document
    try:
        return Path(os.path.relpath(document, folder.absolute())).as_posix()
    except ValueError:
        return document


def moved(document: str, folder: Path, to: Path) -> str:
    """Return a path from one folder as a path from another."""
    return document if "://" in document else relative(str(folder / document), to)
