"""Failures on the terminal: blocks of the regressed or first ones, a line for each, the end of the run."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable
from typing import Any

from pytest_evalstudio.core.text import with_short_keys
from pytest_evalstudio.plugin.figures import BASELINE_CLASS, CASE, MODEL
from pytest_evalstudio.plugin.keys import BRIEF, CAUSE, LIKENESS
from pytest_evalstudio.text.figures import counted

BLOCKS = 10
"""Failures that are written out, the first one of each cause; `-v` writes out all of them."""
FEW = 5
"""Failures that are all written out."""
LINES = 3
MAX_LINES = 10
"""Failures of one cause that have a line each in pytest's summary; of more only the first `LINES` have."""
ID_CHARS = 48
"""A longer id leaves no room for the reason on a terminal of 80 columns."""
MODEL_CHARS = 14
VARIANT_CHARS = 10
"""Characters of a model's name, and of its prompt's, where it has one."""
WIDE = 110
"""Columns from which on a line has the first words of the question."""
QUESTION_CHARS = 32


class FailureDisplay:
    """Changes what pytest's summary shows of failing test cases, and puts the reports back afterwards.

    Attributes:
        hidden: failures whose blocks are left out, in their order.
        unlisted: those of them that have no line in the short summary either.
        folded: perturbed copies that fail like their original, which are one entry with it.
    """

    def __init__(self) -> None:
        self.hidden: list[Any] = []
        self.unlisted: list[Any] = []
        self.folded: list[Any] = []
        self._listed: list[Any] = []
        self._reports: dict[str, list[Any]] = {}

    def shorten(self, terminalreporter: Any) -> None:
        """Shorten ids, and hide blocks until `show_all`, unless the run is verbose."""
        if terminalreporter.verbosity < 1:
            stats = terminalreporter.stats
            self._reports = {
                word: stats[word] for word in ("failed", "error", "xfailed", "xpassed") if stats.get(word)
            }
            copies = self._fold(stats)
            self._hide(stats)
            self._shorten(stats, copies, is_wide=terminalreporter._tw.fullwidth >= WIDE)
            self._collapse(stats)

    def restore(self, terminalreporter: Any) -> None:
        """Put the reports back that pytest has written."""
        terminalreporter.stats.update(self._reports)

    def show_all(self, terminalreporter: Any) -> None:
        """Put the hidden failures back: pytest's short summary, which follows, has a line for each."""
        if self.folded:
            copies = counted(len(self.folded), "perturbed copy fails", "perturbed copies fail")
            terminalreporter.write_line(f"evalstudio: {copies} like the original, [+N]; -v lists them")
        if self.hidden:
            terminalreporter.stats["failed"] = self._listed
            more = counted(len(self.hidden), "more failure")
            terminalreporter.write_line(f"evalstudio: {more} of these causes; -v writes them out")

    def _fold(self, stats: dict[str, list[Any]]) -> Counter[str]:
        """Take copies that fail like their original out of the failures; return their number by original."""
        failed = stats.get("failed", [])
        originals = {report.nodeid: _likeness(report) for report in failed if is_of_file(report)}
        self.folded = [
            report
            for report in failed
            if (source := _original(report))
            and report.nodeid in originals
            and originals.get(source) == originals[report.nodeid]
        ]
        if self.folded:
            folded = {id(report) for report in self.folded}
            stats["failed"] = [report for report in failed if id(report) not in folded]
        return Counter(map(_original, self.folded))

    def _hide(self, stats: dict[str, list[Any]]) -> None:
        """Take failures out that have no block of their own, and find those that have no line either."""
        failed = stats.get("failed", [])
        causes = _by_likeness(report for report in failed if is_of_file(report))
        ours = [report for reports in causes for report in reports]
        first = [reports[0] for reports in causes[:BLOCKS]]
        blocks = {id(report) for report in (ours if len(ours) <= FEW else first)}
        lines = {
            id(report)
            for reports in causes
            for report in (reports if len(reports) <= MAX_LINES else reports[:LINES])
        }
        self.hidden = [report for report in ours if id(report) not in blocks]
        self.unlisted = [report for report in ours if id(report) not in lines]
        unlisted = {id(report) for report in self.unlisted}
        self._listed = [report for report in failed if id(report) not in unlisted]
        if self.hidden:
            hidden = {id(report) for report in self.hidden}
            stats["failed"] = [report for report in failed if id(report) not in hidden]

    def _shorten(self, stats: dict[str, list[Any]], copies: Counter[str], *, is_wide: bool) -> None:
        """Put short copies in place of the reports that are shown, which may be few of many."""
        shown: dict[int, Any] = {}

        def brief(report: Any) -> Any:
            if id(report) not in shown:
                shown[id(report)] = (
                    short(report, is_wide=is_wide, copies=copies[report.nodeid])
                    if is_of_file(report)
                    else report
                )
            return shown[id(report)]

        for word in self._reports:
            stats[word] = [brief(report) for report in stats[word]]
        self._listed = [brief(report) for report in self._listed]

    def _collapse(self, stats: dict[str, list[Any]]) -> None:
        """Show errors with one cause once."""
        if stats.get("error"):
            stats["error"] = [
                reports[0] if len(reports) == 1 else collapsed(reports)
                for reports in by_cause(stats["error"])
            ]


