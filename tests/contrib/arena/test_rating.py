"""Ratings of games: leaderboard, pairs, biases, agreement with people, and their limits."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

import numpy as np
import pytest
from msgspec import structs

from pytest_evalstudio.contrib.arena.rating import MAX_CATEGORIES, RatingOptions, rate
from pytest_evalstudio.contrib.arena.text import rating_lines, ratings_markdown
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.record.arena import Battle
from pytest_evalstudio.stats.elo import EloScale

FAST = RatingOptions(rounds=200)
STRENGTH = {"strong": 1.5, "middle": 0.0, "weak": -1.5}


def random_battles(
    seed: int = 0, prompts: int = 80, advantage: float = 0.0, longer: float = 0.0
) -> list[Battle]:
    """Games between three models of known strength, with a known bias of the judge."""
    rng = random.Random(seed)
    battles = []
    for number in range(prompts):
        for pair in (("strong", "middle"), ("strong", "weak"), ("middle", "weak")):
            first, second = rng.sample(pair, 2)
            lengths = rng.choice([(400, 100), (100, 400), (200, 200)])
            odds = STRENGTH[first] - STRENGTH[second] + advantage
            odds += longer * ((lengths[0] > lengths[1]) - (lengths[0] < lengths[1]))
            first_wins = rng.random() < 1 / (1 + 2.718281828**-odds)
            battles.append(
                Battle(
                    prompt_key=f"p{number}",
                    model_a=first,
                    model_b=second,
                    winner="model_a" if first_wins else "model_b",
                    chars_a=lengths[0],
                    chars_b=lengths[1],
                    judge="j",
                )
            )
    return battles


def game(prompt: str, first: str, second: str, winner: str, **more) -> Battle:
    return Battle(prompt_key=prompt, model_a=first, model_b=second, winner=winner, **more)


def test_the_leaderboard_is_best_first_and_counts_games() -> None:
    ratings = rate(random_battles(), FAST)
    assert [model.model for model in ratings.models] == ["strong", "middle", "weak"]
    assert [model.games for model in ratings.models] == [160, 160, 160]
    assert sum(model.wins for model in ratings.models) == 240
    for model in ratings.models:
        assert model.elo_low < model.elo_median < model.elo_high
        assert model.bradley_terry_low < model.bradley_terry < model.bradley_terry_high


def test_strengths_that_are_known_lie_in_their_intervals() -> None:
    ratings = {model.model: model for model in rate(random_battles(prompts=300), FAST).models}
    for name, strength in STRENGTH.items():
        rating = 1000 + strength * 400 / 2.302585
        assert ratings[name].bradley_terry_low < rating < ratings[name].bradley_terry_high


def test_separable_pairs_give_sure_ranks() -> None:
    ratings = rate(random_battles(), FAST)
    assert all(pair.is_separable for pair in ratings.pairs)
    assert [(model.rank_best, model.rank_worst) for model in ratings.models] == [(1, 1), (2, 2), (3, 3)]


def test_equal_models_share_their_ranks() -> None:
    battles = [
        game(f"p{number}", *sides, "model_a")
        for number in range(20)
        for sides in [("a", "b") if number % 2 else ("b", "a")]
    ]
    ratings = rate(battles, FAST)
    assert [(model.rank_best, model.rank_worst) for model in ratings.models] == [(1, 2), (1, 2)]
    assert ratings.pairs[0].win_rate_a == 0.5


def test_ties_count_by_half() -> None:
    battles = [game(f"p{number}", "a", "b", "tie" if number < 4 else "model_a") for number in range(8)]
    [pair] = rate(battles, FAST).pairs
    assert (pair.wins_a, pair.wins_b, pair.ties, pair.win_rate_a) == (4, 0, 4, 0.75)
    assert rate(battles, FAST).ties == 0.5


def test_a_judge_that_prefers_the_first_answer_is_told() -> None:
    biased, fair = (rate(random_battles(advantage=advantage), FAST).position for advantage in (1.0, 0.0))
    assert biased is not None
    assert biased.p < 0.001
    assert biased.low > 0.55
    assert fair is not None
    assert fair.p > 0.05


def test_a_judge_that_prefers_long_answers_is_told() -> None:
    biased, fair = (rate(random_battles(longer=longer), FAST).length for longer in (1.5, 0.0))
    assert biased is not None
    assert biased.p < 0.001
    assert fair is not None
    assert fair.p > 0.05


def test_lengths_that_are_not_known_show_no_bias() -> None:
    battles = [game(f"p{number}", "a", "b", "model_a") for number in range(20)]
    assert rate(battles, FAST).length is None


def test_both_orders_show_consistency() -> None:
    battles = []
    for number, winners in enumerate(
        [("model_a", "model_b")] * 3 + [("model_a", "model_a")] * 9 + [("model_b", "model_b")]
    ):
        battles += [
            game(f"p{number}", "a", "b", winners[0], judge="j"),
            game(f"p{number}", "b", "a", winners[1], judge="j"),
        ]
    orders = rate(battles, FAST).orders
    assert orders is not None
    assert (orders.pairs, orders.same, orders.first_twice, orders.second_twice) == (13, 3, 9, 1)
    assert orders.p == pytest.approx(0.021484)


def test_people_and_judges_are_compared_whatever_the_sides() -> None:
    battles = []
    for number in range(10):
        winner = "model_a" if number % 2 else "model_b"
        battles.append(game(f"p{number}", "a", "b", winner, judge="j"))
        # The person saw the other side first, and disagrees in the last game.
        vote = {"model_a": "model_b", "model_b": "model_a"}[winner] if number < 9 else "tie"
        battles.append(game(f"p{number}", "b", "a", vote, rater="ann"))
    humans = rate(battles, FAST).humans
    assert humans is not None
    assert (humans.games, humans.agreement) == (10, 0.9)
    # By hand: expected 0.5 x 0.4 + 0.5 x 0.5 + 0 x 0.1 = 0.45; (0.9 - 0.45) / 0.55.
    assert humans.kappa == pytest.approx(0.8182, abs=1e-4)


def test_people_who_are_divided_do_not_count() -> None:
    battles = [
        game("p", "a", "b", "model_a", judge="j"),
        game("p", "a", "b", "model_a", rater="ann"),
        game("p", "a", "b", "model_b", rater="ben"),
    ]
    assert rate(battles, FAST).humans is None


def test_scores_against_the_winner_are_counted() -> None:
    battles = [
        game("p1", "a", "b", "model_a", score_a=3.0, score_b=8.0),
        game("p2", "a", "b", "model_a", score_a=9.0, score_b=8.0),
    ]
    assert rate(battles, FAST).contradictions == 0.5


def test_groups_without_a_game_between_them_are_named() -> None:
    battles = [game("p", "a", "b", "model_a"), game("p", "c", "d", "model_a")]
    ratings = rate(battles, FAST)
    assert any("a, b; c, d" in note for note in ratings.notes)
    assert all(pair.p is None for pair in ratings.pairs if {pair.model_a, pair.model_b} == {"a", "c"})


def test_a_model_that_never_loses_is_separable_and_bounded() -> None:
    ratings = rate([game(f"p{number}", "a", "b", "model_a") for number in range(30)], FAST)

    [pair] = ratings.pairs
    assert (pair.wins_a, pair.p, pair.is_separable) == (30, pytest.approx(2 * 0.5**30), True)
    first, second = ratings.models
    assert (first.rank_best, first.rank_worst, second.rank_best, second.rank_worst) == (1, 1, 2, 2)
    for model in ratings.models:
        assert model.bradley_terry_low < model.bradley_terry - 50
        assert model.bradley_terry_high > model.bradley_terry + 50
    # By hand: the log odds of 30.5 to 0.5 on the scale of Elo, half of it on each side of 1000.
    assert first.bradley_terry - 1000 == pytest.approx(math.log(61) * 400 / math.log(10) / 2, abs=0.01)
    assert any("bounded by the prior" in note for note in ratings.notes)


@pytest.mark.parametrize(("games", "is_separable"), [(5, False), (6, True)])
def test_p_of_a_pair_is_that_of_the_exact_sign_test(games: int, is_separable: bool) -> None:
    [pair] = rate([game(f"p{number}", "a", "b", "model_a") for number in range(games)], FAST).pairs
    assert (pair.p, pair.is_separable) == (2 * 0.5**games, is_separable)


def test_other_games_tell_something_about_a_pair_that_is_not_dominated() -> None:
    """Alone, 12 of 18 games are not enough; both beat the third one, but not equally often."""
    battles = [game(f"p{number}", "a", "b", "model_a" if number % 3 else "model_b") for number in range(18)]
    battles += [game(f"p{number}", "a", "c", "model_a") for number in range(18)]
    battles += [game(f"p{number}", "b", "c", "model_a" if number % 2 else "model_b") for number in range(18)]

    pairs = {(pair.model_a, pair.model_b): pair for pair in rate(battles, FAST).pairs}

    assert pairs["a", "c"].p == pytest.approx(2 * 0.5**18, rel=1e-5)
    assert pairs["a", "b"].p is not None
    assert pairs["a", "b"].p < 0.15  # of the games between both alone, 2 P(X >= 12) for 18 tosses


def test_games_on_one_prompt_count_once_for_p() -> None:
    battles = [game(f"p{number}", *sides, winner) for number in range(5) for sides, winner in BOTH_ORDERS]
    [pair] = rate(battles, FAST).pairs
    assert (pair.games, pair.wins_a, pair.p) == (10, 10, 2 * 0.5**5)


BOTH_ORDERS = ((("a", "b"), "model_a"), (("b", "a"), "model_b"))


def test_models_that_never_met_are_compared_through_others() -> None:
    battles = []
    for number in range(40):
        battles.append(game(f"p{number}", "a", "b", "model_a" if number % 4 else "model_b"))
        battles.append(game(f"q{number}", "b", "c", "model_a" if number % 4 else "model_b"))
    ratings = rate(battles, FAST)

    [pair] = [pair for pair in ratings.pairs if {pair.model_a, pair.model_b} == {"a", "c"}]
    assert (pair.games, pair.win_rate_a) == (0, None)
    assert pair.p is not None
    # By hand: twice log(30.5 / 10.5), with the variances of two pairs of 41 games, and 79 degrees of freedom.
    score = 2 * math.log(30.5 / 10.5) / math.sqrt(2 * (1 / 30.5 + 1 / 10.5)) * 1.96 / 1.9905
    assert -NormalDist().inv_cdf(pair.p / 2) == pytest.approx(score, rel=0.12)
    assert pair.is_separable


def test_few_prompts_have_wider_intervals_than_their_samples() -> None:
    few_prompts, many_prompts = (rate(random_battles(prompts=prompts), FAST) for prompts in (10, 80))
    assert any(note.startswith("10 prompts: ") for note in few_prompts.notes)
    assert not many_prompts.notes
    widths = [
        np.mean([model.bradley_terry_high - model.bradley_terry_low for model in ratings.models])
        for ratings in (few_prompts, many_prompts)
    ]
    assert widths[0] > 2 * widths[1]


def test_the_same_seed_gives_the_same_ratings() -> None:
    battles = random_battles()
    assert rate(battles, FAST) == rate(battles, FAST) != rate(battles, RatingOptions(rounds=200, seed=1))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"rounds": 0}, "rounds = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"scale": EloScale(k=0)}, "k = 0"),
        ({"scale": EloScale(base=1)}, "base = 1"),
        ({"scale": EloScale(initial=float("nan"))}, "init = nan"),
        ({"scale": EloScale(scale=float("inf"))}, "scale = inf"),
    ],
)
def test_settings_out_of_range_are_errors(options, name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        RatingOptions(**options)


def test_names_of_models_cannot_write_markup_or_break_the_table() -> None:
    ratings = rate([game("p", "<img src=x>|@all", "b\n| x |", "model_a")], FAST)
    text = ratings_markdown(ratings)
    assert "<img" not in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 4


def test_long_names_are_cut_in_the_middle_of_terminal_lines() -> None:
    name = "meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo-FP8"
    lines = list(rating_lines(rate([game("p", name, "b", "model_a")], FAST)))
    assert any("meta-llama/Meta-Lla…nt-Turbo-FP8"[:19] in line for line in lines)
    assert all(len(line) < 120 for line in lines[:4])


def test_a_category_is_rated_by_its_games_alone() -> None:
    games = [
        structs.replace(
            battle, categories=("all", "even") if int(battle.prompt_key[1:]) % 2 == 0 else ("all", "odd")
        )
        for battle in random_battles(prompts=40)
    ]
    ratings = rate(games, FAST)
    assert [entry.category for entry in ratings.categories] == ["even", "odd"]  # "all" is the whole table
    for entry in ratings.categories:
        category_ratings = rate([battle for battle in games if entry.category in battle.categories], FAST)
        assert entry.models == category_ratings.models
        assert (entry.games, entry.prompts) == (60, 20)
    assert rate(random_battles(prompts=5), FAST).categories == ()


def test_categories_with_opposite_winners_are_told_apart() -> None:
    games = [
        game(
            f"{category}{number}",
            "a",
            "b",
            "model_a" if category == "maths" else "model_b",
            categories=(category,),
        )
        for category in ("maths", "law")
        for number in range(20)
    ]
    best = {entry.category: entry.models[0].model for entry in rate(games, FAST).categories}
    assert best == {"maths": "a", "law": "b"}


def test_only_the_largest_categories_are_rated() -> None:
    games = [
        game(f"p{number}", "a", "b", "model_a", categories=(f"c{number % (MAX_CATEGORIES + 5):02}",))
        for number in range(3 * (MAX_CATEGORIES + 5) - 5)
    ]
    names = [entry.category for entry in rate(games, RatingOptions(rounds=2)).categories]
    assert names == [f"c{number:02}" for number in range(MAX_CATEGORIES)]
