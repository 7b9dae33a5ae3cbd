"""Traces as a lab, which is written row by row, and as rows for a suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.progress import report_progress
from pytest_evalstudio.core.writing import replacing
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.imported.records import REPORTED_RECORDS, Fields, Omissions, Record, row_of
from pytest_evalstudio.formats.lab import Model, TestLab
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.traces.conversations import with_conversations
from pytest_evalstudio.traces.files import TraceFiles
from pytest_evalstudio.traces.json_text import to_json
from pytest_evalstudio.traces.rows import TraceRow, fields_fault, rows_of

_EMPTY: tuple[object, ...] = ("", None, [], {})


@dataclass(slots=True)
class TraceReport:
    """Course of an import.

    Attributes:
        rows: number of rows.
        errors: one for each line, span or row that is left out.
    """

    rows: int = 0
    errors: list[DataError] = field(default_factory=list)
    omissions: Omissions = field(default_factory=Omissions)


def trace_rows(paths: Sequence[Path], report: TraceReport) -> Iterator[Row]:
    """Yield the rows of all traces; those of one conversation are one row, at the end.

    Raises:
        DataError: if a file cannot be read.
    """
    source = Source(name=str(paths[0]), text="", data=None)
    for fields in _all_fields(paths, report):
        yield row_of(Record(source, (fields["key"],), {}), fields)


def _all_fields(paths: Sequence[Path], report: TraceReport) -> Iterator[Fields]:
    """Yield the fields of the rows; those with impossible sums are left out."""
    files = TraceFiles(paths)
    report.errors = files.errors
    try:
        for fields in with_conversations(_rows(files, report.omissions), report.omissions):
            fault = fields_fault(fields)
            if fault:
                report.errors.append(DataError(f"trace {fields['key']}: {fault}", source=str(paths[0])))
                continue
            report.rows += 1
            if report.rows % REPORTED_RECORDS == 0:
                report_progress(report.rows, None, "rows")
            yield fields
    finally:
        files.close()


def _rows(files: TraceFiles, omissions: Omissions) -> Iterator[TraceRow]:
    for trace in files.traces():
        yield from rows_of(trace, omissions)


@uncollected()
def write_lab(paths: Sequence[Path], output: Path, report: TraceReport) -> None:
    """Write the rows of traces as a lab; nothing is written where there are none.

    Args:
        report: is filled.

    Raises:
        DataError: if a file cannot be read, or has no row.
    """
    name = paths[0].stem
    models: dict[str, None] = {}
    head, tail = _around_rows(name)
    with replacing(output) as file:
        file.write(head)
        for fields in _all_fields(paths, report):
            # Written as they are: to validate each row takes longer than all else, and they have their types.
            model = str(fields["model_key"]) or name
            models[model] = None
            file.write(b",\n" if report.rows > 1 else b"\n")
            filled = {key: value for key, value in fields.items() if value not in _EMPTY}
            file.write(to_json({**filled, "model_key": model}))
        if not report.rows:
            raise no_rows(paths, report)
        entries = [Model(key=key, name=key, llm_model_name=key).to_dict() for key in models]
        rest = {"models": entries, "llm_model_names": list(models)}
        file.write(tail + to_json(rest)[1:] + b"\n")


def no_rows(paths: Sequence[Path], report: TraceReport) -> DataError:
    """Return the error for files without a row, with all reasons."""
    reasons = [*map(str, report.errors[:1]), *report.omissions.lines()]
    return DataError("; ".join(["no span could be imported", *reasons]), source=str(paths[0]))


def _around_rows(name: str) -> tuple[bytes, bytes]:
    """Return the JSON of a lab before and after its rows, up to the models."""
    lab = TestLab(name=name).to_dict()
    for key in ("models", "llm_model_names", "dataset"):
        del lab[key]
    return to_json(lab)[:-1] + b',"dataset":{"inputs":[', b"\n]},"
