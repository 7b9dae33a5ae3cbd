"""Kinds of files with test cases, told apart by their root keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.contrib import FileKind, file_kinds
from pytest_evalstudio.formats.csv_text import parse_csv
from pytest_evalstudio.formats.source import CSV_SUFFIXES, SUFFIXES, YAML_SUFFIXES, Source, parse, read_text

EXPECTED = (
    "a test suite has `tests`, a single test `test_cases`, a single test case a `prompt`, a test lab"
    " `dataset` and `models`, an LLM data set `inputs`"
)
CASE_ROOTS = {"prompt": str, "turns": list, "user": dict}
"""Keys of which a test case has one, with their types."""

F = TypeVar("F")


def kind_of(data: object) -> str:
    """Return the kind of a file by its root keys, or "" for an unsupported one.

    A single test or test case is a suite, too: see `suite_root`.
    """
    if not isinstance(data, dict):
        return ""
    if (kind := part_kind(data)) is not None:
        return kind.name
    if "tests" in data:
        # A configuration of promptfoo has the key `tests` as well.
        is_of_promptfoo = "prompts" in data and ("providers" in data or "targets" in data)
        return "" if is_of_promptfoo else "suite"
    if "dataset" in data and "models" in data:
        return "lab"
    if "inputs" in data:
        return "dataset"
    return "suite" if suite_root(data) else ""


def part_kind(data: object) -> FileKind | None:
    """Return the kind of an optional part that a file is by its root keys, None for another file."""
    if not isinstance(data, dict):
        return None
    return next((kind for kind in file_kinds() if kind.root and kind.root in data), None)


def suite_root(data: Mapping[str, object]) -> str:
    """Return the JSON pointer at which a single test or test case is in a suite, or "" for other content."""
    if isinstance(data.get("test_cases"), list):
        return "/tests/0"
    is_case = any(isinstance(data.get(key), root) for key, root in CASE_ROOTS.items())
    return "/tests/0/test_cases/0" if is_case else ""


def read_source(path: Path, name: str = "") -> Source:
    """Parse a JSON, YAML or CSV file; rows of JSON are packed, see `formats.json_rows`.

    Raises:
        DataError: if it cannot be parsed.
    """
    name = name or str(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"the file type is unknown; use one of {', '.join(SUFFIXES)}", source=name)
    text = read_text(path, name)
    if suffix in CSV_SUFFIXES:
        source = parse_csv(text, name)
    else:
        source = parse(text, name, yaml=suffix in YAML_SUFFIXES, packs_rows=True)
    source.folder, source.is_remote = path.parent, "://" in name
    return source


def unsupported(source: Source) -> DataError:
    """Return the error of a file that is none of the kinds with test cases."""
    from pytest_evalstudio.formats.foreign import foreign_file  # needed only for an error

    if (foreign := foreign_file(source.data)) is not None:
        return DataError(foreign.fact, source=source.name)
    kind = part_kind(source.data)
    fault = "has no supported format" if kind is None else f"is a {kind.name}, which has no test cases"
    return DataError(f"{fault}: {EXPECTED}", source=source.name)


def load_kind(path: str | Path, kind: str, read: Callable[[Source], tuple[F, list[DataError]]]) -> F:
    """Read a file that must be of one kind and sound.

    Raises:
        DataError: for the first thing that is wrong with it.
    """
    source = read_source(Path(path))
    actual = kind_of(source.data)
    if actual not in ("suite", "lab", "dataset"):
        raise unsupported(source)
    if actual != kind:
        raise DataError(f"is a {actual}, not a {kind}: {EXPECTED}", source=str(path))
    content, errors = read(source)
    if errors:
        raise errors[0]
    return content
