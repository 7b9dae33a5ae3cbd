"""Results of an arena: ratings of models, pairs, and biases of the judges."""

from __future__ import annotations

import msgspec


class ModelRating(msgspec.Struct, frozen=True, kw_only=True):
    """Rating of one model.

    Attributes:
        model: its name.
        games: number of its games.
        wins: games that it won.
        ties: games without a winner.
        elo_sequential: Elo after the games in the order of the file; depends on that order.
        elo_median: median Elo over the bootstrap rounds, the rating of the published method.
        elo_low: 2.5th percentile over the rounds.
        elo_high: 97.5th percentile.
        bradley_terry: strength on the same scale, with a prior of half a win and half a loss for each pair;
            does not depend on the order.
        bradley_terry_low: lower end of its 95 % interval, by samples of prompts or by the information of one
            game per prompt and pair, whichever is wider.
        bradley_terry_high: upper end.
        rank: by `elo_median`, from 1.
        rank_best: 1 and one more for each model that is significantly stronger.
        rank_worst: number of models less those that are significantly weaker.
    """

    model: str
    games: int
    wins: int
    ties: int
    elo_sequential: float
    elo_median: float
    elo_low: float
    elo_high: float
    bradley_terry: float
    bradley_terry_low: float
    bradley_terry_high: float
    rank: int
    rank_best: int
    rank_worst: int


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Games between two models.

    Attributes:
        model_a: the stronger model by `elo_median`.
        model_b: the other one.
        games: games between them.
        wins_a: games that `model_a` won.
        wins_b: games that `model_b` won.
        ties: games without a winner.
        win_rate_a: (wins + ties / 2) / games of `model_a`; None without games.
        low: lower bound of its 95 % interval: that of samples of prompts, or Wilson's where it is wider.
        high: upper bound.
        p: two-sided, that both are equally strong, over all games (Bradley–Terry). Of the exact sign-flip
            test over the prompts of their games where one won all of them, or there is no other model. None
            where no games link them.
        p_adjusted: corrected by Holm for all pairs.
        is_separable: whether `p_adjusted` is at most 0.05.
    """

    model_a: str
    model_b: str
    games: int
    wins_a: int
    wins_b: int
    ties: int
    win_rate_a: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    is_separable: bool


class Bias(msgspec.Struct, frozen=True, kw_only=True):
    """Influence of a property on the verdicts, adjusted for the strengths of the models.

    Attributes:
        win_rate: of two equally strong models: how often that with the property wins.
        low: lower bound of the 95 % interval.
        high: upper bound.
        p: two-sided, of no influence; dependence within prompts is accounted for.
        games: decisive games that count.
    """

    win_rate: float
    low: float
    high: float
    p: float
    games: int


class OrderCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Games that were judged in both orders.

    Attributes:
        pairs: prompts and pairs of models with both orders.
        same: those with the same verdict in both.
        first_twice: those in which the first answer won both times.
        second_twice: those in which the second answer won both times.
        p: exact two-sided sign test that first and second are preferred equally often.
    """

    pairs: int
    same: int
    first_twice: int
    second_twice: int
    p: float


class HumanAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of the judges with people on the same prompt and pair.

    Attributes:
        games: compared verdicts; with several people their majority counts.
        agreement: share of equal verdicts.
        kappa: Cohen's kappa over first, second and tie; None where it is not defined.
    """

    games: int
    agreement: float
    kappa: float | None


class CategoryRating(msgspec.Struct, frozen=True, kw_only=True):
    """Ratings of the games on the prompts of one category.

    Attributes:
        models: best first by `elo_median` of these games.
    """

    category: str
    games: int
    prompts: int
    models: tuple[ModelRating, ...]


class Ratings(msgspec.Struct, frozen=True, kw_only=True):
    """Ratings of an arena.

    Attributes:
        models: best first by `elo_median`.
        pairs: all pairs, in the order of `models`.
        games: number of games.
        prompts: number of prompts.
        ties: share of games without a winner.
        contradictions: share of scored games whose winner has the lower score.
        position: advantage of the answer that is shown first; None where it cannot be told.
        length: advantage of an answer twice as long; None where it cannot be told.
        orders: games judged in both orders; None where there are none.
        humans: agreement of judges with people; None without votes on the same games.
        judges: names of the judges and raters.
        notes: what limits these figures.
        categories: ratings by category of the prompts, those with the most games first; empty where all
            prompts have the same.
    """

    models: tuple[ModelRating, ...]
    pairs: tuple[Pair, ...]
    games: int
    prompts: int
    ties: float
    contradictions: float | None
    position: Bias | None
    length: Bias | None
    orders: OrderCheck | None
    humans: HumanAgreement | None
    judges: tuple[str, ...]
    notes: tuple[str, ...]
    categories: tuple[CategoryRating, ...] = ()
