"""Pictures of the ratings of an arena."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.contrib.arena.results import Ratings
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.plots.dots import Dot, dot_plot
from pytest_evalstudio.plots.heatmap import heatmap
from pytest_evalstudio.plots.labels import short_labels


def pictures(ratings: Ratings, labels: Mapping[str, str] = NOTHING) -> dict[str, str]:
    """Return SVG pictures by name: the ratings with their intervals, and the win rates.

    Args:
        labels: short names of the models in the report that shows the pictures, by name.
    """
    models = [model.model for model in ratings.models]
    names = [labels.get(model, short) for model, short in zip(models, short_labels(models), strict=True)]
    elo = [
        Dot(name, model.elo_median, model.elo_low, model.elo_high)
        for name, model in zip(names, ratings.models, strict=True)
    ]
    return {
        "ratings": dot_plot("Elo, median and 95 % interval", elo),
        "win_rates": heatmap("Win rate of the row against the column", names, names, win_table(ratings)),
    }


def win_table(ratings: Ratings) -> list[list[float | None]]:
    """Return the win rate of each model against each other, in the order of the ratings."""
    rates: dict[tuple[str, str], float] = {}
    for pair in ratings.pairs:
        if pair.win_rate_a is not None:
            rates[pair.model_a, pair.model_b] = pair.win_rate_a
            rates[pair.model_b, pair.model_a] = 1 - pair.win_rate_a
    names = [model.model for model in ratings.models]
    return [[rates.get((name, other)) for other in names] for name in names]
