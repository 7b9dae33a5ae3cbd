"""The shell command that runs one test case again."""

from __future__ import annotations

import shlex
import unicodedata


def pytest_command(nodeid: str) -> str:
    r"""Return the command that runs an item from pytest's root folder.

    Returns "" if its id cannot be pasted into a shell safely, or is not that of a test.

    >>> pytest_command("bank_suite.json::fees[extractive]")
    "pytest 'bank_suite.json::fees[extractive]'"
    >>> pytest_command("logs.jsonl row-1 [m]")
    ''
    >>> pytest_command("suite.json::two\nlines")
    ''
    """
    if "::" not in nodeid or any(
        unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs") for char in nodeid
    ):
        return ""
    return f"pytest {shlex.quote(nodeid)}"
