"""Register of findings and challenges that people keep with a workflow, in a CSV file."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal, get_args

import msgspec

from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow.states import REGISTER
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.markdown import whole
from pytest_evalstudio.core.outcomes import SEVERITIES, Severity
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.sheets import plain, read_sheet, write_rows
from pytest_evalstudio.scoring.masking import masked

Kind = Literal["finding", "challenge"]
KINDS: tuple[Kind, ...] = get_args(Kind)
EntryStatus = Literal["open", "in progress", "accepted", "closed"]
STATUSES: tuple[EntryStatus, ...] = get_args(EntryStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterEntry:
    """A finding, or a challenge of the validator with its answer.

    Attributes:
        id: "F-1" of a finding, "C-1" of a challenge.
        description: the weakness, or the question and its reason.
        owner: who answers for it.
        due: ISO 8601 date, "" for none.
        status: `accepted` is a risk that is taken knowingly; it stays a limit of the conclusion.
        evidence: of the closure, or the answer to the challenge; required if it is closed or accepted.
        raised_by: name of the person.
        raised: ISO 8601 date.
        step: name of the step that reported it, "" for people.
        cases: keys of the test cases that it rests on.
    """

    id: str
    kind: Kind = "finding"
    severity: Severity = "medium"
    description: str
    owner: str = ""
    due: str = ""
    status: EntryStatus = "open"
    evidence: str = ""
    raised_by: str = ""
    raised: str = ""
    step: str = ""
    cases: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Report whether something remains to be done."""
        return self.status in ("open", "in progress")

    def is_overdue(self, today: datetime.date) -> bool:
        """Report whether it is open after its due date."""
        return self.is_open and bool(self.due) and self.due < today.isoformat()


COLUMNS: tuple[str, ...] = tuple(item.name for item in fields(RegisterEntry))
_BETWEEN_CASES = ";"
REQUIRED = ("id", "description", "severity", "status")


def read_register(path: Path, *, required: bool = False) -> tuple[RegisterEntry, ...]:
    """Return the entries of a CSV file in its order.

    Args:
        path: the file.
        required: False for a register that has no entry without a file.

    Raises:
        DataError: for the first row that is no entry, with its line.
    """
    if not required and not path.exists():
        return ()
    try:
        sheet = read_sheet(path, REQUIRED, "findings")
    except OSError as exc:
        raise DataError(f"{path}: cannot be read: {exc.strerror or exc}") from None
    entries: dict[str, RegisterEntry] = {}
    for line, row in sheet.rows:
        values = {name: plain(row[name]).strip() for name in COLUMNS if name in row}
        try:
            entry = _checked(values)
        except ValueError as exc:
            raise DataError(f"{path}:{line}: {exc}") from None
        if entry.id in entries:
            raise DataError(f"{path}:{line}: id {entry.id!r} occurs twice; ids must be unique")
        entries[entry.id] = entry
    return tuple(entries.values())


def _checked(values: dict[str, str]) -> RegisterEntry:
    """Return the entry of a row.

    Raises:
        ValueError: with fact and remedy.
    """
    for name in ("id", "description"):
        if not values[name]:
            raise ValueError(f"{name} is empty")
    words = {"kind": KINDS, "severity": SEVERITIES, "status": STATUSES}
    values = {**values, "kind": values.get("kind") or "finding", "status": values["status"] or "open"}
    for name, allowed in words.items():
        if values[name] not in allowed:
            raise ValueError(f"{name} {values[name]!r} is unknown; write one of {', '.join(allowed)}")
    for name in ("due", "raised"):
        if values.get(name):
            try:
                # In one form, since dates are compared as texts.
                values[name] = datetime.date.fromisoformat(values[name]).isoformat()
            except ValueError:
                raise ValueError(f"{name} {values[name]!r} is not a date; write YYYY-MM-DD") from None
    cases = tuple(filter(None, map(str.strip, values.get("cases", "").split(_BETWEEN_CASES))))
    entry = msgspec.convert({**values, "cases": cases}, RegisterEntry)
    if not entry.is_open and not entry.evidence:
        raise ValueError(f"{entry.id} is {entry.status} without evidence; state it in the column evidence")
    return entry


