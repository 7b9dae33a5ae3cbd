"""`evalstudio schema`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, print_json, say
from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from pytest_evalstudio.cli.schema_files import FOLDER

    parser.set_defaults(command=run)
    parser.add_argument(
        "kind",
        nargs="?",
        metavar="suite|test|test_case|lab|dataset|configuration|workflow|scores|record|summary",
    )
    parser.add_argument(
        "--write",
        nargs="?",
        const=FOLDER,
        metavar="DIR",
        help=f"write the schemas of all files that people edit, for editors (default: {FOLDER})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    if arguments.write is not None:
        from pytest_evalstudio.cli.schema_files import write_schemas

        if arguments.kind is not None:
            raise ConfigurationError(
                f"schema {arguments.kind} --write: --write writes all schemas; give it without a format"
            )
        paths = write_schemas(Path(arguments.write))
        say(f"wrote {len(paths)} schemas to {arguments.write}")
        return FINE
    if arguments.kind is None:
        raise ConfigurationError("schema: no format is given; give one, e.g. suite, or --write for all")
    if arguments.kind == "record":
        from pytest_evalstudio.record.json_schema import record_schema

        print_json(record_schema())
        return FINE
    if arguments.kind == "summary":
        from pytest_evalstudio.analysis.summary.results import summary_schema

        print_json(summary_schema())
        return FINE
    from pytest_evalstudio.formats.json_schemas import text_of

    say(*text_of(arguments.kind).splitlines())
    return FINE
