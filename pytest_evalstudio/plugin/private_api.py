"""The private names of pytest that the plugin needs; no other module imports or calls them.

Public pytest has no names for the representations of failures, for the failure of a set-up, for fixtures of
items that are not functions, and for the encoding of the terminal. These were tested with pytest 8.4 and 9.2;
`tox -e pytest84` and `tox -e py` test the oldest and the newest supported version.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
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
from _pytest.fixtures import FuncFixtureInfo, TopRequest
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
    "UsedFixtures",
    "add_suite_property",
    "fixture_is_visible",
    "room_on_line",
    "terminal_encoding",
]


class MessageRepr(ExceptionChainRepr):
    """A failure shown by its message alone, as `excinfo.getrepr(style="value")` shows it.

    pytest keeps all failures to the end, so that what it reads of them is made when it reads it.

    Attributes:
        is_masked: whether the text is known to be without personal data and secrets.
    """

    __slots__ = ("_line", "_sections", "is_masked", "path", "text")

    def __init__(self, text: str, path: str, line: int, *, is_masked: bool = False) -> None:
        self.text = text
        self.is_masked = is_masked
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


@dataclass(frozen=True, slots=True)
class UsedFixtures:
    """Fixtures that an item uses: those that apply to it by themselves, and those that it names.

    Attributes:
        is_set_up_per_item: whether one of the user's is set up for each item anew. Fixtures that an installed
            plugin applies to all items do not count: they know nothing of the tested applications.
        fault: why no item can use them, "" if one can.
    """

    info: FuncFixtureInfo
    is_set_up_per_item: bool
    fault: str

    @classmethod
    def of(cls, node: pytest.Collector | pytest.Item) -> UsedFixtures | None:
        """Return the fixtures of a node, None if it uses none."""
        manager = node.session._fixturemanager
        info = manager.getfixtureinfo(node=node, func=None, cls=None)  # type: ignore[arg-type]
        if not info.names_closure:
            return None
        fixture_names = {name for mark in node.iter_markers("usefixtures") for name in mark.args}
        # pytest 8.4 adds the names of autouse fixtures to the list of the option.
        fixture_names.update(node.config.getini("usefixtures"))
        used = {name: definitions[-1] for name, definitions in info.name2fixturedefs.items() if definitions}
        is_set_up_per_item = any(
            fixture.scope in ("function", "class")
            and ((name in fixture_names and not fixture._autouse) or not _is_installed(fixture.func))
            for name, fixture in used.items()
        )
        with_parameters = [name for name, fixture in used.items() if fixture.params is not None]
        fault = (
            f"fixture {with_parameters[0]!r} has parameters, and a test case of a file is one test; repeat it"
            " by several models or `runs`, or keep the fixture from this folder"
            if with_parameters
            else ""
        )
        return cls(info, is_set_up_per_item, fault)


_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_OWN_FOLDER = str(Path(__file__).parents[1])


def _is_installed(function: Any) -> bool:
    """Return whether a function is of an installed package; this one may be a checkout."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = code.co_filename if code is not None else ""
    return bool(_INSTALLED.search(file)) or file.startswith(_OWN_FOLDER)


class FixtureItem(pytest.Item):
    """An item without a function, which may use fixtures and show some failures by their message alone.

    Its file is its module: fixtures of module scope are set up once for each file.

    Attributes:
        expected_faults: exceptions whose message says all; pytest shows the traceback of the others.
        fixtures: that it uses, None for none.
        obj: for `request.function` of a fixture.
    """

    expected_faults: tuple[type[BaseException], ...] = ()
    fixtures: UsedFixtures | None = None
    obj: None = None

    def locate(self) -> None:
        """Set the location, which pytest would add at its first use to a larger dictionary of the item."""
        path, line, name = self.reportinfo()
        self.location = self.session._node_location_to_relpath(Path(path)), line, name

    def use_fixtures(self, fixtures: UsedFixtures | None) -> None:
        """Take the fixtures to use, while the item is collected."""
        if fixtures is not None:
            self.fixtures = fixtures
            self.fixturenames = fixtures.info.names_closure
            self._request: TopRequest | None = None  # pytest makes it before the item runs

    @property
    def fixture_closure(self) -> tuple[str, ...]:
        """Return the names of the fixtures that the item uses, with those that they depend on."""
        return tuple(self.fixtures.info.names_closure) if self.fixtures is not None else ()

    def set_up_fixtures(self) -> None:
        """Set up the fixtures, in `setup`."""
        if self.fixtures is None:
            return
        if self.fixtures.fault:
            pytest.fail(self.fixtures.fault, pytrace=False)
        if not self._request:
            self._initrequest()
        assert self._request is not None  # made just now
        self._request._fillfixtures()

    def fixture_value(self, name: str) -> object:
        """Return the value of a fixture, after `set_up_fixtures`."""
        return self.funcargs[name]

    def getparent(self, cls: Any) -> Any:
        """Return the nearest parent of a class; the module is the file."""
        parent = super().getparent(cls)
        return self.parent if parent is None and cls is pytest.Module else parent

    def _initrequest(self) -> None:
        """Prepare the fixtures; called again for each attempt of pytest-rerunfailures."""
        if self.fixtures is None:
            return
        self.funcargs: dict[str, object] = {}
        self._fixtureinfo = self.fixtures.info
        self._request = TopRequest(self, _ispytest=True)  # type: ignore[arg-type]

    def _repr_failure_py(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> TerminalRepr:
        """Return the text of a failure; used for errors of the set-up, too, and by `repr_failure`."""
        if not isinstance(excinfo.value, self.expected_faults):
            return super()._repr_failure_py(excinfo, style)
        line = (self.reportinfo()[1] or 0) + 1
        is_masked = getattr(excinfo.value, "is_masked", False)
        return MessageRepr(str(excinfo.value), str(self.path), line, is_masked=is_masked)


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


def room_on_line(reporter: pytest.TerminalReporter) -> int:
    """Return the columns of a terminal that are free after its current line; the last one stays free."""
    writer = reporter._tw
    return max(0, writer.fullwidth - writer.width_of_current_line - 1)