def change_register(
    run: WorkflowRun, change: Callable[[tuple[RegisterEntry, ...]], tuple[RegisterEntry, ...]]
) -> tuple[tuple[RegisterEntry, ...], bool]:
    """Change the register of a workflow; personal data and secrets in texts are masked.

    Args:
        run: of the workflow.
        change: takes the stored entries and returns the new ones.

    Returns:
        The entries as they are stored, and whether they were changed.

    Raises:
        DataError: if another run or change is at work on the workflow.
    """
    path = run.folder / REGISTER
    # A change that asks for nothing needs neither folder nor lock, e.g. where a register is only listed.
    earlier = read_register(path)
    if change(earlier) == earlier:
        return earlier, False
    run.claim()
    with run.locked():
        # Read again under the lock, so that no entry of another process is lost.
        entries = change(read_register(path))
        rows = [{name: masked(value) for name, value in row_of(entry).items()} for entry in entries]
        write_whole(path, write_rows(COLUMNS, rows))
        return read_register(path), True


def row_of(entry: RegisterEntry) -> dict[str, str]:
    """Return the row of an entry in a CSV file; keys of cases are separated by semicolons."""
    values = {**asdict(entry), "cases": f"{_BETWEEN_CASES} ".join(entry.cases)}
    return {name: str(value) for name, value in values.items()}


def merged(register: Sequence[RegisterEntry], imported: Iterable[RegisterEntry]) -> tuple[RegisterEntry, ...]:
    """Return a register with the entries of another file: those of known ids are replaced, others added."""
    return tuple({entry.id: entry for entry in (*register, *imported)}.values())


def added(register: Sequence[RegisterEntry], entry: RegisterEntry) -> tuple[RegisterEntry, ...]:
    """Return a register with a new entry under the next free id, raised today.

    Raises:
        ConfigurationError: if description or name are empty, or a value is none of its column's.
    """
    if not entry.description.strip() or not entry.raised_by.strip():
        raise ConfigurationError("a new finding needs --add TEXT (what was found) and --name (who raises it)")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    values = {**row_of(entry), "id": next_id(register, entry.kind), "raised": entry.raised or today}
    try:
        return (*register, _checked({name: str(value).strip() for name, value in values.items()}))
    except ValueError as exc:
        raise ConfigurationError(f"findings: {exc}") from None


def next_id(register: Sequence[RegisterEntry], kind: Kind) -> str:
    """Return the next free id.

    >>> next_id([RegisterEntry(id="F-2", description="x"), RegisterEntry(id="A", description="y")], "finding")
    'F-3'
    """
    letter = kind[0].upper()
    numbers = [
        int(entry.id[2:])
        for entry in register
        if entry.id.startswith(f"{letter}-") and entry.id[2:].isdecimal()
    ]
    return f"{letter}-{max(numbers, default=0) + 1}"


def closed(
    register: Sequence[RegisterEntry], id: str, *, status: EntryStatus, evidence: str
) -> tuple[RegisterEntry, ...]:
    """Return a register with an entry closed or accepted.

    Raises:
        ConfigurationError: for an unknown id, or without evidence.
    """
    if not evidence.strip():
        raise ConfigurationError(f"{id}: state the evidence, or the reason, by --evidence")
    if all(entry.id != id for entry in register):
        known = ", ".join(entry.id for entry in register) or "none"
        raise ConfigurationError(f"{id}: there is no such finding; the register has {known}")
    return tuple(
        replace(entry, status=status, evidence=evidence.strip()) if entry.id == id else entry
        for entry in register
    )


def collected(
    register: Sequence[RegisterEntry], problems: Iterable[Problem], steps: Iterable[str]
) -> tuple[RegisterEntry, ...]:
    """Return a register with an entry for each problem of the steps that it does not describe yet."""
    known = {entry.description for entry in register}
    for problem, step in zip(problems, steps, strict=True):
        if problem.description not in known:
            entry = RegisterEntry(
                id="",
                severity=problem.severity,
                description=problem.description,
                raised_by="workflow",
                step=step,
                cases=cases_of(problem),
            )
            register = added(register, entry)
            known.add(problem.description)
    return tuple(register)


def cases_of(problem: Problem) -> tuple[str, ...]:
    """Return the keys of the test cases that a problem rests on."""
    keys = problem.attributes.get("test_case_keys")
    return tuple(map(str, keys)) if isinstance(keys, list | tuple) else ()


def register_lines(register: Sequence[RegisterEntry]) -> Iterator[str]:
    """Yield the register as a section in Markdown; nothing if it is empty."""
    if register:
        yield from ("", "## Register of findings", "")
    for entry in register:
        parts = [entry.status, entry.severity, entry.owner and f"owner {whole(entry.owner)}"]
        parts += [entry.due and f"due {entry.due}", entry.evidence and f"evidence: {whole(entry.evidence)}"]
        if entry.cases:
            parts.append(f"cases: {', '.join(map(whole, entry.cases))}")
        yield f"- **{whole(entry.id)}** {whole(entry.description)} ({'; '.join(filter(None, parts))})"
