"""Models compared in pairs."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("arena", title="Arena", order=30, tab="compare")
def arena(content: Content) -> Mapping[str, object] | None:
    """Show the leaderboard, the win rates and what weakens them; nothing without an arena."""
    if content.ratings is None:
        return None
    from pytest_evalstudio.arena.pictures import pictures
    from pytest_evalstudio.arena.text import category_rows, findings

    return {
        "ratings": content.ratings,
        "categories": category_rows(content.ratings) if content.ratings.categories else [],
        "findings": list(findings(content.ratings)),
        "pictures": list(pictures(content.ratings).values()),
        "missing": sum(pair.missing for pair in content.analysis.run.arena.values()),
    }
