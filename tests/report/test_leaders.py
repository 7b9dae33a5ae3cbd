"""Leading models: claimed only where the data rank them, and never of a model that misses its conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.analysis.summary.leaders import leaders
from pytest_evalstudio.analysis.summary.results import RunSummary, summarise
from pytest_evalstudio.contrib.arena.results import ModelRating, Pair, Ratings
from pytest_evalstudio.contrib.arena.run_extra import ArenaExtra
from support.records import RecordBuilder, boolean_evaluator, evaluator, metric, perturbed, score

CASES = 30


def summarised(
    folder: Path, passing: Mapping[str, int], leaking: tuple[str, ...] = (), extras: Sequence[ArenaExtra] = ()
) -> RunSummary:
    """Return the summary of models, so many of whose first cases pass; the means meet a threshold of 0.2."""
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
    return summarise(analyse(builder.write(folder), {}), extras=extras)


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


def test_one_model_ahead_of_another_is_named_with_what_it_passes_alone(tmp_path):
    assert summarised(tmp_path, {"a": 29, "b": 10}).ranking == (
        "Best model: a, which passes 97 % of 30 test cases; a passes 19 questions that b fails, none the"
        " other way (p < 0.001).",
    )


def test_overlapping_intervals_do_not_hide_a_difference_that_the_paired_test_proves(tmp_path):
    summary = summarised(tmp_path, {"a": 26, "b": 18})
    first, second = summary.models
    assert first.interval is not None
    assert second.interval is not None
    assert first.interval[0] < second.interval[1]
    # 8 against 0: p = 2 × 0.5⁸.
    assert summary.pairs[0].p == pytest.approx(2 * 0.5**8)
    assert (first.rank, second.rank) == (1, 2)
    assert summary.ranking == (
        "Best model: a, which passes 87 % of 30 test cases; a passes 8 questions that b fails, none the other"
        " way (p 0.008).",
    )


def test_models_that_the_data_do_not_distinguish_share_the_lead(tmp_path):
    summary = summarised(tmp_path, {"a": 29, "b": 28, "c": 5})
    assert [model.name for model in leaders(summary.models, summary.pairs)] == ["a", "b"]
    assert [model.rank for model in summary.models] == [1, 1, 3]
    assert summary.ranking == (
        "These data cannot rank the first 2 of 3 models: a (97 %), b (93 %); a passes 1 question that b"
        " fails, none the other way, which may be chance.",
    )


def test_two_models_that_cannot_be_told_apart_are_named_with_their_counts(tmp_path):
    assert summarised(tmp_path, {"a": 29, "b": 28}).ranking == (
        "a and b cannot be told apart: a passes 1 question that b fails, none the other way, which may be"
        " chance.",
    )


def test_models_that_pass_all_are_not_ranked(tmp_path):
    assert summarised(tmp_path, dict.fromkeys("abcdefgh", CASES)).ranking == (
        "8 models pass all; these data cannot rank them: a, b, c and 5 more.",
    )


def test_models_that_pass_as_many_are_not_ranked(tmp_path):
    assert summarised(tmp_path, dict.fromkeys("abc", 15)).ranking == (
        "3 models pass 50 % each; these data cannot rank them.",
    )


def test_models_that_meet_their_conditions_are_named_beside_the_ranking(tmp_path):
    ranking = summarised(tmp_path, {"a": 30, "b": 29, "c": 8}, leaking=("a",)).ranking
    assert ranking[-1] == "2 of 3 models meet their conditions: b (passes 97 %), c (passes 27 %)."


def test_without_a_model_that_meets_its_conditions_that_is_said(tmp_path):
    ranking = summarised(tmp_path, {"a": 30, "b": 5}, leaking=("a", "b")).ranking
    assert ranking[-1] == "No model meets its conditions."


def test_models_are_compared_on_common_questions_alone(tmp_path):
    builder = RecordBuilder(models=("a", "b"))
    builder.add("k0", "a", {"outcomes": {"quality": score(0.9)}})
    for number in range(1, 3):
        builder.add(f"k{number}", "b", {"outcomes": {"quality": score(0.9)}})
    summary = summarise(analyse(builder.write(tmp_path), {}))
    assert (summary.pairs, summary.ranking) == ((), ())
    assert [model.rank for model in summary.models] == [None, None]


def test_models_with_partly_different_questions_are_not_ranked_as_a_whole(tmp_path):
    builder = RecordBuilder(models=("a", "b", "c"))
    for number in range(20):
        for name in ("a", "b") if number < 10 else ("c",):
            value = 0.1 if name == "b" else 0.9
            builder.add(f"k{number}", name, {"outcomes": {"quality": score(value)}})
    summary = summarise(analyse(builder.write(tmp_path), {}))
    assert len(summary.pairs) == 1
    assert summary.ranking[0] == "Not ranked: these 3 models were asked different questions."


def test_perturbations_of_one_question_are_one_observation(tmp_path):
    builder = RecordBuilder(models=("a", "b"))
    for number in range(10):
        for name in ("a", "b"):
            row = {"outcomes": {"quality": score(0.9 if name == "a" else 0.1)}}
            builder.add(f"k{number}", name, {**row, **(perturbed("k0", "comma:HIGH") if number else {})})
    (pair,) = analyse(builder.write(tmp_path), {}).pairs
    assert (pair.first_alone, pair.second_alone, pair.p) == (10, 0, 1.0)


def test_a_question_without_an_answer_did_not_pass(tmp_path):
    builder = RecordBuilder(models=("a", "b"))
    error = {"status": "error", "code": "no_answer", "reason": "HTTP 503"}
    for number in range(8):
        builder.add(f"k{number}", "a", {"outcomes": {"quality": score(0.9)}})
        builder.add(f"k{number}", "b", {"error": "HTTP 503", "outcomes": {"quality": error}})
    (pair,) = analyse(builder.write(tmp_path), {}).pairs
    assert (pair.first, pair.first_alone, pair.is_proven) == ("m-a", 8, True)


def test_many_pairs_need_more_evidence(tmp_path):
    few_models = summarised(tmp_path, {"a": 30, "b": 24})
    assert few_models.pairs[0].p_adjusted == pytest.approx(2 * 0.5**6)
    (tmp_path / "many").mkdir()
    many_models = summarised(tmp_path / "many", {"a": 30, "b": 24, "c": 24, "d": 24, "e": 24})
    best_pair = next(pair for pair in many_models.pairs if {pair.first, pair.second} == {"m-a", "m-b"})
    # Holm over ten pairs, of which four are equally small.
    assert best_pair.p_adjusted == pytest.approx(10 * 2 * 0.5**6)


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
    extra = ArenaExtra(rated(separable=separable))
    summary = summarised(tmp_path, {"a": 10, "b": 30}, leaking=leaking, extras=[extra])
    assert list(summary.ranking)[: len(sentences)] == sentences


def test_passes_that_nothing_checked_rank_no_model(tmp_path):
    builder = RecordBuilder(models=("a", "b"))
    for number in range(8):
        builder.add(f"k{number}", "a", {"outcomes": {"quality": score(0.9)}}, unchecked=True)
        builder.add(f"k{number}", "b", {"outcomes": {"quality": score(0.1)}})
    summary = summarise(analyse(builder.write(tmp_path), {}))
    assert (summary.pairs, summary.ranking[:1]) == ((), ("1 of 2 models meets its conditions: a.",))
    assert (
        "8 of 8 test cases are unchecked"
        in next(model for model in summary.models if model.name == "a").limits
    )
