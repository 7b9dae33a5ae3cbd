"""`evalstudio mrm`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option
from pytest_evalstudio.contrib.validation.commands.mrm_clone import add_clone
from pytest_evalstudio.contrib.validation.commands.mrm_findings import add_findings
from pytest_evalstudio.contrib.validation.commands.workflow_files import workflow_run
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pytest_evalstudio.contrib.validation.artifacts.summary import WorkflowSummary
    from pytest_evalstudio.contrib.validation.artifacts.verification import Verification
    from pytest_evalstudio.contrib.validation.workflow.run import StepStatus, WorkflowRun

ARCHIVE_SUFFIX = ".zip"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=show_status)
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    def add_action(
        name: str, command: Callable[[argparse.Namespace], int], text: str
    ) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=text, description=text)
        action.set_defaults(command=command)
        action.add_argument("workflow", metavar="WORKFLOW")
        action.add_argument(
            "--config", metavar="FILE", help="configuration file, in place of the nearest one"
        )
        add_plugin_option(action)
        return action

    status = add_action("status", show_status, "Show a line for each step, the conclusion and the sign-offs.")
    status.add_argument("--json", action="store_true", help="the steps for machines")
    add_action(
        "report", write_report, "Write page, summary, model card and the other artifacts of a workflow again."
    )
    _add_sign_off(add_action("sign-off", sign_off, "Store a person's decision on the model of a workflow."))
    verify_parser = add_action(
        "verify",
        verify,
        "Name what has changed since the last sign-off. An archive of artifacts (ZIP) in place of WORKFLOW is"
        " verified by itself.",
    )
    verify_parser.add_argument("--head", default="", metavar="HASH", help="head that the sign-off printed")
    verify_parser.add_argument(
        "--signers",
        metavar="FILE",
        help="allowed signers of ssh-keygen, or public key of minisign, for detached signatures",
    )
    verify_parser.add_argument("--json", action="store_true", help="for machines")
    verify_parser.add_argument(
        "-v", "--verbose", action="store_true", help="list head, signatures and what is not in the archive"
    )
    add_findings(add_action)
    add_clone(add_action)


def _add_sign_off(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", default="", metavar="NAME", help="of the person who signs")
    parser.add_argument(
        "--role",
        default="",
        metavar="ROLE",
        help="a role of the workflow's policy (`governance.roles`), or owner",
    )
    parser.add_argument("--comment", default="", metavar="TEXT", help="reasons and conditions")
    parser.add_argument(
        "--conclusion",
        default="",
        metavar="fit|fit with limits|not fit|insufficient evidence",
        help="the decision (default: the computed conclusion); a milder one is an exception: it needs"
        " --comment, --accept for each open finding, and another person than the one who ran and signed",
    )
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="ID=REASON",
        help="accept an open finding, or the code of a gap of evidence, against the conclusion; repeatable",
    )
    parser.add_argument(
        "--except",
        dest="exceptions",
        action="append",
        default=[],
        metavar="STEP=REASON",
        help="accept that a step is open; repeatable",
    )
    parser.add_argument(
        "--sign-key",
        metavar="FILE",
        help="private key for a detached signature of the head, by ssh-keygen or minisign",
    )


def write_report(arguments: argparse.Namespace) -> int:
    """Write the artifacts again."""
    from pytest_evalstudio.contrib.validation.artifact_files import write_workflow_artifacts

    say(str(write_workflow_artifacts(workflow_run(arguments))))
    return FINE


def sign_off(arguments: argparse.Namespace) -> int:
    """Store a sign-off, write the artifacts that show it, and print the head of the chain."""
    from pytest_evalstudio.contrib.validation.artifact_files import PAGE, write_signed_artifacts
    from pytest_evalstudio.contrib.validation.artifacts.overriding import (
        accepted_findings,
        check_overrider,
        is_relaxed,
    )
    from pytest_evalstudio.contrib.validation.artifacts.sign_off import new_sign_off
    from pytest_evalstudio.contrib.validation.artifacts.summary import conclude, summarise
    from pytest_evalstudio.core.errors import ConfigurationError

    run = workflow_run(arguments)
    summary = summarise(run)
    conclusion = conclude(summary).fitness
    signed = new_sign_off(
        run,
        role=arguments.role,
        name=arguments.name,
        decision=arguments.conclusion,
        conclusion=conclusion,
        comment=arguments.comment,
        exceptions=_reasons("--except", "STEP", arguments.exceptions),
        is_signed=arguments.sign_key is not None,
    )
    accepted = _reasons("--accept", "ID", arguments.accept)
    if signed.overridden and is_relaxed(signed.decision, conclusion):
        check_overrider(run, signed.name, summary.sign_offs, conclusion)
        signed = replace(signed, accepted=tuple(accepted_findings(summary, accepted)))
    elif accepted:
        raise ConfigurationError(
            "--accept: only an override of the conclusion accepts findings; give --conclusion too, or"
            " leave out --accept"
        )
    key = None if arguments.sign_key is None else Path(arguments.sign_key)
    head = write_signed_artifacts(run, signed, key)
    say(
        f"{signed.name} ({signed.role}) signed at {signed.date}: {signed.decision}",
        *filter(None, [signed.exception_text]),
        f"head: {head}",
        str(run.folder / PAGE),
    )
    return FINE


def _reasons(option: str, name: str, texts: Iterable[str]) -> dict[str, str]:
    """Return the reasons of a repeatable option by what they are for.

    Raises:
        ConfigurationError: for one without a reason.
    """
    from pytest_evalstudio.core.errors import ConfigurationError

    reasons = {}
    for text in texts:
        key, separator, reason = text.partition("=")
        if not separator:
            raise ConfigurationError(f"{option} {text}: state the reason, {name}=REASON")
        reasons[key.strip()] = reason
    return reasons


def verify(arguments: argparse.Namespace) -> int:
    """Compare the last sign-off with an archive, or with a workflow as it is now."""
    from pytest_evalstudio.contrib.validation.artifacts.verification import verify_archive, verify_run

    signers = None if arguments.signers is None else Path(arguments.signers)
    if arguments.workflow.lower().endswith(ARCHIVE_SUFFIX):
        result = verify_archive(Path(arguments.workflow), head=arguments.head, signers=signers)
    else:
        result = verify_run(workflow_run(arguments), head=arguments.head, signers=signers)
    if arguments.json:
        print_json(
            {
                "head": result.head,
                "faults": result.faults,
                "unchecked": dict(result.unchecked),
                "signed": result.signed,
                "exceptions": result.exceptions,
            }
        )
        return FINDINGS if result.faults else FINE
    say("verification failed" if result.faults else _verified(result))
    say(*(f"FAULT: {fault}" for fault in result.faults), *result.exceptions)
    for item in result.links:
        signed = item.sign_off
        say(f"{signed.date} {signed.name} ({signed.role}): {signed.decision}")
    say(*_unproven(result, has_head=bool(arguments.head)))
    if arguments.verbose and result.head:
        say(f"head: {result.head}", f"detached signatures that hold: {result.signed}")
        say(*(f"not in the archive: {name} {digest}" for name, digest in result.unchecked.items()))
    return FINDINGS if result.faults else FINE


def _verified(result: Verification) -> str:
    text = "verified: nothing has changed since the last sign-off"
    count = len(result.exceptions)
    return f"{text}; {count} exception from the computed conclusion" if count else text


def _unproven(result: Verification, *, has_head: bool) -> Iterator[str]:
    """Yield what the verification does not prove."""
    if result.links and not result.signed and not has_head:
        yield "not proven: who wrote it, since there is neither a detached signature nor --head"
    if result.unchecked:
        count = counted(len(result.unchecked), "file")
        yield f"not checked: {count} that the archive names by hash and does not hold; -v lists them"


def show_status(arguments: argparse.Namespace) -> int:
    """Show the status of the steps."""
    from pytest_evalstudio.contrib.validation.artifacts.summary import summarise

    run = workflow_run(arguments)
    steps = list(run.statuses())
    if arguments.json:
        print_json([_entry(run, step) for step in steps])
    else:
        completed = sum(step.status == "completed" for step in steps)
        say(f"{run.title}: {completed} of {len(steps)} steps completed")
        for step in steps:
            when = f" {_finished(step)}" if _finished(step) else ""
            message = _message(step)
            say(
                f"  {step.spec.number}. {step.spec.id:<28}{_status_word(step):<10}{when}"
                + (f"  {message}" if message else "")
            )
        say(*_asking_lines(run, steps), *_conclusion_lines(summarise(run)))
    return FINE if all(step.status == "completed" for step in steps) else FINDINGS


def _entry(run: WorkflowRun, step: StepStatus) -> dict[str, object]:
    return {
        "number": step.spec.number,
        "step": step.spec.id,
        "status": step.status,
        "lacks": list(step.lacks),
        "summary": step.state.summary if step.state else "",
        "failure": step.failure.reason if step.failure else "",
        "waits": step.state.waits if step.state else "",
        "finished": _finished(step) or None,
        "artifacts": str(run.folder_of(step.spec.id)),
    }


def _status_word(step: StepStatus) -> str:
    """Return the status; a built-in step that asked nobody and measured nothing has no result."""
    from pytest_evalstudio.core.plugins.index import MODULES

    if step.failure is not None:
        return "failed"
    is_empty = step.status == "completed" and step.state is not None and not step.state.figures
    # A step of the user's own may have nothing but a summary and files.
    return "no result" if is_empty and step.spec.id in MODULES["step"] else step.status


def _finished(step: StepStatus) -> str:
    if step.failure is not None:
        return step.failure.finished
    return step.state.finished if step.state is not None else ""


def _message(step: StepStatus) -> str:
    if step.failure is not None:
        return step.failure.reason
    if step.lacks:
        return f"needs {', '.join(step.lacks)}"
    return (step.state.waits or step.state.summary) if step.state else ""


def _asking_lines(run: WorkflowRun, steps: Iterable[StepStatus]) -> Iterator[str]:
    """Yield the time from which changes of the application are missing in the results, if a step asked it."""
    asking = [
        (step.spec.id, step.state.finished)
        for step in steps
        if step.status == "completed" and step.state is not None and run.asks(step.spec.id)
    ]
    if asking:
        yield (
            f"  the model was last asked {max(time for _, time in asking)}; a later change of the application"
            f" has no effect until `pytest {run.path.name} --evalstudio-from {asking[0][0]}` asks it again"
        )


def _conclusion_lines(summary: WorkflowSummary) -> Iterator[str]:
    from pytest_evalstudio.contrib.validation.artifacts.finding_counts import finding_counts
    from pytest_evalstudio.contrib.validation.artifacts.summary import conclude

    conclusion = conclude(summary)
    yield f"  conclusion: {conclusion.fitness}"
    yield from (f"  missing ({gap.code}): {gap.text}" for gap in conclusion.gaps)
    for status in summary.sign_offs:
        signed = status.sign_off
        remarks = "; ".join(status.remarks)
        yield f"  signed: {signed.name} ({signed.role}) {signed.date}  {signed.decision}; {remarks}"
    if summary.sign_offs and summary.unsigned:
        yield f"  without a valid sign-off: {', '.join(summary.unsigned)}"
    yield f"  findings: {finding_counts(summary).text}"
