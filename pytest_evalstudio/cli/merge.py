"""`evalstudio merge`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "records", nargs="+", metavar="RECORD", help="record, report folder or report ZIP of each shard"
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    parser.add_argument(
        "--allow-partial", action="store_true", help="merge although shards of the run are missing"
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Merge the records and return the exit status."""
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.record.merge import merge
    from pytest_evalstudio.record.outputs import OutputFolder
    from pytest_evalstudio.record.writer import FILE
    from pytest_evalstudio.report.build import build_report

    registry = registry_for(arguments)
    output = Path(arguments.output)
    with ExitStack() as stack:
        readers = [stack.enter_context(opened(path)) for path in arguments.records]
        if any(reader.path.resolve() == (output / FILE).resolve() for reader in readers):
            raise ConfigurationError(f"{output}: is the folder of a shard; choose another folder by -o")
        folder = OutputFolder(output)
        stack.enter_context(folder.locked())
        # Before anything is written: a file of the same name that no run wrote is kept.
        folder.check([FILE])
        record = merge(readers, output, allow_partial=arguments.allow_partial)
        folder.list_files([*folder.owned(), FILE])
        report = build_report(record, output, registry=registry, root=Path.cwd())
    say(f"wrote {report.page}")
    return FINE
