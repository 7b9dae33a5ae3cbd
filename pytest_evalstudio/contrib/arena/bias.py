"""Biases of judges, and their agreement with people."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from pytest_evalstudio.contrib.arena.results import Bias, HumanAgreement, OrderCheck
from pytest_evalstudio.contrib.arena.table import GameTable
from pytest_evalstudio.record.arena import Battle
from pytest_evalstudio.stats.agreement import cohen_kappa
from pytest_evalstudio.stats.paired_logit import Effect, adjusted_effect
from pytest_evalstudio.stats.sign_flip import sign_test


def position_bias(battles: Sequence[Battle]) -> Bias | None:
    """Return the advantage of the answer that is shown first; None where it cannot be told.

    It cannot be told where each pair of models has always the same sides, or with too few prompts.
    """
    return _bias(battles, lambda _: 1.0)


def length_bias(battles: Sequence[Battle]) -> Bias | None:
    """Return the advantage of an answer twice as long as the other; None where lengths are not known."""
    # An empty answer has no ratio of lengths.
    measured = [battle for battle in battles if battle.chars_a and battle.chars_b]
    return _bias(measured, lambda battle: math.log2((battle.chars_a or 1) / (battle.chars_b or 1)))


def _bias(battles: Sequence[Battle], value: Callable[[Battle], float]) -> Bias | None:
    decisive = [battle for battle in battles if battle.winner != "tie"]
    if not decisive:
        return None
    table = GameTable.of(decisive)
    effect = adjusted_effect(
        table.first,
        table.second,
        table.points,
        np.array([value(battle) for battle in decisive]),
        table.prompts,
        len(table.models),
    )
    return None if effect is None else _as_rate(effect, len(decisive))


def _as_rate(effect: Effect, games: int) -> Bias:
    rates = [1 / (1 + math.exp(-odds)) for odds in (effect.log_odds, effect.low, effect.high)]
    win_rate, low, high = (round(rate, 4) for rate in rates)
    return Bias(win_rate=win_rate, low=low, high=high, p=round(effect.p, 6), games=games)


def order_check(battles: Sequence[Battle]) -> OrderCheck | None:
    """Compare the verdicts of the same judge on the same answers in both orders."""
    by_pair: dict[tuple[str, frozenset[str], str, str], dict[str, Battle]] = defaultdict(dict)
    for battle in battles:
        by_pair[battle.prompt_key, battle.models, battle.judge, battle.rater][battle.model_a] = battle
    couples = [tuple(sides.values()) for sides in by_pair.values() if len(sides) == 2]
    if not couples:
        return None
    first_twice = sum(all(battle.winner == "model_a" for battle in couple) for couple in couples)
    second_twice = sum(all(battle.winner == "model_b" for battle in couple) for couple in couples)
    return OrderCheck(
        pairs=len(couples),
        same=sum(couple[0].preferred == couple[1].preferred for couple in couples),
        first_twice=first_twice,
        second_twice=second_twice,
        p=round(sign_test(first_twice, second_twice), 6),
    )


def human_agreement(battles: Sequence[Battle]) -> HumanAgreement | None:
    """Compare the judges' verdicts with the majority of people; ties between people are left out."""
    votes: dict[tuple[str, frozenset[str]], Counter[str]] = defaultdict(Counter)
    for battle in battles:
        if battle.rater:
            votes[battle.prompt_key, battle.models][battle.preferred] += 1
    people = {game: winner for game, counts in votes.items() if (winner := _majority(counts)) is not None}
    verdicts = [
        (_side(battle.preferred, battle), _side(people[battle.prompt_key, battle.models], battle))
        for battle in battles
        if not battle.rater and (battle.prompt_key, battle.models) in people
    ]
    if not verdicts:
        return None
    kappa = cohen_kappa([judge for judge, _ in verdicts], [person for _, person in verdicts])
    return HumanAgreement(
        games=len(verdicts),
        agreement=round(sum(judge == person for judge, person in verdicts) / len(verdicts), 4),
        kappa=None if kappa is None else round(kappa, 4),
    )


def _majority(counts: Counter[str]) -> str | None:
    (winner, most), *others = counts.most_common()
    return None if others and others[0][1] == most else winner


def _side(preferred: str, battle: Battle) -> str:
    """Return the winner by the alphabetical order of the models, so that sides do not matter."""
    if not preferred:
        return "tie"
    return "first" if preferred == min(battle.models) else "second"
