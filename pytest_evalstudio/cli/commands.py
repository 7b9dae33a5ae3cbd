"""Commands of the core, and those that optional parts bring."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.contrib import Command, contribs

_CORE: Mapping[str, Command] = {
    "evaluators": Command(
        target="pytest_evalstudio.cli.evaluators:add_to",
        text="List the evaluators with their metrics and thresholds.",
    ),
    "hosts": Command(
        target="pytest_evalstudio.cli.hosts:add_to",
        text=(
            "List the hosts of models with their parameters; `check NAME` tries a connection or "
            "model of the configuration, `models NAME` lists the models of its service, `tools NAME` "
            "the tools of an MCP server."
        ),
    ),
    "perturbators": Command(
        target="pytest_evalstudio.cli.perturbators:add_to",
        text="List the perturbators with their intensities and options.",
    ),
    "sections": Command(
        target="pytest_evalstudio.cli.sections:add_to",
        text="List the sections of the report's page in their order.",
    ),
    "validate": Command(
        target="pytest_evalstudio.cli.validate:add_to",
        text="Check suites, labs, data sets, workflows, gates over scored tables, configuration files.",
    ),
    "init": Command(
        target="pytest_evalstudio.cli.init:add_to",
        text=(
            "Write a suite, a configuration and a job of CI for an application; on a terminal without "
            "arguments it asks three questions."
        ),
    ),
    "library": Command(
        target="pytest_evalstudio.cli.library:add_to",
        text="Find and sample test cases in a folder or URL of suites.",
    ),
    "perturb": Command(
        target="pytest_evalstudio.cli.perturb:add_to",
        text="Add perturbed cases to a suite or lab; the originals stay.",
    ),
    "import": Command(
        target="pytest_evalstudio.cli.importing:add_import",
        text="Import tests or answers from another tool's file.",
    ),
    "export": Command(
        target="pytest_evalstudio.cli.importing:add_export",
        text=(
            "Write a suite, data set or lab in another tool's format; or send the scores of a run to a "
            "viewer of traces."
        ),
    ),
    "convert": Command(
        target="pytest_evalstudio.cli.convert:add_to",
        text=(
            "The same as import and export of agent-evaluation: an evaluation set to a suite or data "
            "set, or one of these to an evaluation set."
        ),
    ),
    "freeze": Command(
        target="pytest_evalstudio.cli.freeze:add_to",
        text="Make a suite of recorded cases: conversations become fixed turns, observed calls expectations.",
    ),
    "update": Command(
        target="pytest_evalstudio.cli.update:add_to",
        text="Write observed answers into suites as new expectations, after showing the difference.",
    ),
    "resolve": Command(
        target="pytest_evalstudio.cli.resolve:add_to",
        text=(
            "Ask models the questions of a suite; or those of a lab that have no answer yet, and write the "
            "answers as a lab."
        ),
    ),
    "baseline": Command(
        target="pytest_evalstudio.cli.baseline:add_to",
        text="Save, accept or show the baseline that runs are compared with.",
    ),
    "compare": Command(
        target="pytest_evalstudio.cli.compare:add_to",
        text="Compare two runs, or two models of one run: is the second one worse?",
    ),
    "history": Command(
        target="pytest_evalstudio.cli.history:add_to",
        text="Show the metrics of several runs, with intervals and commits.",
    ),
    "merge": Command(
        target="pytest_evalstudio.cli.merge:add_to",
        text="Merge the records of shards, and build the report of the whole run.",
    ),
    "report": Command(
        target="pytest_evalstudio.cli.report:add_to",
        text="Build the report of a run from its record.",
    ),
    "schema": Command(
        target="pytest_evalstudio.cli.schema:add_to",
        text="Print the JSON Schema of a format.",
    ),
}

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "everyday": ("init", "validate", "baseline", "update", "compare", "report", "history"),
    "data": ("import", "export", "convert", "resolve", "freeze", "library", "perturb", "merge"),
    "lists and schemas": ("evaluators", "hosts", "perturbators", "sections", "schema"),
}
_OPTIONAL = "optional parts"


def grouped_commands() -> dict[str, dict[str, Command]]:
    """Return all commands by group and name, the everyday ones first.

    Raises:
        ConfigurationError: if two of them have one name.
    """
    by_name = commands()
    groups = {title: {name: by_name.pop(name) for name in names} for title, names in _GROUPS.items()}
    return groups | {_OPTIONAL: by_name}


def commands() -> dict[str, Command]:
    """Return all commands by name, those of the core first.

    Raises:
        ConfigurationError: if two of them have one name.
    """
    by_name = dict(_CORE)
    for contrib in contribs():
        for name, command in contrib.commands.items():
            if name in by_name:
                raise ConfigurationError(
                    f"optional part {contrib.name!r}: the command {name!r} is already that of"
                    f" {by_name[name].target}; rename one"
                )
            by_name[name] = command
    return by_name
