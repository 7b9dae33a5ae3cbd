"""`evalstudio report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("report", run, "Build the report of a run from its record.")
    parser.add_argument("record", metavar="RECORD", help="record.jsonl, or the folder it is in")
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.engine.outputs import OutputFolder
    from pytest_evalstudio.record.reader import read_run, record_path
    from pytest_evalstudio.report.build import build_report

    registry = registry_for(arguments)
    record = record_path(arguments.record)
    read_run(record)  # no folder is created for a file that is not a record
    output = Path(arguments.output)
    with OutputFolder(output).locked():
        report = build_report(record, output, registry=registry)
    for warning in report.warnings:
        say(f"warning: {warning}", error=True)
    say(f"wrote {report.page if report.page.is_file() else report.page.parent}")
    return FINE
