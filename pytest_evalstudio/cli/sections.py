"""`evalstudio sections`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("sections", run, "List the sections of the report's page in their order.")
    parser.add_argument("--json", action="store_true", help="for machines")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.core.plugins.section import section_order

    specs = sorted(registry_for(arguments).sections.specs(), key=section_order)
    if arguments.json:
        print_json(
            [
                {
                    "id": spec.id,
                    "title": spec.title,
                    "tab": spec.tab,
                    "order": spec.order,
                    "description": spec.description,
                }
                for spec in specs
            ]
        )
        return FINE
    for spec in specs:
        say(f"{spec.id:<20}{spec.title}")
        say(f"    {spec.description}")
    return FINE
