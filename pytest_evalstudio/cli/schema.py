"""`evalstudio schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, print_json, say

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("kind", metavar="suite|test|test_case|lab|dataset|workflow|scores|record|summary")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
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
