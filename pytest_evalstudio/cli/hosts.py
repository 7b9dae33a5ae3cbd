"""`evalstudio hosts`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.text.figures import counted, figure

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.formats.config import Configuration


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("action", nargs="?", choices=("check", "models", "tools"))
    parser.add_argument("name", nargs="?", metavar="NAME", help="a [connection.NAME] or a [[model]]")
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the definitions of the tools")
    parser.add_argument(
        "--compare", metavar="FILE", help="compare the tools with definitions that were written before"
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    registry = registry_for(arguments)
    if arguments.action is None:
        return _list(registry, as_json=arguments.json)
    if arguments.name is None:
        raise ConfigurationError(
            f"hosts {arguments.action}: give the name of a [connection.NAME] or a [[model]]"
        )
    config = configuration_for(str(Path.cwd() / "evalstudio.toml"), arguments.config)
    if arguments.action == "tools":
        return _tools(config, arguments, registry)
    action = _check if arguments.action == "check" else _models
    return action(config, arguments.name, registry, as_json=arguments.json)


def _check(config: Configuration, name: str, registry: Registry, *, as_json: bool) -> int:
    from pytest_evalstudio.asking.checking import check_host

    result = check_host(config, name, registry)
    if as_json:
        print_json({"name": name, **asdict(result)})
    elif result.fault:
        say(f"{name}: host {result.host} cannot be used: {result.fault}")
    else:
        models = "" if result.models is None else f", {result.models} {result.lists}"
        say(f"{name}: host {result.host} is ready ({figure(result.duration_s)} s{models})")
    for note in () if as_json else result.notes:
        say(note)
    return FINDINGS if result.fault else FINE


def _models(config: Configuration, name: str, registry: Registry, *, as_json: bool) -> int:
    from pytest_evalstudio.asking.checking import models_of

    models = models_of(config, name, registry)
    if as_json:
        print_json(models)
    else:
        say(*models)
    return FINE


def _tools(config: Configuration, arguments: argparse.Namespace, registry: Registry) -> int:
    from pytest_evalstudio.asking.checking import tools_of
    from pytest_evalstudio.asking.tool_snapshots import changes_since, read_snapshot
    from pytest_evalstudio.formats.fields import write_json
    from pytest_evalstudio.scoring.masking import masked

    # Before the server is asked: a wrong file name is then reported at once.
    snapshot = read_snapshot(Path(arguments.compare)) if arguments.compare else None
    definitions = tools_of(config, arguments.name, registry)
    if arguments.output:
        write_json(Path(arguments.output), definitions)
        say(f"wrote {arguments.output}: {counted(len(definitions), 'tool')}")
    elif arguments.json:
        print_json(definitions)
    elif snapshot is None:
        descriptions = [excerpt(masked(str(each.get("description") or ""))) for each in definitions]
        say(*(f"{each['name']}: {text}" for each, text in zip(definitions, descriptions, strict=True)))
    if snapshot is None:
        return FINE
    changes = changes_since(snapshot, definitions)
    say(*changes or [f"{counted(len(definitions), 'tool')} as in {arguments.compare}"])
    return FINDINGS if changes else FINE


def _list(registry: Registry, *, as_json: bool) -> int:
    plugins = registry.hosts
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
    if as_json:
        print_json(entries)
        return FINE
    for entry in entries:
        extra = f'  pip install "pytest-evalstudio[{entry["extra"]}]"' if entry["extra"] else ""
        say(f"{entry['id']:<20}{entry['kind']:<6}{extra}")
        say(f"    {entry['description']}")
        say(f"    parameters: {', '.join(entry['params']) or 'none'}")
    return FINE
