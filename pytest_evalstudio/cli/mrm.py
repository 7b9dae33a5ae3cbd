"""`evalstudio mrm`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add(
        "mrm",
        run,
        "Tell how the steps of a model-risk-management workflow stand, or write its report and artifacts;"
        " `pytest WORKFLOW` runs them.",
    )
    parser.add_argument(
        "action",
        choices=["status", "report"],
        help="status: one line for each step; report: page, summary and the other artifacts anew",
    )
    parser.add_argument("workflow", metavar="WORKFLOW")
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument("--json", action="store_true", help="the status for machines")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.formats.files import read_source
    from pytest_evalstudio.formats.workflow import read_workflow
    from pytest_evalstudio.mrm.workflow.run import WorkflowRun
    from pytest_evalstudio.report.workflow import write_workflow_artifacts

    path = Path(arguments.workflow)
    workflow = read_workflow(read_source(path))
    found = WorkflowRun(
        workflow, path, configuration_for(arguments.workflow, arguments.config), registry_for(arguments)
    )
    if arguments.action == "report":
        say(str(write_workflow_artifacts(found)))
        return FINE
    places = list(found.places())
    if arguments.json:
        print_json(
            [
                {
                    "number": place.spec.number,
                    "step": place.spec.id,
                    "standing": place.standing,
                    "lacks": list(place.lacks),
                    "summary": place.state.summary if place.state else "",
                    "waits": place.state.waits if place.state else "",
                    "finished": place.state.finished if place.state else None,
                    "artifacts": str(found.folder_of(place.spec.id)),
                }
                for place in places
            ]
        )
    else:
        say(
            f"{workflow.name or path.stem}: {sum(place.standing == 'completed' for place in places)} of"
            f" {len(places)} steps completed"
        )
        for place in places:
            said = (
                f"needs {', '.join(place.lacks)}"
                if place.lacks
                else (place.state.waits or place.state.summary)
                if place.state
                else ""
            )
            when = f" {place.state.finished}" if place.state else ""
            say(
                f"  {place.spec.number}. {place.spec.id:<28}{place.standing:<10}{when}"
                + (f"  {said}" if said else "")
            )
    return FINE if all(place.standing == "completed" for place in places) else FINDINGS
