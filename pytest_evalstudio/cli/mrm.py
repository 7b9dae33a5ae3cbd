"""`evalstudio mrm`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds
    from pytest_evalstudio.mrm.workflow.run import WorkflowRun


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add(
        "mrm",
        run,
        "Show the status of the steps of a model-risk-management workflow, write its report and artifacts,"
        " or sign"
        " it off; `pytest WORKFLOW` runs the steps.",
    )
    parser.add_argument(
        "action",
        choices=["status", "report", "sign-off", "weakness"],
        help="status: one line for each step; report: write page, summary, model card and the other artifacts"
        " again; sign-off: store a person's decision with the workflow; weakness: store a weakness that a"
        " person"
        " found",
    )
    parser.add_argument("workflow", metavar="WORKFLOW")
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument("--json", action="store_true", help="the status for machines")
    signing = parser.add_argument_group("sign-off and weakness")
    signing.add_argument("--name", default="", metavar="NAME", help="who signs or writes")
    signing.add_argument(
        "--comment", default="", metavar="TEXT", help="reasons and conditions; the weakness in words"
    )
    signing.add_argument(
        "--severity", default="medium", metavar="low|medium|high", help="of a weakness (default: medium)"
    )
    signing.add_argument(
        "--role", default="validator", metavar="developer|validator|owner", help="default: validator"
    )
    signing.add_argument(
        "--conclusion",
        metavar="fit|fit with limits|not fit|insufficient evidence",
        help="the decision (default: the report's conclusion)",
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.formats.kinds import read_source
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
    if arguments.action == "sign-off":
        return _sign_off(workflow_run, arguments)
    if arguments.action == "weakness":
        return _write_weakness(workflow_run, arguments)
    return _show_status(workflow_run, arguments.json)


def _write_weakness(workflow_run: WorkflowRun, arguments: argparse.Namespace) -> int:
    """Store a weakness that a person found and write the artifacts again, which show it."""
    from pytest_evalstudio.mrm.artifacts.people import write_weakness
    from pytest_evalstudio.report.workflow import write_workflow_artifacts

    written = write_weakness(
        workflow_run,
        description=arguments.comment,
        severity=arguments.severity,
        name=arguments.name,
    )
    say(f"{written.severity}: {written.description}", str(write_workflow_artifacts(workflow_run)))
    return FINE


def _sign_off(workflow_run: WorkflowRun, arguments: argparse.Namespace) -> int:
    """Store a sign-off and write the artifacts again, which show it."""
    from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
    from pytest_evalstudio.mrm.artifacts.sign_off import DECISIONS, ROLES, sign
    from pytest_evalstudio.mrm.artifacts.summary import conclude, summarise
    from pytest_evalstudio.report.workflow import write_workflow_artifacts

    if not arguments.name:
        raise ConfigurationError("sign-off needs --name, the name of the person who signs")
    if arguments.role not in ROLES:
        raise unknown_name("role", arguments.role, ROLES, f"Roles: {', '.join(ROLES)}.")
    conclusion = conclude(summarise(workflow_run)).fitness
    decision = arguments.conclusion or conclusion
    if conclusion == "not assessed":
        raise ConfigurationError(
            f"{arguments.workflow}: nothing has been evaluated, so that there is nothing to sign; run the"
            " workflow first"
        )
    if decision not in DECISIONS:
        raise ConfigurationError(f"--conclusion: no decision {decision!r}; there are {', '.join(DECISIONS)}")
    signed = sign(
        workflow_run,
        role=arguments.role,
        name=arguments.name,
        decision=decision,
        conclusion=conclusion,
        comment=arguments.comment,
    )
    page = write_workflow_artifacts(workflow_run)
    say(f"{signed.name} ({signed.role}) signed at {signed.date}: {signed.decision}", str(page))
    return FINE


def _show_status(workflow_run: WorkflowRun, as_json: bool) -> int:
    from pytest_evalstudio.mrm.artifacts.sign_off import sign_offs
    from pytest_evalstudio.mrm.artifacts.summary import conclude, summarise

    steps = list(workflow_run.statuses())
    if as_json:
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
            f"{workflow_run.title}: {sum(step.status == 'completed' for step in steps)} of"
            f" {len(steps)} steps completed"
        )
        for step in steps:
            message = (
                f"needs {', '.join(step.lacks)}"
                if step.lacks
                else (step.state.waits or step.state.summary)
                if step.state
                else ""
            )
            when = f" {step.state.finished}" if step.state else ""
            say(
                f"  {step.spec.number}. {step.spec.id:<28}{step.status:<10}{when}"
                + (f"  {message}" if message else "")
            )
        conclusion = conclude(summarise(workflow_run))
        say(f"  conclusion: {conclusion.fitness}")
        for gap in conclusion.gaps:
            say(f"  missing ({gap.code}): {gap.text}")
        for signed in sign_offs(workflow_run):
            entry = signed.sign_off
            state = "valid" if signed.is_valid else f"void: {'; '.join(signed.void)}"
            say(f"  signed: {entry.name} ({entry.role}) {entry.date}  {entry.decision}; {state}")
    return FINE if all(step.status == "completed" for step in steps) else FINDINGS
