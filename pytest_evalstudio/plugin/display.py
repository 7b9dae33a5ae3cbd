"""Text for the terminal, without personal data, secrets, control characters and foreign CI commands."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.display import printable, visible, visible_lines
from pytest_evalstudio.plugin.private_api import (
    ExceptionChainRepr,
    MessageRepr,
    ReprEntry,
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
    TerminalRepr,
    TerminalWriter,
    terminal_encoding,
)
from pytest_evalstudio.scoring.masking import shown, shown_line

Mask = Callable[[str], str]
"""Returns a text without some secrets."""


class CollectionError(Exception):
    """A fault in a user's file, which pytest shows without a traceback."""


def usage_error(text: object) -> pytest.UsageError:
    """Return the usage error of a message."""
    return pytest.UsageError(shown(text))


class FileWarnings:
    """Warnings about files for pytest's warnings summary, each issued once."""

    def __init__(self) -> None:
        self._texts: set[str] = set()

    def __call__(self, text: str, path: Path) -> None:
        """Issue a warning.

        There is no line 0, so that Python quotes no line of the file, which would be neither masked nor made
        visible.
        """
        if text not in self._texts:
            self._texts.add(text)
            warnings.warn_explicit(pytest.PytestWarning(shown(text)), None, filename=str(path), lineno=0)


class SafeTerminal:
    """Terminal reporter for the summary.

    Each line is written without control characters, in the terminal's encoding.
    """

    def __init__(self, reporter: Any) -> None:
        self.reporter = self._reporter = reporter

    def ensure_newline(self) -> None:
        self._reporter.ensure_newline()

    def section(self, title: str, **markup: bool) -> None:
        self._reporter.section(title, **markup)

    def write_line(self, text: str, **markup: bool) -> None:
        """Write one line."""
        self._reporter.write_line(printable(visible(text), terminal_encoding(self._reporter)), **markup)


def clean_report(report: pytest.TestReport, mask: Mask = str) -> None:
    """Make the failure, the reason of a skip or xfail, and the captured output of a report safe to show.

    Args:
        mask: removes the configured secrets, which no pattern recognises.
    """
    if isinstance(report.longrepr, tuple):
        path, line, message = report.longrepr
        report.longrepr = (path, line, shown_line(mask(message)))
    elif report.longrepr is not None:
        report.longrepr = clean_failure(report.longrepr, mask)
    if hasattr(report, "wasxfail"):
        report.wasxfail = shown_line(mask(report.wasxfail))
    report.sections = [(visible(name), shown(mask(text))) for name, text in report.sections]


def clean_failure(failure: object, mask: Mask = str) -> str | TerminalRepr:
    """Return a failure as pytest represents it, safe to show; tracebacks keep their form.

    Args:
        failure: text or representation of pytest, with the local variables of `--showlocals`.
        mask: removes the configured secrets, which no pattern recognises.
    """
    if isinstance(failure, MessageRepr):
        show = visible_lines if failure.is_masked else shown
        failure.text = "\n".join([show(mask(line)) for line in failure.text.split("\n")])
        failure.path = visible(failure.path)
        return failure
    if isinstance(failure, ExceptionChainRepr):
        for traceback, crash, _ in failure.chain:
            _clean_traceback(traceback, crash, mask)
        _clean_location(failure.reprcrash, mask)
        return failure
    if isinstance(failure, ReprExceptionInfo):
        _clean_traceback(failure.reprtraceback, failure.reprcrash, mask)
        return failure
    if isinstance(failure, TerminalRepr):
        return _Text(shown(mask(str(failure))))
    return shown(mask(str(failure)))


@dataclasses.dataclass(eq=False)
class _Text(TerminalRepr):
    text: str

    def toterminal(self, tw: TerminalWriter) -> None:
        for line in self.text.split("\n"):
            tw.line(line)


def _clean_traceback(traceback: ReprTraceback, crash: ReprFileLocation | None, mask: Mask) -> None:
    _clean_location(crash, mask)
    if traceback.extraline:
        traceback.extraline = shown(mask(traceback.extraline))
    for entry in traceback.reprentries:
        if isinstance(entry, ReprEntry | ReprEntryNative):
            entry.lines = [shown(mask(line)) for line in entry.lines]
        if isinstance(entry, ReprEntry):
            _clean_location(entry.reprfileloc, mask)
            if entry.reprlocals is not None:
                entry.reprlocals.lines = [shown(mask(line)) for line in entry.reprlocals.lines]
            if entry.reprfuncargs is not None:
                entry.reprfuncargs.args = [
                    (name, shown_line(mask(str(value)))) for name, value in entry.reprfuncargs.args
                ]


def _clean_location(location: ReprFileLocation | None, mask: Mask) -> None:
    if location is not None:
        location.path = visible(location.path)
        location.message = shown(mask(location.message))
