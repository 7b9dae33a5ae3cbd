"""Sections of the page: those of the registry, and what hooks of a conftest.py add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.core.errors import exception_text
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.plugins.section import Section, SectionSpec, section_order
from pytest_evalstudio.report.content import Content

More = Callable[[Analysis], Iterable[tuple[str, str]]]
"""Gives (title, HTML) pairs for the end of the page; the HTML is taken as it is."""
HOME = "pytest_evalstudio."


def built_sections(
    content: Content, registry: Registry
) -> Iterator[tuple[SectionSpec, str | Mapping[str, object] | None]]:
    """Build the sections of a registry in the order of the page.

    If a section of another package fails, the page shows the fault instead of the section.
    """
    for spec in sorted(registry.sections.specs(), key=section_order):
        section = registry.sections.get(spec.id)
        yield spec, section(content) if _is_ours(section) else _built(section, content)


def contributed_sections(analysis: Analysis, contributors: Mapping[str, More]) -> list[tuple[str, str]]:
    """Return what contributors of this run add to the end of the page.

    If a contributor fails, the report is complete otherwise, with a section that describes the fault.

    Args:
        contributors: by name, as messages show it.
    """
    sections: list[tuple[str, str]] = []
    for name, contributor in contributors.items():
        try:
            sections += [(str(title), str(html)) for title, html in contributor(analysis) or ()]
        except Exception as exc:  # other people's code: the run's report must outlive it, and says so
            sections.append((name, _failed(exc)))
    return sections


def _built(section: Section, content: Content) -> str | None:
    try:
        html = section(content)
        if html is None or isinstance(html, str):
            return html
        raise TypeError(f"expected HTML, found a {type(html).__name__}")
    except Exception as exc:  # other people's code, as above
        return _failed(exc)


def _failed(exc: Exception) -> str:
    return f"<p>{escape(f'This section could not be made: {exception_text(exc)}')}</p>"


def _is_ours(section: Section) -> bool:
    return section.__module__.startswith(HOME)
