"""`evalstudio sections`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
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
