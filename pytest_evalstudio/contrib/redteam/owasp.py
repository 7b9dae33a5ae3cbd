"""Lists of OWASP that name kinds of attack, by edition: a table of data."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class OwaspList:
    """An edition of a list.

    Attributes:
        date: ISO 8601, of its publication.
    """

    edition: str
    title: str
    date: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwaspRisk:
    """A risk of LLM applications, with its id in both editions; the title is that of 2026."""

    id_2025: str
    id_2026: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgenticRisk:
    """A risk of agentic applications."""

    id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwaspTable:
    """All lists."""

    lists: tuple[OwaspList, ...]
    risks: tuple[OwaspRisk, ...]
    agentic: tuple[AgenticRisk, ...]


@functools.cache
def owasp_table() -> OwaspTable:
    """Return the lists of the package's file."""
    content = (files("pytest_evalstudio.contrib.redteam") / "data" / "owasp.json").read_bytes()
    return msgspec.json.decode(content, type=OwaspTable)


def owasp_tags(risk: str, agentic: str) -> Iterator[str]:
    """Yield the tags of a kind of attack, each with its edition.

    Args:
        risk: id in the list for LLM applications of 2025; "" for none.
        agentic: id in the list for agentic applications; "" for none.

    >>> list(owasp_tags("LLM06", "ASI02"))
    ['owasp:LLM06:2025', 'owasp:LLM03:2026', 'owasp:ASI02:2026']
    """
    for each in owasp_table().risks:
        if each.id_2025 == risk:
            yield f"owasp:{each.id_2025}:2025"
            yield f"owasp:{each.id_2026}:2026"
    if agentic:
        yield f"owasp:{agentic}:2026"
