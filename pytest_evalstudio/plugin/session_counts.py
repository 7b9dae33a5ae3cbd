"""Tests of a session as pytest itself reports them, so that the end of a run says what pytest says."""

from __future__ import annotations

import pytest

from pytest_evalstudio.plugin.keys import FAILING


class SessionCounts:
    """Tests that ended, and tests that failed in any of their reports.

    Reports of subtests have the node id of their test.

    Attributes:
        failed: node ids in the order of their failures.
    """

    def __init__(self) -> None:
        self.ended: set[str] = set()
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

    def failed_besides(self) -> list[str]:
        """Return the failed tests whose failure is in no entry of the record."""
        return [nodeid for nodeid in self.failed if nodeid not in self._evaluated]


COUNTS = pytest.StashKey[SessionCounts]()
