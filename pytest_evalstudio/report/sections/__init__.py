"""The parts of the page: one file each, found by scanning this folder.

A section is a function with `@section` that takes the report's content and returns what its template
`templates/<id>.html` needs, or None where it has nothing to say.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_evalstudio.report.content import Content

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
        found += [mark for entry in vars(module).values() if isinstance(mark := getattr(entry, _MARK, None), Section)]
    return sorted(set(found), key=lambda entry: (entry.order, entry.id))
