"""Ratings of an arena as text: lines for a terminal, and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.contrib.arena.pictures import win_table
from pytest_evalstudio.contrib.arena.replacement import replacements
from pytest_evalstudio.contrib.arena.results import Bias, ModelRating, Ratings
from pytest_evalstudio.core.markdown import escaped
from pytest_evalstudio.text.figures import counted, figure, percent

LONGEST_NAME = 32
_HEADINGS = (
    "rank",
    "model",
    "Elo",
    "95 % interval",
    "Bradley-Terry",
    "95 % interval",
    "games",
    "wins",
    "ties",
)


def rating_lines(ratings: Ratings) -> Iterator[str]:
    """Yield the ratings for a terminal: leaderboard, win rates, what they rest on, biases."""
    rows = [_HEADINGS, *map(_row, ratings.models)]
    yield from _aligned([(row[0], _short(row[1]), *row[2:]) for row in rows])
    yield ""
    numbers = [str(number) for number in range(1, len(ratings.models) + 1)]
    cells = [
        (number, _short(model.model), *("" if rate is None else percent(rate) for rate in rates))
        for number, model, rates in zip(numbers, ratings.models, win_table(ratings), strict=True)
    ]
    yield from _aligned([("", "wins against", *numbers), *cells])
    yield ""
    if ratings.categories:
        yield from _aligned([(row[0], _short(row[1]), *row[2:]) for row in category_rows(ratings)])
        yield ""
    yield from findings(ratings)


def findings(ratings: Ratings) -> Iterator[str]:
    """Yield what the games allow to say, one sentence each."""
    judges = ", ".join(name for name in ratings.judges if name) or "not named"
    games = f"{counted(ratings.games, 'game')} on {counted(ratings.prompts, 'prompt')}"
    yield f"{games}, {percent(ratings.ties)} ties; judged by: {judges}"
    for new in replacements(ratings):
        interval = f"95 % interval {percent(new.low)} to {percent(new.high)}, ties count by half"
        wins = f"it wins {percent(new.win_rate)} of {new.games} games ({interval})"
        yield f"{new.model} against its baseline: {new.verdict}; {wins}"
    separable = sum(pair.is_separable for pair in ratings.pairs)
    yield f"{separable} of {len(ratings.pairs)} pairs of models differ in strength (Holm-adjusted p <= 0.05)"
    if ratings.position is not None:
        yield f"position: the first of two equal answers wins {_rate(ratings.position)}"
    if ratings.length is not None:
        yield f"length: an answer twice as long wins {_rate(ratings.length)}"
    if ratings.orders is not None:
        orders = ratings.orders
        yield (
            f"both orders: {orders.same} of {orders.pairs} verdicts stay the same; the first answer wins both"
            f" times in {orders.first_twice}, the second in {orders.second_twice} (p = {figure(orders.p)})"
        )
    if ratings.contradictions:
        yield f"{percent(ratings.contradictions)} of the verdicts contradict their own scores"
    if ratings.humans is not None:
        humans = ratings.humans
        kappa = "" if humans.kappa is None else f", Cohen's kappa {figure(humans.kappa)}"
        yield f"people: {percent(humans.agreement)} equal verdicts on {humans.games} games{kappa}"
    for note in ratings.notes:
        yield f"note: {note}"


def category_rows(ratings: Ratings) -> list[tuple[str, ...]]:
    """Return a table of the Elo ratings by category, its head included: a row per category and model."""
    rows: list[tuple[str, ...]] = [("prompts", "category", "model", "Elo", "95 % interval", "games")]
    for category in ratings.categories:
        for number, model in enumerate(category.models):
            rows.append(
                (
                    "" if number else str(category.prompts),
                    "" if number else category.category,
                    model.model,
                    f"{model.elo_median:.0f}",
                    f"{model.elo_low:.0f} to {model.elo_high:.0f}",
                    str(model.games),
                )
            )
    return rows


def ratings_markdown(ratings: Ratings, *, level: int = 1) -> str:
    """Return the leaderboard and the findings as Markdown.

    Args:
        ratings: the ratings.
        level: of the heading.
    """
    lines = [f"{'#' * level} Arena", "", f"| {' | '.join(_HEADINGS)} |", "| ---: | --- |" + " ---: |" * 7]
    for model in ratings.models:
        rank, name, *numbers = _row(model)
        lines.append(f"| {rank} | {escaped(name)} | {' | '.join(numbers)} |")
    if ratings.categories:
        head, *rows = category_rows(ratings)
        lines += ["", f"| {' | '.join(head)} |", "| ---: | --- | --- | ---: | ---: | ---: |"]
        lines += [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    lines += ["", *(f"- {escaped(finding)}" for finding in findings(ratings))]
    return "\n".join(lines) + "\n"


def _row(model: ModelRating) -> tuple[str, ...]:
    rank = (
        f"{model.rank_best}"
        if model.rank_best == model.rank_worst
        else f"{model.rank_best}-{model.rank_worst}"
    )
    return (
        rank,
        model.model,
        f"{model.elo_median:.0f}",
        f"{model.elo_low:.0f} to {model.elo_high:.0f}",
        f"{model.bradley_terry:.0f}",
        f"{model.bradley_terry_low:.0f} to {model.bradley_terry_high:.0f}",
        str(model.games),
        str(model.wins),
        str(model.ties),
    )


def _rate(bias: Bias) -> str:
    verdict = f"p = {figure(bias.p)}" if bias.p >= 0.001 else "p < 0.001"
    interval = f"95 % interval {percent(bias.low)} to {percent(bias.high)}"
    return f"{percent(bias.win_rate)} of the games ({interval}, {verdict})"


def _short(name: str) -> str:
    # Names of versions of a model often differ at their ends.
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 13]}…{name[-12:]}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table; the second column is aligned to the left, all others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if column == 1 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
