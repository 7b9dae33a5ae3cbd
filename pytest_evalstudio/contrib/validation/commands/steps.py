"""`evalstudio steps`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.plugins.declaring import parameters

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("--json", action="store_true", help="for machines")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    plugins = registry_for(arguments).steps
    specs = sorted((plugins.spec(id) for id in plugins), key=lambda spec: spec.number)
    entries = [
        {
            "number": spec.number,
            "id": spec.id,
            "name": spec.name,
            "after": list(spec.after),
            "uses": list(spec.uses),
            "extra": spec.extra,
            "description": spec.description,
            "params": parameters(plugins.get(spec.id)),
        }
        for spec in specs
    ]
    if arguments.json:
        print_json(entries)
        return FINE
    for spec in specs:
        needs = f"after {', '.join(spec.after)}" if spec.after else "first"
        say(f"{spec.number}. {spec.id:<30}{needs}" + (f"; uses {', '.join(spec.uses)}" if spec.uses else ""))
        say(f"    {spec.description}")
        say(f"    parameters: {', '.join(parameters(plugins.get(spec.id))) or 'none'}")
    return FINE
