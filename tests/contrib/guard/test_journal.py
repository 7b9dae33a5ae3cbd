"""Lines of the service about itself: few, and without requests."""

from __future__ import annotations

import logging
import sys

from pytest_evalstudio.contrib.guard.journal import (
    LINES_PER_PERIOD,
    MAX_KINDS,
    PERIOD_S,
    Journal,
    JournalHandler,
)

SECRET = "swordfish"


def test_lines_of_a_repeated_fault_are_left_out_and_counted() -> None:
    lines: list[str] = []
    clock = [0.0]
    journal = Journal(lines.append, clock=lambda: clock[0])
    for _ in range(1000):
        journal.fault("accept", "no descriptor")
    journal.fault("other", "another fault")
    assert len(lines) == LINES_PER_PERIOD + 1
    assert "left out" in lines[LINES_PER_PERIOD - 1]
    clock[0] = PERIOD_S
    journal.fault("accept", "no descriptor")
    assert lines[-1] == f"no descriptor ({1000 - LINES_PER_PERIOD} more lines like this were left out before)"


def test_many_kinds_of_faults_share_a_limit() -> None:
    lines: list[str] = []
    journal = Journal(lines.append)
    for number in range(10_000):
        journal.fault(str(number), "fault")
    assert len(lines) == MAX_KINDS + LINES_PER_PERIOD
    journal.close()
    assert lines[-1] == f"{10_000 - MAX_KINDS - LINES_PER_PERIOD} lines about repeated faults were left out"


def test_a_logged_exception_is_reduced_to_its_type() -> None:
    lines: list[str] = []
    handler = JournalHandler(Journal(lines.append))
    try:
        raise ValueError(SECRET)
    except ValueError:
        record = logging.LogRecord(
            "uvicorn.error",
            logging.ERROR,
            __file__,
            1,
            f"Exception in ASGI application\nprotocol: {SECRET}",
            None,
            sys.exc_info(),
        )
    handler.handle(record)
    assert lines == ["error: Exception in ASGI application: ValueError"]
