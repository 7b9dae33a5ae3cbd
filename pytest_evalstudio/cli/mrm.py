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
        "Show the status of the steps of a model-risk-management workflow, or write its report and artifacts;"
        " `pytest WORKFLOW` runs them.",
    )
    parser.add_argument(
        "action",
        choices=["status", "report"],
        help="status: one line for each step; report: write page, summary and the other artifacts again",
    )
    parser.add_argument("workflow", metavar="WORKFLOW")
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument("--json", action="store_true", help="the status for machines")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.formats.files import read_source
    from pytest_evalstudio.formats.workflow import read_workflow
    from pytest_evalstudio.mrm.workflow.run import WorkflowRun
    from pytest_evalstudio.report.workflow import write_workflow_artifacts

    path = Path(arguments.workflow)
    workflow = read_workflow(read_source(path))
    workflow_run = WorkflowRun(
        workflow, path, configuration_for(arguments.workflow, arguments.config), registry_for(arguments)
    )
    if arguments.action == "report":
        say(str(write_workflow_artifacts(workflow_run)))
        return FINE
    steps = list(workflow_run.statuses())
    if arguments.json:
        print_json(
            [
                {
                    "number": step.spec.number,
                    "step": step.spec.id,
                    "status": step.status,
                    "lacks": list(step.lacks),
                    "summary": step.state.summary if step.state else "",
                    "waits": step.state.waits if step.state else "",
                    "finished": step.state.finished if step.state else None,
                    "artifacts": str(workflow_run.folder_of(step.spec.id)),
                }
                for step in steps
            ]
        )
    else:
        say(
            f"{workflow.name or path.stem}: {sum(step.status == 'completed' for step in steps)} of"
            f" {len(steps)} steps completed"
        )
        for step in steps:
            said = (
                f"needs {', '.join(step.lacks)}"
                if step.lacks
                else (step.state.waits or step.state.summary)
                if step.state
                else ""
            )
            when = f" {step.state.finished}" if step.state else ""
            say(
                f"  {step.spec.number}. {step.spec.id:<28}{step.status:<10}{when}"
                + (f"  {said}" if said else "")
            )
    return FINE if all(step.status == "completed" for step in steps) else FINDINGS
