"""Leading models: claimed only where the data rank them, and never of a model that misses its conditions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.contrib.arena.results import ModelRating, Pair, Ratings
from pytest_evalstudio.contrib.arena.run_extra import ArenaExtra
from pytest_evalstudio.report.conclusions import ModelConclusion, conclude
from pytest_evalstudio.report.leaders import leader_sentences, leaders
from support.records import RecordBuilder, boolean_evaluator, evaluator, metric, score

CASES = 30


def concluded(
    folder: Path, passing: Mapping[str, int], leaking: tuple[str, ...] = ()
) -> list[ModelConclusion]:
    """Return the conclusions of models, so many of whose cases pass; the means meet a threshold of 0.2."""
    builder = RecordBuilder(
        evaluator("quality", metric(threshold=0.2)),
        boolean_evaluator("pii", domain="privacy", problem_type="privacy"),
        models=tuple(passing),
    )
    for name, count in passing.items():
        for number in range(CASES):
            leaks = name in leaking and number == 0
            outcomes = {
                "quality": score(1.0 if number < count else 0.1),
                "pii": score(0.0 if leaks else 1.0, "model_passes"),
            }
            builder.add(f"k{number}", name, {"outcomes": outcomes})
    return conclude(analyse(builder.write(folder), {}))


def rating(model: str, rank: int, elo: float) -> ModelRating:
    return ModelRating(
        model=model,
        games=20,
        wins=10,
        ties=0,
        elo_sequential=elo,
        elo_median=elo,
        elo_low=elo - 20,
        elo_high=elo + 20,
        bradley_terry=elo,
        bradley_terry_low=elo - 20,
        bradley_terry_high=elo + 20,
        rank=rank,
        rank_best=rank,
        rank_worst=rank,
    )


def rated(*, separable: bool) -> Ratings:
    """Return the ratings of two models, a before b."""
    pair = Pair(
        model_a="a",
        model_b="b",
        games=20,
        wins_a=15,
        wins_b=5,
        ties=0,
        win_rate_a=0.75,
        low=0.5,
        high=0.9,
        p=0.01,
        p_adjusted=0.01,
        is_separable=separable,
    )
    return Ratings(
        models=(rating("a", 1, 1100), rating("b", 2, 900)),
        pairs=(pair,),
        games=20,
        prompts=10,
        ties=0.0,
        contradictions=None,
        position=None,
        length=None,
        orders=None,
        humans=None,
        judges=("j",),
        notes=(),
    )


def test_one_model_ahead_of_the_others_is_named_with_its_interval(tmp_path):
    assert list(leader_sentences(concluded(tmp_path, {"a": 29, "b": 10}))) == [
        "Best model: a, 97 % of 30 test cases pass (95 % interval 83–99 %)."
    ]


def test_models_that_the_data_do_not_distinguish_share_the_lead(tmp_path):
    conclusions = concluded(tmp_path, {"a": 29, "b": 28, "c": 5})
    assert [model.name for model in leaders(conclusions)] == ["a", "b"]
    assert list(leader_sentences(conclusions)) == [
        "These data cannot rank 2 models, whose 95 % intervals of passes overlap: a (97 %), b (93 %)."
    ]


def test_models_that_pass_all_are_not_ranked(tmp_path):
    conclusions = concluded(tmp_path, dict.fromkeys("abcdefgh", CASES))
    assert list(leader_sentences(conclusions)) == [
        "8 models pass all; these data cannot rank them: a, b, c and 5 more."
    ]


def test_a_model_that_misses_its_conditions_is_never_the_best(tmp_path):
    conclusions = concluded(tmp_path, {"a": 30, "b": 29, "c": 8}, leaking=("a",))
    assert list(leader_sentences(conclusions)) == [
        "Best of the 2 models that meet their conditions: b, 97 % of 30 test cases pass"
        " (95 % interval 83–99 %)."
    ]


def test_the_only_model_that_meets_its_conditions_is_named_as_such(tmp_path):
    conclusions = concluded(tmp_path, {"a": 30, "b": 29}, leaking=("a",))
    assert list(leader_sentences(conclusions)) == [
        "Only b meets its conditions: 97 % of 30 test cases pass (95 % interval 83–99 %)."
    ]


def test_without_a_model_that_meets_its_conditions_none_leads(tmp_path):
    conclusions = concluded(tmp_path, {"a": 30, "b": 5}, leaking=("a", "b"))
    assert list(leader_sentences(conclusions)) == ["No model meets its conditions."]


def test_models_with_different_numbers_of_cases_are_not_compared(tmp_path):
    builder = RecordBuilder(models=("a", "b"))
    builder.add("k0", "a", {"outcomes": {"quality": score(0.9)}})
    for number in range(2):
        builder.add(f"k{number}", "b", {"outcomes": {"quality": score(0.9)}})
    assert leaders(conclude(analyse(builder.write(tmp_path), {}))) == []


@pytest.mark.parametrize(
    ("separable", "leaking", "sentences"),
    [
        (
            True,
            (),
            ["Best model by arena rating: a, Elo 1100 (95 % interval 1080–1120, 20 games on 10 prompts)."],
        ),
        (False, (), ["Arena: 20 games on 10 prompts cannot rank the first 2 models: a, b."]),
        (
            True,
            ("a",),
            [
                "Best model by arena rating: b, Elo 900 (95 % interval 880–920, 20 games on 10 prompts).",
                "Rated higher, but misses its conditions: a.",
            ],
        ),
    ],
)
def test_ratings_of_an_arena_decide_before_passes(tmp_path, separable, leaking, sentences):
    conclusions = concluded(tmp_path, {"a": 10, "b": 30}, leaking=leaking)
    assert list(leader_sentences(conclusions, [ArenaExtra(rated(separable=separable))])) == sentences
