"""Progress of the items in pytest's terminal or log."""

from __future__ import annotations

import contextlib
import os
import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pytest_evalstudio.core.progress import ProgressDisplay, cut_to_width
from pytest_evalstudio.plugin.private_api import room_on_line

if TYPE_CHECKING:
    import pytest

LABEL_CHARS = 30
SAVE_CURSOR, RESTORE_CURSOR, CLEAR_TO_END = "\x1b7", "\x1b8", "\x1b[K"


class ReporterOutput:
    """Output after the current line of pytest's terminal; without a terminal, as lines of its own."""

    def __init__(self, item: pytest.Item, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter
        self._capture = item.config.pluginmanager.get_plugin("capturemanager")
        self._is_rewritten = bool(reporter.isatty) and os.environ.get("TERM") != "dumb"
        self._is_shown = False

    @property
    def is_rewritten(self) -> bool:
        """Return whether a text replaces the one before it."""
        return self._is_rewritten

    def show(self, text: str) -> None:
        """Write a text; it must not wrap, since the cursor is put back where it was."""
        with self._uncaptured():
            if not self._is_rewritten:
                self._reporter.ensure_newline()
                self._reporter.write_line(f"evalstudio: {text}")
                self._reporter.flush()
                return
            self._is_shown = True
            shown = cut_to_width(f" {text}", room_on_line(self._reporter))
            self._write(f"{SAVE_CURSOR}{shown}{CLEAR_TO_END}{RESTORE_CURSOR}")

    def clear(self) -> None:
        """Remove the text from a terminal."""
        if self._is_shown:
            with self._uncaptured():
                self._write(CLEAR_TO_END)

    def _uncaptured(self) -> AbstractContextManager[None]:
        if self._capture is None:
            return contextlib.nullcontext()
        uncaptured: AbstractContextManager[None] = self._capture.global_and_fixture_disabled()
        return uncaptured

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def progress_of(item: pytest.Item, label: str, beginning: str) -> ProgressDisplay:
    """Return the display of what an item waits for; it shows nothing in a worker of pytest-xdist.

    Args:
        item: of the terminal.
        label: name of the model or step.
        beginning: what is done before the first object is counted.
    """
    reporter = item.config.pluginmanager.get_plugin("terminalreporter")
    output = ReporterOutput(item, reporter) if reporter is not None else None
    return ProgressDisplay(output, label=label[:LABEL_CHARS], beginning=beginning)
