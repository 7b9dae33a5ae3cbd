"""Names under which the parts of the plugin leave something for each other."""

from __future__ import annotations

from typing import Literal

import pytest

SESSION = "evalstudio-session"
PAYLOAD = "evalstudio"
"""Attribute of a test report in which a finished item's entries travel."""
GATE = "evalstudio_gate"
"""Attribute of a test report with the result of a gate over a scored table, for the summary."""
ITEM = "evalstudio_item"
"""Attribute of each test report of an eval item."""
FAILING = "evalstudio_failing"
"""Attribute of a failing test report whose failure is in the record."""
SCORED = "evalstudio_scored"
"""Attribute of a test report: "failed" or "error", the verdict of the evaluation whatever pytest reports."""
SPENT = "evalstudio_judging"
"""Key of the judge usage that a worker reports at its end."""
FROZEN = pytest.StashKey[tuple[int, int, int]]()
"""Thresholds of the garbage collector before it was set to skip the collected items."""
UNCOLLECTED = pytest.StashKey[dict[str, None]]()
"""Node ids that pytest could not collect, each once: several workers of xdist report the same."""
SCORE = "evalstudio_score"
"""Attribute of a test report with the primary scores in words, for -v."""
BRIEF = "evalstudio_brief"
"""Attribute of a failing test report with its reason on one line and its question, for the short summary."""
LIKENESS = "evalstudio_likeness"
"""Attribute of a failing test report: node id of the original of a perturbed copy, and what fails it."""
CAUSE = "evalstudio_cause"
"""Attribute of a test report of an error: a digest of its cause, and the error in words."""
PLAN_CHANNEL = "evalstudio_plan"
"""Key in a worker's input of the channel on which it sends its plan."""


def recorded_outcome(report: pytest.TestReport) -> Literal["passed", "failed", "skipped"]:
    """Return the outcome of a report as the record has it: failed where the evaluation did, see `SCORED`."""
    return "failed" if hasattr(report, SCORED) else report.outcome


class SessionCounts:
    """Tests that ended, and tests that failed in any of their reports, as pytest itself counts them.

    Reports of subtests have the node id of their test.

    Attributes:
        failed: node ids in the order of their failures.
        overruled: node ids of tests that fail when scored, and that a plugin reports as passed, skipped or
            expected failures.
    """

    def __init__(self) -> None:
        self.ended: set[str] = set()
        self.overruled: dict[str, None] = {}
        self.failed: dict[str, None] = {}
        self._evaluated: set[str] = set()

    def note(self, report: pytest.TestReport) -> None:
        """Take one report of a phase or subtest."""
        if report.failed:
            self.failed[report.nodeid] = None
            if hasattr(report, FAILING):
                self._evaluated.add(report.nodeid)
        if report.when not in ("setup", "call"):  # the report of a crash has a phase of its own
            self.ended.add(report.nodeid)

    def note_outcome(self, report: pytest.TestReport) -> None:
        """Take the report of a test that fails when scored, as all plugins have left it."""
        # Not "rerun", which a plugin makes of an attempt that another one follows.
        if report.outcome in ("passed", "skipped"):
            self.overruled[report.nodeid] = None

    def failed_besides(self) -> list[str]:
        """Return the failed tests whose failure is in no entry of the record."""
        return [nodeid for nodeid in self.failed if nodeid not in self._evaluated]


COUNTS = pytest.StashKey[SessionCounts]()
"""Tests of the session as pytest reports them in this process."""
