"""The private names of pytest that the plugin needs; no other module imports or calls them.

Public pytest has no names for the representations of failures, for the failure of a set-up, for fixtures of
items that are not functions, and for the encoding of the terminal. These were tested with pytest 8.4 and 9.2;
`tox -e pytest84` and `tox -e py` test the oldest and the newest supported version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import (
    ExceptionChainRepr,
    ReprEntry,
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
    TerminalRepr,
)
from _pytest._io import TerminalWriter
from _pytest.fixtures import TopRequest
from _pytest.junitxml import xml_key

__all__ = [
    "ExceptionChainRepr",
    "FixtureItem",
    "MessageRepr",
    "ReprEntry",
    "ReprEntryNative",
    "ReprExceptionInfo",
    "ReprFileLocation",
    "ReprTraceback",
    "TerminalRepr",
    "TerminalWriter",
    "add_suite_property",
    "fixture_is_visible",
    "terminal_encoding",
]


class MessageRepr(ExceptionChainRepr):
    """A failure shown by its message alone, as `excinfo.getrepr(style="value")` shows it.

    pytest keeps all failures to the end, so that what it reads of them is made when it reads it.
    """

    __slots__ = ("_line", "_sections", "path", "text")

    def __init__(self, text: str, path: str, line: int) -> None:
        self.text = text
        self.path = path
        self._line = line
        self._sections: list[tuple[str, str, str]] | None = None

    @property
    def chain(self) -> Any:  # type: ignore[override]
        """The exceptions: this one alone."""
        return [(self.reprtraceback, self.reprcrash, None)]

    @property
    def reprtraceback(self) -> Any:  # type: ignore[override]
        """The message, without a traceback."""
        entry = ReprEntry(self.text.split("\n"), None, None, None, "value")
        return ReprTraceback([entry], None, style="value")

    @property
    def reprcrash(self) -> Any:  # type: ignore[override]
        """The place of the item in its file, with the first line of the message."""
        return ReprFileLocation(self.path, self._line, self.text.partition("\n")[0])

    @property
    def sections(self) -> Any:  # type: ignore[override]
        """Texts that are shown below."""
        if self._sections is None:
            self._sections = []
        return self._sections


class FixtureItem(pytest.Item):
    """An item without a function, which may ask for fixtures and show some failures by their message alone.

    Attributes:
        expected_faults: exceptions whose message says all; pytest shows the traceback of the others.
    """

    expected_faults: tuple[type[BaseException], ...] = ()

    def locate(self) -> None:
        """Set the location, which pytest would add at its first use to a larger dictionary of the item."""
        path, line, name = self.reportinfo()
        self.location = self.session._node_location_to_relpath(Path(path)), line, name

    def enable_fixtures(self) -> None:
        """Prepare the item for `fixture_value`, while it is collected."""
        self._initrequest()

    @property
    def fixture_closure(self) -> tuple[str, ...]:
        """Return the names of the fixtures that the item uses, with those that they depend on."""
        return tuple(self.fixturenames)

    def fixture_value(self, name: str) -> object:
        """Return the value of a fixture, in `setup`."""
        return self._request.getfixturevalue(name)

    def _initrequest(self) -> None:
        """Prepare the fixtures; called again for each attempt of pytest-rerunfailures."""
        self.funcargs: dict[str, object] = {}
        self._fixtureinfo = self.session._fixturemanager.getfixtureinfo(node=self, func=None, cls=None)
        self.fixturenames = self._fixtureinfo.names_closure
        self._request = TopRequest(self, _ispytest=True)  # type: ignore[arg-type]

    def _repr_failure_py(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> TerminalRepr:
        """Return the text of a failure; used for errors of the set-up, too, and by `repr_failure`."""
        if not isinstance(excinfo.value, self.expected_faults):
            return super()._repr_failure_py(excinfo, style)
        return MessageRepr(str(excinfo.value), str(self.path), (self.reportinfo()[1] or 0) + 1)


def fixture_is_visible(item: pytest.Item, name: str) -> bool:
    """Return whether a fixture of that name is defined where the item can see it."""
    return bool(item.session._fixturemanager.getfixturedefs(name, item))


def add_suite_property(config: pytest.Config, name: str, value: str) -> None:
    """Add a property to the test suite of the JUnit file, where one is written."""
    junit = config.stash.get(xml_key, None)
    if junit is not None:
        junit.add_global_property(name, value)


def terminal_encoding(reporter: pytest.TerminalReporter) -> str | None:
    """Return the encoding of the stream that a reporter writes to, None if it has none."""
    return getattr(reporter._tw._file, "encoding", None)
