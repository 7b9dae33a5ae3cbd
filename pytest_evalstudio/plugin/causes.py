"""Errors with one cause: a block and a line for all of them, with their number and some examples."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from pytest_evalstudio.plugin.figures import MODEL
from pytest_evalstudio.plugin.keys import CAUSE
from pytest_evalstudio.text.figures import counted

EXAMPLES = 3
"""Test cases that a block names; JUnit files and `-v` have all."""


def by_cause(reports: Iterable[Any]) -> list[list[Any]]:
    """Return reports of errors together that have one cause, in the order of their first ones."""
    groups: dict[object, list[Any]] = {}
    for report in reports:
        cause = getattr(report, CAUSE, None)
        groups.setdefault(id(report) if cause is None else cause[0], []).append(report)
    return list(groups.values())


def collapsed(reports: list[Any]) -> Any:
    """Return one report for several with one cause: the error, their number, and examples.

    Args:
        reports: with short ids; the first one takes the place of all.
    """
    first = copy.copy(reports[0])
    more = len(reports) - 1
    file, line, domain = first.location
    first.location = file, line, f"{domain} and {more:,} more"
    names = ", ".join(report.nodeid.partition("::")[2] for report in reports[:EXAMPLES])
    rest = f" and {len(reports) - EXAMPLES:,} more" if len(reports) > EXAMPLES else ""
    files = dict.fromkeys(report.nodeid.partition("::")[0] for report in reports)
    of_files = next(iter(files)) if len(files) == 1 else counted(len(files), "file")
    models = dict.fromkeys(str(dict(report.user_properties).get(MODEL, "")) for report in reports)
    of_models = f" and {len(models):,} models" if len(models) > 1 else ""
    text = getattr(first, CAUSE)[1]
    count = f"{counted(len(reports), 'case')} of {of_files}{of_models}"
    block = f"{text}\n{count}: {names}{rest}; -v writes them out"
    first.longrepr = CollapsedError(
        block, f"[+{more:,}] {text.partition(chr(10))[0].removeprefix('error: ')}"
    )
    return first


class CollapsedError:
    """Text of an error for pytest's blocks, with the message of the short summary."""

    def __init__(self, block: str, message: str) -> None:
        self._block = block
        self.reprcrash = Crash(message)

    def toterminal(self, writer: Any) -> None:
        """Write the block."""
        for line in self._block.splitlines():
            writer.line(line)

    def __str__(self) -> str:
        return self._block


class Crash:
    """Place and message of a failure; test cases of files have no line of code.

    Args:
        place: what `--tb=line` writes before the message, "" for nothing.
    """

    def __init__(self, message: str, place: str = "") -> None:
        self.message = message
        self.path, self.lineno = place, 0

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message
