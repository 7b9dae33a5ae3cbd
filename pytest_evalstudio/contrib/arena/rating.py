"""Ratings of models from their games."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pytest_evalstudio.contrib.arena.bias import human_agreement, length_bias, order_check, position_bias
from pytest_evalstudio.contrib.arena.results import CategoryRating, ModelRating, Pair, Ratings
from pytest_evalstudio.contrib.arena.table import GameTable
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.record.arena import Battle
from pytest_evalstudio.stats.bradley_terry import (
    PRIOR_WINS,
    bradley_terry,
    has_played,
    is_determined,
    strength_covariance,
)
from pytest_evalstudio.stats.comparison import holm
from pytest_evalstudio.stats.elo import EloScale, bootstrap_elo, sequential_elo
from pytest_evalstudio.stats.intervals import student_quantile, wilson_interval
from pytest_evalstudio.stats.sign_flip import sign_flip
from pytest_evalstudio.stats.types import Floats, Integers, Interval

ALPHA = 0.05
MIN_PROMPTS = 30
"""Prompts below which a note says what the intervals rest on."""
MAX_ROUNDS = 100_000
MAX_CATEGORIES = 20
"""Categories that are rated by themselves, those with the most games."""
_DIGITS = 4
"""Decimals of the results: fewer than those in which the floating-point units of machines differ."""
_TAILS = (2.5, 97.5)
_NORMAL_QUANTILE = 1.959964  # of a 95 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingOptions:
    """Settings of the ratings.

    Attributes:
        scale: constants of the Elo rating.
        rounds: number of bootstrap samples.
        seed: of the samples.

    Raises:
        ConfigurationError: if a value is out of range.
    """

    scale: EloScale = field(default_factory=EloScale)
    rounds: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, valid in (
            ("k", self.scale.k, self.scale.k > 0),
            ("scale", self.scale.scale, self.scale.scale > 0),
            ("base", self.scale.base, self.scale.base > 1),
            ("init", self.scale.initial, True),
        ):
            if not valid or not math.isfinite(value):
                need = {"base": "more than 1", "init": "a number"}.get(name, "more than 0")
                raise ConfigurationError(f"{name} = {value:g}: must be {need}")
        if not 1 <= self.rounds <= MAX_ROUNDS:
            raise ConfigurationError(f"rounds = {self.rounds}: must be 1 to {MAX_ROUNDS:,}")
        if self.seed < 0:
            raise ConfigurationError(f"seed = {self.seed}: must be 0 or more")


def rate(battles: Sequence[Battle], options: RatingOptions | None = None) -> Ratings:
    """Rate the models of games.

    Elo is sequential in the order of the games; its bootstrap samples games, as the published method does.
    The intervals of Bradley–Terry and of win rates sample prompts, since games on one prompt are alike. The
    strengths of Bradley–Terry have a prior of half a win and half a loss for each pair that has played.

    Args:
        battles: games, at least one; votes of people and verdicts of judges count alike.
        options: settings; the published constants by default.

    Source: H2O LLM Evaluation (A/B tests, Elo with K 32, scale 400, base 10, start 1000, median of 1,000
    bootstrap rounds); Chiang et al., 2024, Chatbot Arena (Bradley–Terry, ranks by intervals).
    """
    rating_options = options or RatingOptions()
    table = GameTable.of(battles)
    figures = _Figures(table, rating_options)
    pairs = _pairs(table, figures)
    return Ratings(
        models=_models(table, figures, pairs),
        pairs=tuple(pairs),
        games=len(battles),
        prompts=len({battle.prompt_key for battle in battles}),
        ties=_rounded(sum(battle.winner == "tie" for battle in battles) / len(battles)),
        contradictions=_contradictions(battles),
        position=position_bias(battles),
        length=length_bias(battles),
        orders=order_check(battles),
        humans=human_agreement(battles),
        judges=tuple(dict.fromkeys(battle.rater or battle.judge for battle in battles)),
        notes=tuple(_notes(table, figures.groups)),
        categories=tuple(_by_category(battles, rating_options)),
    )


def _by_category(battles: Sequence[Battle], options: RatingOptions) -> Iterator[CategoryRating]:
    """Yield the ratings of each category that not all games have; at most `MAX_CATEGORIES` of them."""
    by_category: dict[str, list[Battle]] = {}
    for battle in battles:
        for category in battle.categories:
            by_category.setdefault(category, []).append(battle)
    partial = [(name, games) for name, games in by_category.items() if len(games) < len(battles)]
    for name, games in sorted(partial, key=lambda entry: (-len(entry[1]), entry[0]))[:MAX_CATEGORIES]:
        table = GameTable.of(games)
        figures = _Figures(table, options)
        yield CategoryRating(
            category=name,
            games=len(games),
            prompts=len({battle.prompt_key for battle in games}),
            models=_models(table, figures, _pairs(table, figures)),
        )


def _models(table: GameTable, figures: _Figures, pairs: Sequence[Pair]) -> tuple[ModelRating, ...]:
    return tuple(_model(table, figures, pairs, number, rank) for rank, number in enumerate(figures.order, 1))


class _Figures:
    """Ratings by number of the model.

    Attributes:
        order: numbers of the models, best first.
        sequential: sequential Elo.
        elo: shape (rounds, models).
        wins: shape (models, models), of all games.
        strength: Bradley–Terry on the Elo scale.
        strength_ends: shape (2, models), its interval.
        p_of_strengths: shape (models, models), two-sided p of equal strengths by their standard errors.
        win_rates: shape (rounds, models, models).
        groups: numbers of the models that games link.
    """

    def __init__(self, table: GameTable, options: RatingOptions) -> None:
        scale, players = options.scale, len(table.models)
        self.sequential = sequential_elo(
            table.first.tolist(), table.second.tolist(), table.points.tolist(), players, scale
        )
        self.elo = bootstrap_elo(
            table.first, table.second, table.points, players, scale, rounds=options.rounds, seed=options.seed
        )
        self.median = np.round(np.median(self.elo, axis=0), _DIGITS)
        unit = scale.scale / math.log(scale.base)
        resampled = table.resampled_wins(options.rounds, options.seed)
        self.wins = table.wins()
        strengths = bradley_terry(self.wins)
        prior = PRIOR_WINS * has_played(self.wins)
        # `prior` is in the counts already.
        sampled = bradley_terry(resampled + prior, prior=0.0)
        covariance = strength_covariance(table.prompt_wins() + prior, strengths)
        self.strength = scale.initial + unit * strengths
        self.strength_ends = scale.initial + unit * _strength_ends(table, strengths, sampled, covariance)
        self.p_of_strengths = _p_of_strengths(table, strengths, sampled, covariance)
        games = resampled + resampled.swapaxes(1, 2)
        # A sample may have no game of a pair: 0 / 0.
        with np.errstate(invalid="ignore"):
            self.win_rates: Floats = resampled / games
        self.groups = _groups(self.wins)
        self.order = sorted(range(players), key=lambda number: (-self.median[number], table.models[number]))


def _model(table: GameTable, figures: _Figures, pairs: Sequence[Pair], number: int, rank: int) -> ModelRating:
    name = table.models[number]
    firsts, seconds = table.first == number, table.second == number
    elo = np.percentile(figures.elo[:, number], _TAILS)
    strength = figures.strength_ends[:, number]
    separable = [pair for pair in pairs if pair.is_separable and name in (pair.model_a, pair.model_b)]
    stronger = {other: float(figures.strength[index]) for index, other in enumerate(table.models)}
    opponents = [pair.model_b if pair.model_a == name else pair.model_a for pair in separable]
    better = sum(stronger[opponent] > stronger[name] for opponent in opponents)
    return ModelRating(
        model=name,
        games=int(firsts.sum() + seconds.sum()),
        wins=int((table.points[firsts] == 1).sum() + (table.points[seconds] == 0).sum()),
        ties=int((table.points[firsts | seconds] == 0.5).sum()),
        elo_sequential=_rounded(figures.sequential[number]),
        elo_median=_rounded(figures.median[number]),
        elo_low=_rounded(elo[0]),
        elo_high=_rounded(elo[1]),
        bradley_terry=_rounded(figures.strength[number]),
        bradley_terry_low=_rounded(strength[0]),
        bradley_terry_high=_rounded(strength[1]),
        rank=rank,
        rank_best=1 + better,
        rank_worst=len(table.models) - (len(opponents) - better),
    )


def _pairs(table: GameTable, figures: _Figures) -> list[Pair]:
    couples = [
        (number, other) for rank, number in enumerate(figures.order) for other in figures.order[rank + 1 :]
    ]
    p_values = [_p(table, figures, number, other) for number, other in couples]
    finite = [p for p in p_values if p is not None]
    adjusted = iter(holm(finite))
    return [
        _pair(table, figures, number, other, p, next(adjusted) if p is not None else None)
        for (number, other), p in zip(couples, p_values, strict=True)
    ]


def _p(table: GameTable, figures: _Figures, number: int, other: int) -> float | None:
    """Return the two-sided p of equal models; None where no games link them.

    Where one of them won all of their games, or there is no other model, it is that of the exact test over
    the prompts of these games; else that of their strengths, which all games tell something about.
    """
    won, lost = figures.wins[number, other], figures.wins[other, number]
    if won + lost > 0 and (len(table.models) == 2 or min(won, lost) == 0):
        return sign_flip(table.prompt_points(number, other))
    linked = any(number in group and other in group for group in figures.groups)
    return float(figures.p_of_strengths[number, other]) if linked else None


def _strength_ends(table: GameTable, strengths: Floats, sampled: Floats, covariance: Floats) -> Floats:
    """Return the ends of the intervals of strengths: of samples of prompts, or of the information if wider.

    Samples of few prompts vary too little, and not at all where a model always wins.
    """
    errors = _quantile(table) * np.sqrt(np.diag(covariance))
    low, high = np.percentile(sampled, _TAILS, axis=0)
    return np.stack([np.minimum(low, strengths - errors), np.maximum(high, strengths + errors)])


def _quantile(table: GameTable) -> float:
    """Return Student's quantile for the number of prompts."""
    # Prompts are numbered from 0: the greatest number is the degrees of freedom.
    return student_quantile(0.975, max(1, int(table.prompts.max())))


