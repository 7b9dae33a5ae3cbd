"""`evalstudio perturbators`."""

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
    plugins = registry_for(arguments).perturbators
    entries = [
        {
            "id": id,
            "name": spec.name,
            "keeps_meaning": spec.keeps_meaning,
            "intensities": [level.lower() for level in spec.intensities],
            "description": spec.description,
            "params": parameters(plugins.get(id)),
        }
        for id, spec in ((id, plugins.spec(id)) for id in plugins)
    ]
    if arguments.json:
        print_json(entries)
        return FINE
    for id, spec in ((id, plugins.spec(id)) for id in plugins):
        levels = ", ".join(level.lower() for level in spec.intensities) or "no intensities"
        say(f"{id:<26}{levels}" + ("" if spec.keeps_meaning else "; changes the meaning"))
        say(f"    {spec.description}")
        options = ", ".join(parameters(plugins.get(id)))
        if options:
            say(f"    options: {options}")
    return FINE
