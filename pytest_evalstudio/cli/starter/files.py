"""Starter files: templates, and writing all of them or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pytest_evalstudio.core.errors import ConfigurationError

IGNORED = (".evalstudio/", "evalstudio-report/")
"""Folders of stored answers and reports, which do not belong under version control."""
_PLACEHOLDER = re.compile(r"@(\w+)@")


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterFile:
    """File to write.

    Attributes:
        path: relative to the folder of the command, or absolute.
    """

    path: Path
    text: str


def template(name: str, **values: str) -> str:
    """Return a template with its placeholders filled, e.g. `@function@`.

    Raises:
        KeyError: if a placeholder has no value.
    """
    # The templates of CI systems contain braces of their own.
    text = (files("pytest_evalstudio.cli.starter") / "templates" / name).read_text(encoding="utf-8")
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def write_files(folder: Path, starter_files: Sequence[StarterFile]) -> list[Path]:
    """Write files and the lines of `.gitignore`, and return the paths of those that were written.

    Raises:
        ConfigurationError: if one of the files is there already; then none is written.
    """
    paths = [folder / file.path for file in starter_files]
    for path in paths:
        if path.exists():
            raise ConfigurationError(f"{path}: already exists; move it away, or give another folder")
    for path, file in zip(paths, starter_files, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    ignore = folder / ".gitignore"
    if _ignore(ignore):
        paths = [*paths, ignore]
    return paths


def _ignore(path: Path) -> bool:
    """Add the folders that are missing in a `.gitignore`, and return True if one was."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    present = {line.strip().strip("/") for line in text.splitlines()}
    lines = [line for line in IGNORED if line.strip("/") not in present]
    if not lines:
        return False
    start = text if not text or text.endswith("\n") else f"{text}\n"
    path.write_text(start + "\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
    return True
