"""Sign-offs of a workflow by people: who concluded what, when, and on which evidence."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from pytest_evalstudio.contrib.validation.artifacts.chain import (
    AcceptedFinding,
    ChainLink,
    SignOff,
    StepException,
    broken_links,
    read_links,
)
from pytest_evalstudio.contrib.validation.artifacts.evidence import (
    INPUTS,
    RESULTS,
    Digests,
    changes,
    evidence_of,
)
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow.states import SIGN_OFFS
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.record.schema import SignOffEntry
from pytest_evalstudio.scoring.masking import masked

OWNER = "owner"
"""Role that may sign although no policy requires it."""
Decision = Literal["fit", "fit with limits", "not fit", "insufficient evidence"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOffStatus:
    """A sign-off today.

    Attributes:
        void: what has changed since; empty for a valid one.
    """

    sign_off: SignOff
    void: tuple[str, ...]

    @property
    def entry(self) -> SignOffEntry:
        """Return the entry of a record."""
        signed = self.sign_off
        return SignOffEntry(
            role=signed.role,
            name=signed.name,
            decision=signed.decision,
            comment=signed.comment,
            date=signed.date,
            void=self.void,
            overridden=signed.overridden,
            exceptions=(
                *(f"open step {each.step}: {each.reason}" for each in signed.exceptions),
                *(f"accepted {each.id}: {each.reason}" for each in signed.accepted),
            ),
        )

    @property
    def is_valid(self) -> bool:
        """Report whether nothing that the sign-off rests on has changed."""
        return not self.void

    @property
    def remarks(self) -> Iterator[str]:
        """Yield state, overridden conclusion, exceptions and comment, in words."""
        yield "valid" if self.is_valid else f"void: {'; '.join(self.void)}"
        if self.sign_off.overridden:
            yield f"EXCEPTION: overrides the computed conclusion, {self.sign_off.overridden}"
        yield from (f"accepted {each.id}: {each.reason}" for each in self.sign_off.accepted)
        yield from (f"open step {each.step}: {each.reason}" for each in self.sign_off.exceptions)
        if self.sign_off.comment:
            yield self.sign_off.comment


def new_sign_off(
    run: WorkflowRun,
    *,
    role: str,
    name: str,
    decision: str,
    conclusion: str,
    comment: str,
    exceptions: Mapping[str, str],
    accepted: tuple[AcceptedFinding, ...] = (),
    is_signed: bool = False,
) -> SignOff:
    """Return a sign-off that the policy of the workflow permits.

    Args:
        run: of a workflow whose model is evaluated.
        role: one of the policy's, or the owner.
        name: of the person, who signs in one role only.
        decision: on the model; "" for the report's conclusion.
        conclusion: of the report.
        comment: reasons and conditions; required where the decision differs from the conclusion.
        exceptions: id of each open step to the reason why it may stay open.
        accepted: open findings that an override accepts.
        is_signed: True if a detached signature will belong to it.

    Raises:
        ConfigurationError: if the policy does not permit it.
        DataError: if the file of sign-offs cannot be read.
    """
    roles = tuple(dict.fromkeys([*run.workflow.governance.roles, OWNER]))
    name, comment, decision = name.strip(), comment.strip(), decision or conclusion
    if not name:
        raise ConfigurationError("sign-off needs --name, the name of the person who signs")
    if role not in roles:
        if not role:
            raise ConfigurationError(f"sign-off needs --role; roles of the policy: {', '.join(roles)}")
        raise unknown_name("role", role, roles, f"Roles of the policy: {', '.join(roles)}.")
    if conclusion == "not assessed":
        raise ConfigurationError(
            f"{run.path.name}: nothing has been evaluated, so there is nothing to sign; run the"
            " workflow first"
        )
    if decision not in DECISIONS:
        raise ConfigurationError(
            f"--conclusion: {decision!r} is unknown; write one of {', '.join(DECISIONS)}"
        )
    if decision != conclusion and not comment:
        raise ConfigurationError(
            f"--conclusion: {decision!r} overrides the report's conclusion, {conclusion!r}; state the reason"
            " by --comment"
        )
    _check_person(run, name, role)
    return SignOff(
        role=role,
        name=name,
        decision=decision,
        conclusion=conclusion,
        comment=masked(comment),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        exceptions=tuple(_exceptions(run, exceptions)),
        accepted=accepted,
        is_signed=is_signed,
    )


def _check_person(run: WorkflowRun, name: str, role: str) -> None:
    """Refuse a person who has signed in another role.

    Raises:
        ConfigurationError: if there is such a sign-off that is valid.
        DataError: if the file of sign-offs cannot be read.
    """
    for status in sign_offs(run):
        other = status.sign_off
        if other.role != role and other.name.casefold() == name.casefold() and status.is_valid:
            raise ConfigurationError(
                f"--name: {name} has signed as {other.role}; another person must sign as {role}"
            )


def _exceptions(run: WorkflowRun, exceptions: Mapping[str, str]) -> Iterator[StepException]:
    """Yield the open steps with their reasons.

    Raises:
        ConfigurationError: for an open step without a reason, or a reason for a step that is not open.
    """
    open_steps = [status.spec.id for status in run.statuses() if status.status != "completed"]
    for step, reason in exceptions.items():
        if step not in open_steps:
            raise ConfigurationError(
                f"--except {step}: no open step; open are {', '.join(open_steps) or 'none'}"
            )
        if not reason.strip():
            raise ConfigurationError(f"--except {step}: state the reason, {step}=REASON")
        yield StepException(step=step, reason=masked(reason.strip()))
    if missing := [step for step in open_steps if step not in exceptions]:
        raise ConfigurationError(
            f"not completed: {', '.join(missing)}; run them, or list each as an exception by --except"
            " STEP=REASON"
        )


def sign_offs(run: WorkflowRun, new: SignOff | None = None) -> tuple[SignOffStatus, ...]:
    """Return the last sign-off of each role, with what has changed since.

    Args:
        run: of the workflow.
        new: a sign-off of this moment, which is not stored yet.

    Raises:
        DataError: if the file of sign-offs cannot be read.
    """
    links = read_links(run.folder / SIGN_OFFS)
    # Before all files of the evidence are read.
    if not links:
        return () if new is None else (SignOffStatus(sign_off=new, void=()),)
    today = evidence_of(run).digests
    broken = tuple(broken_links(links))
    statuses = {item.sign_off.role: _status(item, today, broken) for item in links}
    if new is not None:
        statuses[new.role] = SignOffStatus(sign_off=new, void=())
    order = [*run.workflow.governance.roles, OWNER]
    return tuple(statuses[role] for role in sorted(statuses, key=lambda role: _rank(role, order)))


def _rank(role: str, order: list[str]) -> int:
    return order.index(role) if role in order else len(order)


def _status(item: ChainLink, today: Digests, broken: tuple[str, ...]) -> SignOffStatus:
    # The report shows the later sign-offs too, so that it differs: `verify` compares it with the last one.
    changed = changes(item.digests, today, (*INPUTS, *RESULTS))
    return SignOffStatus(sign_off=item.sign_off, void=(*broken, *map(masked, changed)))


def missing_roles(run: WorkflowRun, statuses: tuple[SignOffStatus, ...]) -> tuple[str, ...]:
    """Return the roles of the policy without a valid sign-off."""
    valid = {status.sign_off.role for status in statuses if status.is_valid}
    return tuple(role for role in run.workflow.governance.roles if role not in valid)
