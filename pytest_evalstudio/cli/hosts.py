"""`evalstudio hosts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_evalstudio.cli.common import FINE, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.plugins.declaring import parameters

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("hosts", run, "List the hosts of models with their parameters.")
    parser.add_argument("--json", action="store_true", help="for machines")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    plugins = registry_for(arguments).hosts
    entries: list[dict[str, Any]] = []
    for id in plugins:
        spec = plugins.spec(id)
        entries.append(
            {
                "id": id,
                "name": spec.name,
                "kind": spec.kind,
                "extra": spec.extra,
                "caches": spec.caches,
                "description": spec.description,
                "params": parameters(plugins.get(id)),
            }
        )
    if arguments.json:
        print_json(entries)
        return FINE
    for entry in entries:
        extra = f'  pip install "pytest-evalstudio[{entry["extra"]}]"' if entry["extra"] else ""
        say(f"{entry['id']:<20}{entry['kind']:<6}{extra}")
        say(f"    {entry['description']}")
        say(f"    parameters: {', '.join(entry['params']) or 'none'}")
    return FINE
