"""`evalstudio generators`."""

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
    plugins = registry_for(arguments).generators
    specs = [plugins.spec(id) for id in plugins]
    if arguments.json:
        print_json(
            [
                {"id": spec.id, "name": spec.name, "purpose": spec.purpose, "description": spec.description}
                for spec in specs
            ]
        )
        return FINE
    for spec in specs:
        say(f"{spec.id:<28}{spec.purpose}" + ("" if spec.drafts else "; written by a language model only"))
        say(f"    {spec.description}")
    return FINE
