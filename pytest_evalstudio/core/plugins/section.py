"""Sections of the report's page: their protocol, their declaration and the decorator that makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.plugins.declaring import attach, check_id

KIND = "section"
LAST = 1000
"""Default order of a section: after the sections of this package."""
TABS = {
    "overview": "Overview",
    "failures": "Failures",
    "matrix": "Matrix",
    "explore": "Explore",
    "robustness": "Robustness",
    "evidence": "Evidence",
    "compare": "Compare",
    "workflow": "Workflow",
    "evaluators": "Evaluators",
    "run": "Run",
    "more": "More",
}
"""Tabs of the page in their order; a tab without a section is left out."""

F = TypeVar("F", bound=Callable[..., Any])


class SectionSpec(Struct, frozen=True, kw_only=True):
    """The declaration of a section.

    Attributes:
        id: its anchor; for a section that returns values, the name of its template.
        title: its heading.
        order: sections of a tab ascend with it.
        description: first paragraph of its docstring.
        tab: the tab that shows it, a key of `TABS`.
    """

    id: str
    title: str
    order: int
    description: str
    tab: str = "more"

    @property
    def name(self) -> str:
        """Its heading, under the name that all kinds have."""
        return self.title


def section_order(spec: SectionSpec) -> tuple[int, int, str]:
    """Return the sort key of a section: the tabs are in the order of `TABS`."""
    return list(TABS).index(spec.tab), spec.order, spec.id


class Section(Protocol):
    """A function that makes a part of the page.

    It takes the report's content (`report.content.Content`) and returns HTML, which is put into the page as
    it is: escape text of models and files; scripts do not run. None leaves the section out. A section of this
    package returns the values of its template `report/templates/<id>.html` in place of HTML.
    """

    def __call__(self, content: Any, /) -> str | Mapping[str, Any] | None: ...


def section(id: str, *, title: str, order: int = LAST, tab: str = "more") -> Callable[[F], F]:
    """Declare a function as a section of the page; see `SectionSpec` for the arguments.

    Raises:
        TypeError: if the decorated object is not a function, the title is empty, or the tab is unknown.
    """
    check_id(KIND, id)
    if not isinstance(title, str) or not title.strip():
        raise TypeError(f"section {id!r}: the title is empty; it is the section's heading")
    if tab not in TABS:
        raise TypeError(f"section {id!r}: there is no tab {tab!r}; known tabs: {', '.join(TABS)}")

    def declare(build: F) -> F:
        if isinstance(build, type) or not callable(build):
            raise TypeError(f"section {id!r}: decorate a function that takes the report's content")
        return attach(
            build, SectionSpec(id=id, title=title, order=order, description=summary_of(build), tab=tab)
        )

    return declare
