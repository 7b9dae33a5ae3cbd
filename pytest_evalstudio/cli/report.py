"""`evalstudio report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.numbers import DEFAULT_SEED

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.report.build import Report


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "record", metavar="RECORD", help="record.jsonl, or the folder it is in, or a scored table"
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    parser.add_argument(
        "--rows",
        type=int,
        default=1000,
        metavar="N",
        help="random answers of a scored table that the page lists beside the worst (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help="of these answers (default: %(default)s)",
    )
    parser.add_argument("--parquet", action="store_true", help="write the results as Parquet, too")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.cli.sources import source_of
    from pytest_evalstudio.record.outputs import OutputFolder
    from pytest_evalstudio.record.reader import read_run, record_path
    from pytest_evalstudio.report.build import build_report

    registry = registry_for(arguments)
    output = Path(arguments.output)
    if (source := source_of(arguments.record)) is not None:
        if arguments.parquet:
            raise ConfigurationError("--parquet is for a record; a scored table is Parquet itself")
        if arguments.rows < 0:
            raise ConfigurationError(f"--rows {arguments.rows}: must be 0 or more")
        return _describe(
            source.report(
                arguments.record, output, rows=arguments.rows, seed=arguments.seed, registry=registry
            )
        )
    if arguments.parquet:
        from pytest_evalstudio.report.parquet import require_pyarrow

        require_pyarrow()
    record = record_path(arguments.record)
    read_run(record)  # no folder is created for a file that is not a record
    with OutputFolder(output).locked():
        report = build_report(record, output, registry=registry, root=Path.cwd(), parquet=arguments.parquet)
    return _describe(report)


def _describe(report: Report) -> int:
    for warning in report.warnings:
        say(f"warning: {warning}", error=True)
    say(f"wrote {report.page if report.page.is_file() else report.page.parent}")
    return FINE
