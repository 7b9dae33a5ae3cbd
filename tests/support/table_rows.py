"""Rows of tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def head(*cells: str) -> list[str]:
    """Return the head of a table."""
    return [row(*cells), row(*("---" for _ in cells))]


def row(*cells: str) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def code_list(names: Sequence[str]) -> str:
    """Return names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)