def _p_of_strengths(table: GameTable, strengths: Floats, sampled: Floats, covariance: Floats) -> Floats:
    """Return the two-sided p of equal strengths, by the wider of both standard errors of the difference.

    The normal score is scaled so that p is 0.05 at Student's quantile.
    """
    variances = np.diag(covariance)[:, None] + np.diag(covariance)[None, :] - 2 * covariance
    spread = (sampled[:, :, None] - sampled[:, None, :]).std(axis=0)
    # Not 0, by which the next line divides.
    errors = np.maximum(np.sqrt(np.maximum(variances, 1e-300)), spread) * _quantile(table) / _NORMAL_QUANTILE
    scores = np.abs(strengths[:, None] - strengths[None, :]) / errors
    # erfc(z / √2) is the two-sided p of a normal score z.
    return np.array([[math.erfc(score / math.sqrt(2)) for score in row] for row in scores.tolist()])


def _pair(
    table: GameTable, figures: _Figures, number: int, other: int, p: float | None, adjusted: float | None
) -> Pair:
    forth = (table.first == number) & (table.second == other)
    back = (table.first == other) & (table.second == number)
    wins = int((table.points[forth] == 1).sum() + (table.points[back] == 0).sum())
    losses = int((table.points[forth] == 0).sum() + (table.points[back] == 1).sum())
    games = int(forth.sum() + back.sum())
    rates = figures.win_rates[:, number, other]
    rates = rates[np.isfinite(rates)]
    rate = (wins + (games - wins - losses) / 2) / games if games else None
    low, high = (None, None) if rate is None else _win_interval(rate, rates, table.prompts[forth | back])
    return Pair(
        model_a=table.models[number],
        model_b=table.models[other],
        games=games,
        wins_a=wins,
        wins_b=losses,
        ties=games - wins - losses,
        win_rate_a=None if rate is None else _rounded(rate),
        low=None if low is None else _rounded(low),
        high=None if high is None else _rounded(high),
        # As with `_DIGITS`, machines may differ in further ones.
        p=None if p is None else float(f"{p:.6g}"),
        p_adjusted=None if adjusted is None else float(f"{adjusted:.6g}"),
        is_separable=adjusted is not None and adjusted <= ALPHA,
    )


