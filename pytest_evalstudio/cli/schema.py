"""`evalstudio schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, print_json, say

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("schema", run, "Print the JSON Schema of a format.")
    parser.add_argument("kind", metavar="suite|test|test_case|lab|dataset|workflow|scores|record")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    if arguments.kind == "record":
        from pytest_evalstudio.record.json_schema import record_schema

        print_json(record_schema())
        return FINE
    from pytest_evalstudio.formats.json_schemas import text_of

    say(*text_of(arguments.kind).splitlines())
    return FINE
