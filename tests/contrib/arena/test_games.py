"""Games: all pairs, reproducible order and sides, and what is still to be played."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_evalstudio.contrib.arena.games import games_of, model_of, unplayed
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.record.arena import Battle


def answers(models: str, prompts: int = 6) -> list[Case]:
    return [
        Case(
            key=f"p{number}",
            question=f"Question {number}?",
            answer=Answer(text=f"{name} {number}"),
            model_key=name,
        )
        for name in models
        for number in range(prompts)
    ]


def sides(games) -> list[tuple[str, str, str]]:
    return [(game.prompt_key, model_of(game.first), model_of(game.second)) for game in games]


def battle_of(game, **more) -> Battle:
    values = {
        "prompt_key": game.prompt_key,
        "model_a": model_of(game.first),
        "model_b": model_of(game.second),
        "winner": "tie",
        "judge": "j",
        "texts_id": game.texts_id,
    }
    return Battle(**{**values, **more})


def test_each_prompt_is_played_by_each_pair() -> None:
    games = games_of(answers("abcd"), seed=0)
    assert len(games) == 6 * 4 * 3 // 2
    assert set(Counter((game.prompt_key, game.models) for game in games).values()) == {1}


def test_sides_are_random_and_balanced() -> None:
    games = games_of(answers("ab", prompts=400), seed=0)
    assert 160 <= sum(model_of(game.first) == "a" for game in games) <= 240


def test_the_order_is_shuffled_and_the_seed_decides() -> None:
    games = sides(games_of(answers("abc"), seed=0))
    assert games == sides(games_of(answers("cba"), seed=0))
    assert games != sides(games_of(answers("abc"), seed=1))
    assert [prompt for prompt, _, _ in games] != sorted(prompt for prompt, _, _ in games)


def test_another_model_changes_no_game_of_the_others() -> None:
    before, after = (sides(games_of(answers(models), seed=0)) for models in ("abc", "abcd"))
    assert [game for game in after if "d" not in game] == before


def test_both_orders_exchange_the_sides() -> None:
    games = sides(games_of(answers("ab"), seed=0, both_orders=True))
    assert len(games) == 12
    assert {(prompt, second, first) for prompt, first, second in games} == set(games)


def test_only_the_chosen_models_play() -> None:
    games = games_of(answers("abc"), seed=0, models=("a", "c"))
    assert {game.models for game in games} == {frozenset("ac")}


def test_failed_answers_do_not_play() -> None:
    failed = Case(key="p0", question="?", answer=Answer(error="no answer"), model_key="c")
    assert {game.models for game in games_of([*answers("ab"), failed], seed=0)} == {frozenset("ab")}


def test_an_unknown_model_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(ConfigurationError, match="'modelb'"):
        games_of(answers("ab"), seed=0, models=("modelb",))


def test_one_model_has_nothing_to_play() -> None:
    with pytest.raises(DataError, match="answers of two models to the same prompt"):
        games_of(answers("a"), seed=0)


def test_what_was_played_is_not_played_again() -> None:
    games = games_of(answers("ab"), seed=0)
    battles = [battle_of(game) for game in games[:4]]
    remaining, valid_battles = unplayed(games, battles, "j", both_orders=False)
    assert (remaining, valid_battles) == (games[4:], battles)


def test_a_changed_answer_is_played_again() -> None:
    games = games_of(answers("ab"), seed=0)
    battles = [battle_of(game) for game in games]
    battles[2] = battle_of(games[2], texts_id="another")
    remaining, valid_battles = unplayed(games, battles, "j", both_orders=False)
    assert remaining == [games[2]]
    assert battles[2] not in valid_battles


def test_verdicts_of_others_remain_and_count_for_nothing() -> None:
    games = games_of(answers("ab"), seed=0)
    battles = [battle_of(games[0], judge="k"), battle_of(games[1], judge="", rater="ann")]
    remaining, valid_battles = unplayed(games, battles, "j", both_orders=False)
    assert (remaining, valid_battles) == (games, battles)


def test_games_of_a_file_without_digests_count_as_played() -> None:
    games = games_of(answers("ab"), seed=0)
    remaining, _ = unplayed(games, [battle_of(games[0], texts_id="")], "j", both_orders=False)
    assert remaining == games[1:]
