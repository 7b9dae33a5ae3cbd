"""Overriding the computed conclusion: an exception that another person decides, with a reason per finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.artifacts.chain import AcceptedFinding
from pytest_evalstudio.contrib.validation.artifacts.sign_off import SignOffStatus
from pytest_evalstudio.contrib.validation.artifacts.summary import (
    RAISED,
    WorkflowSummary,
    conclude,
    merged_findings,
)
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.scoring.masking import masked

_ORDER = ("not fit", "insufficient evidence", "fit with limits", "fit")
"""Decisions from the strictest on."""
LOW_SHARE = "low_share"
"""Id of the fact that fewer answers pass than required."""
_MAX_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFinding:
    """Something that keeps the computed conclusion from the decision of a person.

    Attributes:
        id: in the register, or code of a gap of evidence.
    """

    id: str
    text: str


def is_relaxed(decision: str, conclusion: str) -> bool:
    """Report whether a decision is less strict than the computed conclusion.

    >>> is_relaxed("fit", "not fit"), is_relaxed("not fit", "fit with limits")
    (True, False)
    """
    return _ORDER.index(decision) > _ORDER.index(conclusion)


def open_findings(summary: WorkflowSummary) -> Iterator[OpenFinding]:
    """Yield the open findings by their ids in the register, and the gaps of evidence by their codes.

    Raises:
        ConfigurationError: if a finding of the steps has no entry in the register.
    """
    ids = {entry.description: entry for entry in summary.register if entry.kind == "finding"}
    missing = [
        finding.description
        for finding in merged_findings(summary.problems)
        if finding.code != RAISED and finding.description not in ids
    ]
    if missing:
        raise ConfigurationError(
            f"--conclusion: {len(missing)} findings of the steps are not in the register, so they"
            f" cannot be accepted; add them with `evalstudio mrm findings {summary.file} --collect`"
        )
    for entry in ids.values():
        if entry.is_open:
            yield OpenFinding(id=entry.id, text=entry.description)
    conclusion = conclude(summary)
    for gap in conclusion.gaps:
        yield OpenFinding(id=gap.code, text=gap.text)
    if conclusion.low_share:
        yield OpenFinding(id=LOW_SHARE, text=conclusion.low_share)


def accepted_findings(summary: WorkflowSummary, reasons: Mapping[str, str]) -> Iterator[AcceptedFinding]:
    """Yield the open findings with the reasons for which a person accepts them.

    Args:
        summary: of the workflow.
        reasons: by id of a finding, or code of a gap.

    Raises:
        ConfigurationError: for an open finding without a reason, or a reason for none of them.
    """
    findings = {finding.id: finding for finding in open_findings(summary)}
    for id, reason in reasons.items():
        if id not in findings:
            raise ConfigurationError(
                f"--accept {id}: is not an open finding; open findings: {_named(findings)}"
            )
        if not reason.strip():
            raise ConfigurationError(f"--accept {id}: state the reason, {id}=REASON")
        yield AcceptedFinding(id=id, text=masked(findings[id].text), reason=masked(reason.strip()))
    if missing := [id for id in findings if id not in reasons]:
        raise ConfigurationError(
            f"--conclusion: an override needs a reason for each open finding: {_named(missing)}; give"
            " --accept ID=REASON for each"
        )


def check_overrider(
    run: WorkflowRun, name: str, statuses: tuple[SignOffStatus, ...], conclusion: str
) -> None:
    """Refuse an override by the person who ran or validated, or before a validation is signed.

    Args:
        run: of the workflow.
        name: of the person who overrides.
        statuses: last sign-off of each role.
        conclusion: computed one.

    Raises:
        ConfigurationError: with fact and remedy.
    """
    validations = [
        status.sign_off
        for status in statuses
        if status.is_valid and status.sign_off.decision == conclusion == status.sign_off.conclusion
    ]
    if not validations:
        raise ConfigurationError(
            f"--conclusion: nobody has signed the computed conclusion, {conclusion!r}. The person who"
            " ran the validation must sign it first, without --conclusion; then another person can"
            " override it"
        )
    persons = {*(signed.name for signed in validations), *run.persons()}
    if name.casefold() in {person.casefold() for person in persons}:
        raise ConfigurationError(
            f"--name: {name} ran or signed this validation; another person must override its conclusion"
        )


def _named(ids: Mapping[str, object] | list[str]) -> str:
    names = list(ids)
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return (", ".join(names[:_MAX_NAMED]) or "none") + more
