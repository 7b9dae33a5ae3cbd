"""Weaknesses that people write: they stay with the workflow when steps run again."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

import msgspec

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.outcomes import SEVERITIES, Severity
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.mrm.workflow.results import json_ready
from pytest_evalstudio.mrm.workflow.run import WorkflowRun
from pytest_evalstudio.mrm.workflow.states import WRITTEN

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenWeakness:
    """A weakness that a person wrote.

    Attributes:
        name: of the person.
        date: ISO 8601 with time zone.
        actions: what to do, "" for nothing.
    """

    description: str
    severity: Severity
    name: str
    date: str
    actions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    version: int
    weaknesses: tuple[WrittenWeakness, ...]


def write_weakness(
    run: WorkflowRun, *, description: str, severity: str, name: str, actions: str = ""
) -> WrittenWeakness:
    """Store a weakness with the workflow.

    Raises:
        ConfigurationError: if description or name are empty, or the severity is unknown.
        DataError: if the file of weaknesses cannot be read, or another run is at work on the workflow.
    """
    if not name.strip() or not description.strip():
        raise ConfigurationError("a weakness needs --name, who writes, and --comment, the weakness")
    severity_level = next((level for level in SEVERITIES if level == severity), None)
    if severity_level is None:
        raise ConfigurationError(f"--severity: no severity {severity!r}; there are {', '.join(SEVERITIES)}")
    written = WrittenWeakness(
        description=description.strip(),
        severity=severity_level,
        name=name.strip(),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        actions=actions.strip(),
    )
    run.claim()
    with run.locked():
        path = run.folder / WRITTEN
        weaknesses = read_weaknesses(path)
        write_json(path, json_ready(_File(version=VERSION, weaknesses=(*weaknesses, written))))
    return written


def read_weaknesses(path: Path) -> tuple[WrittenWeakness, ...]:
    """Return the weaknesses of a file, the oldest first; none without a file.

    Raises:
        DataError: if it cannot be read.
    """
    try:
        content = msgspec.json.decode(read_bytes(path), type=_File)
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.DecodeError) as exc:
        raise DataError(f"cannot be read: {exc}; correct the file", source=str(path)) from None
    if content.version != VERSION:
        raise DataError(f"has version {content.version}, and this version reads {VERSION}", source=str(path))
    return content.weaknesses
