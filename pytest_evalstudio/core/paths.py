"""Paths that a file from elsewhere names: they stay below the folder of that file."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath


def path_below(base: Path, name: str) -> Path:
    """Return the path of a name, which must stay below a folder.

    Args:
        base: folder of the file that names the path.
        name: relative path; symbolic links on the way are followed before the check.

    Raises:
        ValueError: if the path is absolute, contains `..`, or leads out of the folder; the message continues
            a sentence.

    >>> path_below(Path("bank"), "labels.csv").as_posix()
    'bank/labels.csv'
    """
    if "\0" in name:
        raise ValueError(f"{name!r} is not a path")
    forms = (PurePosixPath(name), PureWindowsPath(name))
    if any(form.is_absolute() or form.anchor or ".." in form.parts for form in forms):
        raise ValueError(f"{name!r} leads out of the folder of the file; give a path below it")
    path = base / name
    # Not `Path.resolve`, which raises RuntimeError for a link to itself.
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(base)):
        raise ValueError(
            f"{name!r} leads out of the folder of the file through a symbolic link; give a path below it"
        )
    return path
