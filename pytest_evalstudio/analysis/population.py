"""Figures of all rows of which a record has only some."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from pytest_evalstudio.analysis.leaderboards import Leaderboard


class Population(Struct, frozen=True, kw_only=True):
    """Figures of the rows that a record is an excerpt of.

    Attributes:
        boards: leaderboards of all rows, by evaluator id.
        verdicts: model key to number of rows by verdict.
        empty: model key to number of rows with an empty answer.
        note: sentences that say what is of all rows, and which rows are listed.
    """

    boards: Mapping[str, Leaderboard]
    verdicts: Mapping[str, Mapping[str, int]]
    note: tuple[str, ...]
    empty: Mapping[str, int] = field(default_factory=dict)
