"""`evalstudio evaluators`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    plugins = registry_for(arguments).evaluators
    entries: list[dict[str, Any]] = []
    for id in plugins:
        spec = plugins.spec(id)
        entries.append(
            {
                "id": id,
                "name": spec.name,
                "domain": spec.domain,
                "description": spec.description,
                "needs": list(spec.needs),
                "requires": list(spec.requires),
                "systems": list(spec.systems),
                "method": list(spec.method),
                "scope": spec.scope,
                "extra": spec.extra,
                "keywords": list(spec.keywords),
                "params": parameters(plugins.get(id)),
                "metrics": [
                    {
                        "key": metric.key,
                        "name": metric.name or metric.key,
                        "better": metric.better,
                        "range": list(metric.range),
                        "threshold": metric.threshold,
                        "primary": metric.primary,
                    }
                    for metric in spec.metrics
                ],
            }
        )
    if arguments.json:
        print_json(entries)
        return FINE
    for entry in entries:
        primary = next(metric for metric in entry["metrics"] if metric["primary"])
        say(
            f"{entry['id']:<27} {entry['domain']:<15} {primary['key']}"
            f" {'>=' if primary['better'] == 'higher' else '<='} {primary['threshold']:g}"
        )
        say(f"    {entry['description']}")
        say(
            f"    needs: {', '.join(entry['needs'])}"
            + (f"; options: {', '.join(entry['params'])}" if entry["params"] else "")
        )
    return FINE