def _win_interval(rate: float, rates: Floats, prompts: Integers) -> Interval:
    """Return the interval of a win rate: that of the samples of prompts, or Wilson's where it is wider.

    Few prompts with the same winner vary in no sample; Wilson's interval knows that they are few.
    """
    number = len(np.unique(prompts))
    low, high = wilson_interval(rate * number, number)
    if rates.size:
        sampled_low, sampled_high = np.percentile(rates, _TAILS)
        low, high = min(low, float(sampled_low)), max(high, float(sampled_high))
    return low, high


def _contradictions(battles: Sequence[Battle]) -> float | None:
    scored = [
        (battle.points - 0.5, battle.score_a - battle.score_b)
        for battle in battles
        if battle.score_a is not None and battle.score_b is not None
    ]
    if not scored:
        return None
    return _rounded(sum(points * difference < 0 for points, difference in scored) / len(scored))


def _notes(table: GameTable, groups: Sequence[Sequence[int]]) -> list[str]:
    """Return what limits the ratings."""
    notes = []
    if len(groups) > 1:
        listed = "; ".join(", ".join(table.models[number] for number in group) for group in groups)
        notes.append(f"no games link these groups of models, so their ratings cannot be compared: {listed}")
    elif not is_determined(table.wins()[None])[0]:
        notes.append(
            "some model only wins or only loses: its Bradley-Terry rating is bounded by the prior (half a win"
            " and half a loss for each pair that has played), and the models may be farther apart"
        )
    prompts = int(table.prompts.max()) + 1
    if prompts < MIN_PROMPTS:
        notes.append(
            f"{prompts} prompts: the intervals of Elo sample games and do not tell how other prompts would"
            " turn out; those of Bradley-Terry sample prompts, and are widened since these are few"
        )
    return notes


def _groups(wins: Floats) -> list[list[int]]:
    """Return the groups of models that are linked by games."""
    played = (wins + wins.T) > 0
    groups: list[list[int]] = []
    open_numbers = set(range(len(wins)))
    while open_numbers:
        group, pending = set[int](), [min(open_numbers)]
        while pending:
            number = pending.pop()
            if number not in group:
                group.add(number)
                pending += np.flatnonzero(played[number]).tolist()
        groups.append(sorted(group))
        open_numbers -= group
    return groups


def _rounded(value: float, digits: int = _DIGITS) -> float:
    # Adding 0.0 turns -0.0 into 0.0.
    return round(float(value), digits) + 0.0
