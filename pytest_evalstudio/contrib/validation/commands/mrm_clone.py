"""`evalstudio mrm clone`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.cli.common import FINE, configuration_for, say
from pytest_evalstudio.cli.plugin_modules import registry_for
from pytest_evalstudio.contrib.validation.commands.workflow_files import check_workflow
from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.validation.commands.mrm_findings import AddsAction

SUFFIX = ".json"


def add_clone(add: AddsAction) -> None:
    """Declare the action."""
    parser = add(
        "clone",
        clone,
        "Write a copy of a workflow file, with all parameters and no artifacts.",
    )
    parser.add_argument("target", metavar="TARGET", help="new workflow file, .json")
    for name, meaning in (
        ("name", "of the copy (default: the source's and '(copy)')"),
        ("description", "of the copy"),
        ("model", "[[model]] that the copy validates"),
    ):
        parser.add_argument(f"--{name}", metavar=name.upper(), help=meaning)
    parser.add_argument(
        "--set",
        dest="parameters",
        action="append",
        default=[],
        metavar="STEP.PARAMETER=VALUE",
        help='replace a parameter by a JSON value, e.g. test_generation.topics_excluded=["t3"]; repeatable',
    )


def clone(arguments: argparse.Namespace) -> int:
    """Check the copy, then write it."""
    from pytest_evalstudio.contrib.validation.workflow.cloning import cloned
    from pytest_evalstudio.formats.fields import write_json
    from pytest_evalstudio.formats.kinds import read_source
    from pytest_evalstudio.formats.source import parse

    path, target = Path(arguments.workflow), Path(arguments.target)
    if target.suffix.lower() != SUFFIX:
        raise ConfigurationError(f"{target}: a file name for the copy of a workflow ends with {SUFFIX}")
    if target.exists():
        raise ConfigurationError(f"{target}: there is a file of this name; give another name")
    changes = {
        name: value
        for name in ("name", "description", "model")
        if (value := getattr(arguments, name)) is not None
    }
    content = cloned(read_source(path), path, target, changes, _parameters(arguments.parameters))
    # Through its text, so that the copy is checked as a file is.
    source = parse(json.dumps(content), str(target))
    config = configuration_for(arguments.target, arguments.config)
    run = check_workflow(source, target, config, registry_for(arguments))
    # Artifacts of an earlier workflow would count as those of the copy.
    if run.folder.exists():
        raise ConfigurationError(f"{run.folder}: there are artifacts for this name; give another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_json(target, content)
    say(f"wrote {target}: workflow {run.title!r}, {len(run.specs)} steps; `pytest {target}` runs them")
    return FINE


def _parameters(texts: list[str]) -> dict[str, dict[str, Any]]:
    parameters: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        step, dot, parameter = name.partition(".")
        if not (separator and dot and step and parameter):
            raise ConfigurationError(f"--set {text}: expected STEP.PARAMETER=VALUE")
        values = parameters.setdefault(step, {})
        try:
            values[parameter] = json.loads(value)
        except (ValueError, RecursionError):
            # Words need no quotes.
            values[parameter] = value
    return parameters
