"""Attestations: in-toto statements about a record, with the verification as the predicate."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_evalstudio.contrib.attestation.findings import Verdict, Verification, VerifiedFigures
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.reading import file_sha256, read_bytes
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.record.reader import record_path
from pytest_evalstudio.record.writer import FILE as RECORD
from pytest_evalstudio.scoring.run_header import TOOL, now

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://pypi.org/project/pytest-evalstudio/#verified-run-v1"
_REPORT_FILES = ("interpretation.html", "interpretation.json", "evalstudio-report.zip", "summary.md")
_MAX_BYTES = 32 << 20


class Subject(Struct, frozen=True, kw_only=True):
    """File that a statement is about.

    Attributes:
        digest: algorithm to hexadecimal digest; ours have sha256.
    """

    name: str
    digest: dict[str, str]


class Predicate(VerifiedFigures, frozen=True, kw_only=True):
    """Result of a verification.

    Attributes:
        verified_at: ISO 8601, UTC.
        tool: name to version.
    """

    verdict: Verdict
    verified_at: str
    tool: dict[str, str]


class Statement(Struct, frozen=True, kw_only=True):
    """in-toto statement, version 1.

    Source: https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
    """

    type: str = field(name="_type")
    subject: tuple[Subject, ...]
    predicate_type: str = field(name="predicateType")
    predicate: Predicate


def statement_of(verification: Verification, record: Path) -> Statement:
    """Return the statement of a verification.

    Args:
        record: record, or the folder of a report, whose page, archive and summary are subjects as well.

    Raises:
        DataError: if there is no record.
    """
    digests = {path.name: file_sha256(path) for path in _subject_files(record)}
    # Of what was verified: the record is in an archive, or may have changed since.
    digests |= {RECORD: verification.record} if verification.record else {}
    return Statement(
        type=STATEMENT_TYPE,
        subject=tuple(Subject(name=name, digest={"sha256": digest}) for name, digest in digests.items()),
        predicate_type=PREDICATE_TYPE,
        predicate=Predicate(
            **{name: getattr(verification, name) for name in VerifiedFigures.__struct_fields__},
            verdict=verification.verdict,
            verified_at=now(),
            tool={TOOL: version(TOOL)},
        ),
    )


def _subject_files(record: Path) -> list[Path]:
    if record.is_file():
        return [record]
    return [record_path(record), *(path for name in _REPORT_FILES if (path := record / name).is_file())]


def write_statement(path: Path, statement: Statement) -> None:
    """Write a statement as JSON."""
    data = msgspec.json.format(msgspec.json.encode(statement), indent=2)
    write_whole(path, data + b"\n")


def read_statement(path: Path) -> Statement:
    """Return the statement in a file.

    Raises:
        DataError: if it is no statement of a verified run.
    """
    if path.stat().st_size > _MAX_BYTES:
        raise DataError(f"is larger than {_MAX_BYTES >> 20} MiB, and no attestation", source=str(path))
    try:
        statement = msgspec.json.decode(read_bytes(path), type=Statement)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise DataError(f"is no attestation of a run: {exc}", source=str(path)) from None
    for name, value, expected in (
        ("_type", statement.type, STATEMENT_TYPE),
        ("predicateType", statement.predicate_type, PREDICATE_TYPE),
    ):
        if value != expected:
            raise DataError(f"{name} is {value!r}, expected {expected}", source=str(path))
    if not statement.subject:
        raise DataError("names no subject", source=str(path))
    return statement


def mismatches(statement: Statement, record: Path) -> tuple[list[str], list[str]]:
    """Compare the subjects of a statement with files.

    Args:
        record: record, or the folder of a report.

    Returns:
        Subjects that differ or lack a SHA-256, with the reason; and subjects that were not compared, since
        there is no such file.
    """
    files: dict[str, Path] = {path.name: path for path in _subject_files(record)}
    differing, absent = [], []
    for subject in statement.subject:
        path = files.pop(subject.name, None)
        expected = subject.digest.get("sha256", "")
        if path is None:
            absent.append(subject.name)
        elif file_sha256(path) != expected:
            differing.append(f"{path}: its SHA-256 is not that of the attestation")
    compared: set[Any] = {subject.name for subject in statement.subject} - set(absent)
    main_file = _subject_files(record)[0]
    if main_file.name not in compared:
        differing.append(f"{main_file}: the attestation is not about this file")
    return differing, absent
