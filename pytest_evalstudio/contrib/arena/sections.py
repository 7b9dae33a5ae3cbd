"""Section of the page: models compared in pairs."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("arena", title="Arena", order=30, tab="compare")
def arena(content: Content) -> Mapping[str, object] | None:
    """Show the leaderboard, the win rates and what weakens them; nothing without an arena."""
    if not content.analysis.run.arena:
        return None
    from pytest_evalstudio.contrib.arena.pictures import pictures
    from pytest_evalstudio.contrib.arena.run_extra import ArenaExtra
    from pytest_evalstudio.contrib.arena.text import category_rows, findings

    extra = content.part(ArenaExtra)
    if extra is None:
        return None
    ratings = extra.ratings
    labels = {model.name: model.label for model in content.summary.models}
    return {
        "ratings": ratings,
        "categories": category_rows(ratings) if ratings.categories else [],
        "findings": list(findings(ratings)),
        "pictures": list(pictures(ratings, labels).values()),
        "missing": sum(pair.missing for pair in content.analysis.run.arena.values()),
    }
