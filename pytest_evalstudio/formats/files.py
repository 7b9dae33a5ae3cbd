"""Files of all supported formats: detection of the format, and reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.dataset import LlmDataset, parse_csv, read_dataset
from pytest_evalstudio.formats.fields import FormatModel
from pytest_evalstudio.formats.lab import TestLab, read_lab
from pytest_evalstudio.formats.source import (
    CSV_SUFFIXES,
    SUFFIXES,
    YAML_SUFFIXES,
    CaseIdentity,
    Source,
    parse,
    read_text,
)
from pytest_evalstudio.formats.suite import TestSuite, read_suite

EXPECTED = "a test suite has `tests`, a test lab `dataset` and `models`, an LLM data set `inputs`"

F = TypeVar("F", bound=FormatModel)


@dataclass(slots=True)
class EvalFile:
    """Parsed file: its content, and the errors of its parts.

    Attributes:
        kind: suite, lab or dataset.
        content: the sound part.
        errors: one for each test case or row that is left out.
        warnings: repairs, and keys that look misspelt.
        lines: of its test cases or rows; see `Source.lines`.
    """

    kind: str
    content: TestSuite | TestLab | LlmDataset
    errors: list[DataError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lines: Mapping[CaseIdentity, int] = field(default_factory=dict)


def kind_of(data: object) -> str:
    """Return the kind of a file by its root keys, or "" for an unsupported one."""
    if not isinstance(data, dict):
        return ""
    if "evalstudio_workflow" in data:
        return "workflow"
    if "tests" in data:
        return "suite"
    if "dataset" in data and "models" in data:
        return "lab"
    return "dataset" if "inputs" in data else ""


def read_source(path: Path, name: str = "") -> Source:
    """Parse a JSON, YAML or CSV file.

    Raises:
        DataError: if it cannot be parsed.
    """
    name = name or str(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"is none of {', '.join(SUFFIXES)}", source=name)
    text = read_text(path, name)
    if suffix in CSV_SUFFIXES:
        return parse_csv(text, name)
    return parse(text, name, yaml=suffix in YAML_SUFFIXES)


def read(source: Source) -> EvalFile:
    """Return the content of a parsed file.

    Raises:
        DataError: if its format is unknown, or nothing of it can be used.
    """
    kind = kind_of(source.data)
    if kind == "suite":
        suite, errors = read_suite(source)
        return EvalFile(kind, suite, errors, source.warnings, source.lines)
    if kind == "lab":
        lab, errors = read_lab(source)
        return EvalFile(kind, lab, errors, source.warnings, source.lines)
    if kind == "dataset":
        dataset, errors = read_dataset(source)
        return EvalFile(kind, dataset, errors, source.warnings, source.lines)
    fault = "is a workflow, which has no test cases" if kind == "workflow" else "has no supported format"
    raise DataError(f"{fault}: {EXPECTED}", source=source.name)


def load(path: str | Path, model: type[F]) -> F:
    """Read a file that must be of one kind and sound.

    Raises:
        DataError: for the first thing that is wrong with it.
    """
    file = read(read_source(Path(path)))
    if file.errors:
        raise file.errors[0]
    if not isinstance(file.content, model):
        raise DataError(f"is a {file.kind}, not a {model.__name__}: {EXPECTED}", source=str(path))
    return file.content
