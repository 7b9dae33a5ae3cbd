"""Files of all supported formats: detection of the format, and reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.dataset import LlmDataset, read_dataset
from pytest_evalstudio.formats.kinds import kind_of, unsupported
from pytest_evalstudio.formats.lab import TestLab, read_lab
from pytest_evalstudio.formats.source import (
    CaseIdentity,
    Source,
)
from pytest_evalstudio.formats.suite import TestSuite, read_suite


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


@uncollected()
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
    raise unsupported(source)
