"""Count of findings: the one that terminal, page, summary and status print."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.artifacts.summary import (
    RAISED,
    WorkflowSummary,
    conclude,
    merged_findings,
)
from pytest_evalstudio.core.outcomes import SEVERITIES
from pytest_evalstudio.text.figures import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCounts:
    """Findings of the steps and of people.

    Attributes:
        by_severity: number of findings; several metrics of one evaluator are one finding.
        deciding: number of findings that make the model unfit.
        open_entries: number of open entries of the register.
        unregistered: number of findings of the steps without an entry.
    """

    by_severity: dict[str, int]
    deciding: int
    open_entries: int
    unregistered: int

    @property
    def total(self) -> int:
        """Return the number of findings."""
        return sum(self.by_severity.values())

    @property
    def text(self) -> str:
        """Return the counts in words."""
        levels = ", ".join(f"{count} {severity}" for severity, count in self.by_severity.items() if count)
        decides = counted(self.deciding, "fact makes", "facts make")
        register = f"register: {self.open_entries} open"
        if self.unregistered:
            register += f", {counted(self.unregistered, 'finding')} of the steps not entered"
        head = f"{counted(self.total, 'finding')} ({levels})" if self.total else "no findings"
        return f"{head}; {decides} the model unfit; {register}"


def finding_counts(summary: WorkflowSummary) -> FindingCounts:
    """Return the number of findings of a workflow."""
    findings = merged_findings(summary.problems)
    severities = Counter(finding.severity for finding in findings)
    entries = {entry.description for entry in summary.register}
    return FindingCounts(
        by_severity={severity: severities[severity] for severity in SEVERITIES},
        deciding=len(conclude(summary).decided_by),
        open_entries=sum(entry.is_open for entry in summary.register),
        unregistered=sum(
            finding.code != RAISED and finding.description not in entries for finding in findings
        ),
    )
