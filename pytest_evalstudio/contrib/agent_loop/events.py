"""Plugin of the runs that a coding agent starts: writes a line to a file after each test.

It is loaded by `-p`, in the process that pytest is started in; workers of pytest-xdist report to it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

VARIABLE = "EVALSTUDIO_AGENT_EVENTS"
"""Environment variable with the path of the file."""
MODULE = __name__


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the number of tests."""
    if not hasattr(session.config, "workerinput"):
        _write({"tests": len(session.items)})


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write a line for each test that ends."""
    if report.when == "teardown" and "PYTEST_XDIST_WORKER" not in os.environ:
        _write({"ended": report.nodeid})


def _write(event: dict[str, object]) -> None:
    if path := os.environ.get(VARIABLE):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")
