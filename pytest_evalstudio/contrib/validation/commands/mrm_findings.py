"""`evalstudio mrm findings`."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_evalstudio.cli.common import FINDINGS, FINE, print_json, say
from pytest_evalstudio.contrib.validation.commands.workflow_files import workflow_run

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.validation.artifacts.register import RegisterEntry
    from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun

    class AddsAction(Protocol):
        """Adds an action of `evalstudio mrm`."""

        def __call__(
            self, name: str, command: Callable[[argparse.Namespace], int], text: str
        ) -> argparse.ArgumentParser: ...


def add_findings(add: AddsAction) -> None:
    """Declare the action."""
    parser = add(
        "findings",
        findings,
        "List the register of findings and challenges of a workflow; the options change it.",
    )
    parser.add_argument("--add", default="", metavar="TEXT", help="a new finding")
    parser.add_argument("--challenge", default="", metavar="TEXT", help="a new challenge of the validator")
    parser.add_argument("--name", default="", metavar="NAME", help="who raises it")
    parser.add_argument("--severity", default="medium", metavar="low|medium|high", help="default: medium")
    parser.add_argument("--owner", default="", metavar="NAME", help="who answers for it")
    parser.add_argument("--due", default="", metavar="YYYY-MM-DD", help="date by which it must be closed")
    parser.add_argument("--close", default="", metavar="ID", help="close a finding, or answer a challenge")
    parser.add_argument("--accept", default="", metavar="ID", help="accept a finding: it stays a limit")
    parser.add_argument("--evidence", default="", metavar="TEXT", help="of the closure, or the answer")
    parser.add_argument(
        "--collect", action="store_true", help="add the problems of the steps that are not registered yet"
    )
    parser.add_argument(
        "--import",
        dest="import_file",
        metavar="CSV",
        help="replace and add the entries of a file by their ids",
    )
    parser.add_argument("--csv", metavar="FILE", help='write the register as CSV; "-" for standard output')
    parser.add_argument("--json", action="store_true", help="for machines")


def findings(arguments: argparse.Namespace) -> int:
    """Change the register if the arguments ask for it, and show it."""
    from pytest_evalstudio.contrib.validation.artifact_files import write_workflow_artifacts
    from pytest_evalstudio.contrib.validation.artifacts.register import COLUMNS, change_register, row_of

    run = workflow_run(arguments)
    register, is_changed = change_register(run, lambda register: _changed(run, register, arguments))
    if is_changed:
        say(str(write_workflow_artifacts(run)), error=True)
    if arguments.csv:
        from pytest_evalstudio.core.writing import write_whole
        from pytest_evalstudio.formats.sheets import write_rows

        content = write_rows(COLUMNS, [row_of(entry) for entry in register])
        if arguments.csv == "-":
            sys.stdout.write(content.decode("utf-8-sig").replace("\r\n", "\n"))
        else:
            write_whole(Path(arguments.csv), content)
    elif arguments.json:
        print_json([asdict(entry) for entry in register])
    else:
        say(*_lines(register))
    is_listed = not is_changed and not arguments.csv
    return FINDINGS if is_listed and any(entry.is_open for entry in register) else FINE


def _changed(
    run: WorkflowRun, register: Sequence[RegisterEntry], arguments: argparse.Namespace
) -> tuple[RegisterEntry, ...]:
    from pytest_evalstudio.contrib.validation.artifacts.register import (
        Kind,
        RegisterEntry,
        added,
        closed,
        collected,
        merged,
        read_register,
    )
    from pytest_evalstudio.contrib.validation.artifacts.summary import step_problems

    result = tuple(register)
    if arguments.import_file:
        result = merged(result, read_register(Path(arguments.import_file), required=True))
    if arguments.collect:
        problems, steps = step_problems(run)
        result = collected(result, problems, steps)
    new: tuple[tuple[Kind, str], ...] = (("finding", arguments.add), ("challenge", arguments.challenge))
    for kind, text in new:
        if text:
            entry = RegisterEntry(
                id="",
                kind=kind,
                severity=arguments.severity,
                description=text,
                owner=arguments.owner,
                due=arguments.due,
                raised_by=arguments.name,
            )
            result = added(result, entry)
    if arguments.close:
        result = closed(result, arguments.close, status="closed", evidence=arguments.evidence)
    if arguments.accept:
        result = closed(result, arguments.accept, status="accepted", evidence=arguments.evidence)
    return result


def _lines(register: Sequence[RegisterEntry]) -> Iterator[str]:
    today = datetime.datetime.now(datetime.UTC).date()
    for entry in register:
        late = " OVERDUE" if entry.is_overdue(today) else ""
        parts = [entry.owner and f"owner {entry.owner}", entry.due and f"due {entry.due}{late}"]
        rest = "; ".join(filter(None, parts))
        yield f"{entry.id:<5} {entry.severity:<6} {entry.status:<11} {entry.description}" + (
            f"  ({rest})" if rest else ""
        )
        if entry.cases:
            yield f"      cases: {', '.join(entry.cases)}"
        if entry.evidence:
            yield f"      {'answer' if entry.kind == 'challenge' else 'evidence'}: {entry.evidence}"
    open_entries = sum(entry.is_open for entry in register)
    yield f"{len(register)} in the register, {open_entries} open" if register else "the register is empty"