def is_of_file(report: Any) -> bool:
    """Return True for a test case of an evaluation file; tests in Python keep their tracebacks."""
    properties = dict(getattr(report, "user_properties", ()))
    return CASE in properties and not report.nodeid.partition("::")[0].endswith(".py")


def _original(report: Any) -> str:
    """Return the node id of the original of a perturbed copy, "" for an original."""
    return str(getattr(report, LIKENESS, ("", ""))[0])


def _by_likeness(reports: Iterable[Any]) -> list[list[Any]]:
    """Return failures that are alike together: regressed ones first, then the largest groups."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for report in reports:
        groups.setdefault(_likeness(report), []).append(report)
    return sorted(groups.values(), key=lambda group: (_likeness(group[0])[1] != "regressed", -len(group)))


def _likeness(report: Any) -> tuple[str, str]:
    """Return what fails a test case, and its class in the comparison with a baseline."""
    return str(getattr(report, LIKENESS, ("", ""))[1]), str(dict(report.user_properties).get(BASELINE_CLASS))


def short(report: Any, *, is_wide: bool, copies: int = 0) -> Any:
    """Return a copy of a report with a short id; its reason is what pytest's short summary shows.

    Args:
        copies: number of perturbed copies that fail alike.
    """
    brief = copy.copy(report)
    path, _, name = report.nodeid.partition("::")
    brief.nodeid = f"{path}::{short_name(name, ID_CHARS - len(path))}"
    file, line, domain = report.location
    brief.location = file, line, with_short_keys(domain)
    if lines := getattr(report, BRIEF, None):
        reason, question = lines
        words = f'"{cut(question, QUESTION_CHARS)}" ' if is_wide and question else ""
        alike = f"[+{copies}] " if copies else ""
        crash = getattr(report.longrepr, "reprcrash", None)
        place = f"{crash.path}:{crash.lineno}" if crash else brief.nodeid
        brief.longrepr = _Failure(report.longrepr, f"{alike}{words}{reason}", place)
    return brief


def short_name(name: str, limit: int) -> str:
    """Return the name of an item with 8 digits of a UUID, and the end of a long model's and prompt's name.

    >>> short_name("1f2e3d4c-0000-0000-0000-000000000000[h2oai_h2ogpt-4096-llama2-70b-chat]", 30)
    '1f2e3d4c[...a2-70b-chat]'
    >>> short_name("fee[model-a_(answer_politely_in_one_sentence)]", 30)
    'fee[model-a_(...entence)]'
    """
    name = with_short_keys(name)
    key, bracket, model = name.removesuffix("]").rpartition("[")
    if len(name) <= limit or not bracket or len(model) <= MODEL_CHARS:
        return name
    base, opening, prompt = model.partition("_(")
    if not opening:
        return f"{key}[{_end(model, MODEL_CHARS)}]"
    return f"{key}[{_end(base, VARIANT_CHARS)}{opening}{_end(prompt, VARIANT_CHARS + len(')'))}]"


def _end(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"...{text[3 - chars :]}"


def cut(text: str, limit: int) -> str:
    """Return the first words of a text."""
    return text if len(text) <= limit else f"{text[: limit - 3].rpartition(' ')[0] or text[: limit - 3]}..."


class _Failure:
    """A failure whose last lines pytest writes as before, with the message of the short summary."""

    def __init__(self, failure: Any, message: str, place: str = "") -> None:
        self._failure = failure
        self.reprcrash = Crash(message, place)

    def toterminal(self, writer: Any) -> None:
        if hasattr(self._failure, "toterminal"):
            self._failure.toterminal(writer)
        else:
            writer.line(str(self._failure))

    def __str__(self) -> str:
        return str(self._failure)


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
