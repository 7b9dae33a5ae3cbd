"""Failure blocks on the terminal: regressed cases and the first ones in full, of the others their lines."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_evalstudio.plugin.figures import CASE, PREFIX

BLOCKS = 10
"""Failures that are written out where none regressed; `-v` writes out all of them."""
_CLASS = f"{PREFIX}.baseline.class"


class FoldedFailures:
    """Takes failures out of pytest's blocks, and puts them back before its short summary.

    Attributes:
        hidden: failures whose blocks are left out, in their order.
    """

    def __init__(self) -> None:
        self.hidden: list[Any] = []
        self._all: list[Any] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Hide the blocks while pytest writes its failures; `restore` ends it."""
        if terminalreporter.verbosity < 1:
            self._hide(terminalreporter)
        try:
            return (yield)
        finally:
            self.restore(terminalreporter)

    def restore(self, terminalreporter: Any) -> None:
        """Put the hidden failures back."""
        if self._all:
            terminalreporter.stats["failed"] = self._all
            self._all = []

    def _hide(self, terminalreporter: Any) -> None:
        failed = list(terminalreporter.stats.get("failed", ()))
        ours = [report for report in failed if _is_of_file(report)]
        regressed = [report for report in ours if dict(report.user_properties).get(_CLASS) == "regressed"]
        shown = {id(report) for report in regressed or ours[:BLOCKS]}
        self.hidden = [report for report in ours if id(report) not in shown]
        if self.hidden:
            hidden = {id(report) for report in self.hidden}
            self._all = failed
            terminalreporter.stats["failed"] = [report for report in failed if id(report) not in hidden]


def _is_of_file(report: Any) -> bool:
    """Return True for a test case of an evaluation file; tests in Python keep their tracebacks."""
    return CASE in dict(report.user_properties) and not report.nodeid.partition("::")[0].endswith(".py")
