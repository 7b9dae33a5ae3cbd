"""Lines that the service writes about itself; those of repeated faults are limited in number."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

LINES_PER_PERIOD = 3
"""Lines about one kind of fault in a period."""
PERIOD_S = 60.0
MAX_KINDS = 100
"""Kinds of faults that are counted apart; more of them share one count."""
_OTHER = "other"
_MAX_CHARS = 200
_LOGGERS = ("uvicorn", "asyncio")


@dataclass(slots=True)
class _Period:
    begin: float
    lines: int = 0
    left_out: int = 0


class Journal:
    """Lines for the operator. They hold no text of a request.

    Args:
        write: prints a line.
        clock: seconds that only rise.
    """

    def __init__(self, write: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._periods: dict[str, _Period] = {}
        self._lock = threading.Lock()

    def note(self, text: str) -> None:
        """Write a line that is never left out, such as a reloaded configuration."""
        self._write(text)

    def fault(self, kind: str, text: str) -> None:
        """Write a line about a fault, at most three per minute of a kind.

        Args:
            kind: counted apart from other kinds.
            text: the line.
        """
        with self._lock:
            if kind not in self._periods and len(self._periods) >= MAX_KINDS:
                kind = _OTHER
            now = self._clock()
            period = self._periods.setdefault(kind, _Period(now))
            suffix = ""
            if now - period.begin >= PERIOD_S:
                if period.left_out:
                    suffix = f" ({period.left_out} more lines like this were left out before)"
                period = self._periods[kind] = _Period(now)
            if period.lines >= LINES_PER_PERIOD:
                period.left_out += 1
                return
            period.lines += 1
            if period.lines == LINES_PER_PERIOD:
                suffix += f" (more lines like this are left out for {PERIOD_S:g} s)"
        self._write(text + suffix)

    def close(self) -> None:
        """Write how many lines were left out."""
        left_out = sum(period.left_out for period in self._periods.values())
        if left_out:
            self._write(f"{left_out} lines about repeated faults were left out")
        self._periods.clear()

    def take_server_logs(self) -> None:
        """Receive the warnings and errors of the server and of asyncio in place of their loggers."""
        for name in _LOGGERS:
            logger = logging.getLogger(name)
            logger.handlers = [JournalHandler(self)]
            logger.setLevel(logging.WARNING)
            logger.propagate = False


class JournalHandler(logging.Handler):
    """Reduces a log record to its first line and the type of its exception.

    Later lines, tracebacks and messages of exceptions may quote a request.
    """

    def __init__(self, journal: Journal) -> None:
        super().__init__(logging.WARNING)
        self._journal = journal

    def emit(self, record: logging.LogRecord) -> None:
        # The template, not the text: with its arguments, each line would be a kind of its own.
        template = _first_line(str(record.msg))
        text = _first_line(record.getMessage())
        error = record.exc_info[0] if record.exc_info else None
        if error is not None:
            text += f": {error.__name__}"
        self._journal.fault(f"{record.name} {template}", f"{record.levelname.lower()}: {text}")


def _first_line(text: str) -> str:
    return text.lstrip().partition("\n")[0][:_MAX_CHARS]
