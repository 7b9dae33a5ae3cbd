"""The parts of the page: one file each, found by scanning this folder, and what other packages add.

A section is a function with `@section` that takes the report's content and returns what its template
`templates/<id>.html` needs, or None where it has nothing to say: a section that only some records fill is
left out of the page of all others.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pytest_evalstudio.engine.analysis.analyse import Analysis
from pytest_evalstudio.report.content import Content

GROUP = "pytest_evalstudio.report_sections"
More = Callable[[Analysis], Iterable[tuple[str, str]]]
"""Gives (title, HTML) pairs for the end of the page; the HTML is taken as it is."""

Build = Callable[[Content], Mapping[str, Any] | None]
_MARK = "__evalstudio_section__"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Attributes:
        id: its anchor and the name of its template.
        order: places in the page ascend with it.
    """

    id: str
    title: str
    order: int
    build: Build


def section(id: str, *, title: str, order: int) -> Callable[[Build], Build]:
    """Declare a function as a section of the page."""

    def declare(build: Build) -> Build:
        setattr(build, _MARK, Section(id, title, order, build))
        return build

    return declare


def all_sections() -> list[Section]:
    """The sections of this folder, in the order of the page."""
    found = []
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        found += [
            mark
            for entry in vars(module).values()
            if isinstance(mark := getattr(entry, _MARK, None), Section)
        ]
    return sorted(set(found), key=lambda entry: (entry.order, entry.id))


def contributed_sections(analysis: Analysis, contributors: Mapping[str, More]) -> list[tuple[str, str]]:
    """What others add to the page: contributors of this run, and installed packages by entry points of GROUP.

    A contributor that fails leaves the report standing, with a section that says what went wrong.

    Args:
        contributors: by name, as messages show it.
    """
    installed = {
        point.name: point for point in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    }
    found: list[tuple[str, str]] = []
    for name, contributor in (
        *contributors.items(),
        *((name, _loaded(point)) for name, point in installed.items()),
    ):
        try:
            found += [(str(title), str(html)) for title, html in contributor(analysis) or ()]
        except Exception as exc:  # other people's code: the run's report must outlive it, and says so
            found.append(
                (name, f"<p>{escape(f'This section could not be made: {type(exc).__name__}: {exc}')}</p>")
            )
    return found


def _loaded(point: EntryPoint) -> More:
    def contribute(analysis: Analysis) -> Iterable[tuple[str, str]]:
        contributor: More = point.load()
        return contributor(analysis)

    return contribute
