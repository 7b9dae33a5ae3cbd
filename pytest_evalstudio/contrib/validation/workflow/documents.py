"""Documents of a workflow: digests, and paths relative to artifacts, so that its folder can be moved."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_evalstudio.core.reading import file_sha256


def relative(document: str, folder: Path) -> str:
    """Return a document's path from a folder, with slashes; URLs and paths on other drives stay."""
    if "://" in document:
        return document
    try:
        return Path(os.path.relpath(document, folder.absolute())).as_posix()
    except ValueError:  # Windows has no path from one drive to another
        return document


def moved(document: str, folder: Path, to: Path) -> str:
    """Return a path from one folder as a path from another."""
    return document if "://" in document else relative(str(folder / document), to)


def digest(document: str) -> list[str]:
    """Return name and SHA-256 of a local document, or the address of a remote one."""
    if "://" in document:
        return [document]
    return [Path(document).name, file_sha256(document)]
