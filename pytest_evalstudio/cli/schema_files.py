"""JSON Schemas as files of a project, so that editors need no network."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

FOLDER = ".evalstudio/schemas"
"""Folder of the schemas, from the folder of the suites. It is not under version control: its files belong to
the installed version."""


def schema_path(kind: str) -> str:
    """Return the relative path of the schema of a format, as suites and configurations name it.

    >>> schema_path("suite")
    '.evalstudio/schemas/suite.schema.json'
    """
    return str(PurePosixPath(FOLDER, f"{kind}.schema.json"))


def write_schemas(folder: Path) -> list[Path]:
    """Write the schemas of all formats that people edit into a folder, and return their paths."""
    from pytest_evalstudio.core.writing import write_whole
    from pytest_evalstudio.formats.json_schemas import schema_kinds, text_of

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{kind}.schema.json" for kind in schema_kinds()]
    for kind, path in zip(schema_kinds(), paths, strict=True):
        write_whole(path, text_of(kind).encode())
    return paths
