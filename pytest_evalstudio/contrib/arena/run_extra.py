"""Ratings of the arena of a run, for its gates, headline, terminal and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.analysis.gates import TermValue
from pytest_evalstudio.analysis.summary.leaders import listed_names
from pytest_evalstudio.analysis.summary.models import ModelSummary
from pytest_evalstudio.contrib.arena.entries import ratings_of
from pytest_evalstudio.contrib.arena.gates import term_values
from pytest_evalstudio.contrib.arena.results import Ratings
from pytest_evalstudio.contrib.arena.text import rating_lines, ratings_markdown
from pytest_evalstudio.record.schema import Run
from pytest_evalstudio.text.figures import counted


@dataclass(frozen=True, slots=True)
class ArenaExtra:
    """Ratings of a run; a `analysis.summary.extras.RunExtra`."""

    ratings: Ratings
    title: str = "arena"

    def term_values(self) -> Mapping[str, TermValue]:
        """Return the values of elo(MODEL) and win_rate(MODEL, OTHER)."""
        return term_values(self.ratings)

    def leader_sentences(self, models: Sequence[ModelSummary]) -> Sequence[str]:
        """Return the strongest models by rating; those that miss their conditions are named apart."""
        return list(_leader_sentences(models, self.ratings))

    def closing_lines(self) -> Iterator[str]:
        """Yield nothing: the headline names the strongest models."""
        return iter(())

    def lines(self) -> Iterator[str]:
        """Yield the ratings for a terminal."""
        return rating_lines(self.ratings)

    def markdown(self) -> str:
        """Return the ratings as Markdown."""
        return ratings_markdown(self.ratings, level=2)


def arena_of(run: Run) -> ArenaExtra | None:
    """Return the ratings of a run, None where no game has a verdict."""
    ratings = ratings_of(run)
    return None if ratings is None else ArenaExtra(ratings)


def _leader_sentences(models: Sequence[ModelSummary], ratings: Ratings) -> Iterator[str]:
    missing = {model.name for model in models if model.conformity == "misses conditions"}
    candidates = [rating for rating in ratings.models if rating.model not in missing]
    if not candidates or not ratings.games:
        return
    names = {rating.model for rating in candidates}
    weaker = {pair.model_b for pair in ratings.pairs if pair.is_separable and pair.model_a in names}
    strongest = [rating for rating in candidates if rating.model not in weaker]
    first = strongest[0]
    games = f"{counted(ratings.games, 'game')} on {counted(ratings.prompts, 'prompt')}"
    if len(strongest) > 1:
        tied = listed_names([rating.model for rating in strongest])
        yield f"Arena: {games} cannot rank the first {len(strongest)} models: {tied}."
    elif len(ratings.models) > 1:
        interval = f"95 % interval {first.elo_low:.0f}–{first.elo_high:.0f}"
        yield f"Best model by arena rating: {first.model}, Elo {first.elo_median:.0f} ({interval}, {games})."
    above = [
        rating.model for rating in ratings.models if rating.model in missing and rating.rank < first.rank
    ]
    if above:
        verb = "misses its" if len(above) == 1 else "miss their"
        yield f"Rated higher, but {verb} conditions: {listed_names(above)}."
