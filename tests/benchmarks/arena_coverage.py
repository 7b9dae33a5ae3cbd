"""Coverage of the ratings of an arena with few prompts, by simulation.

usage: python tests/benchmarks/arena_coverage.py [--simulations 400]

Each pair of models plays once on each prompt; the strengths of the models vary from prompt to prompt by a
normal deviate or not at all. Prints how often the 95 % interval of Bradley-Terry holds a model's strength
(target at least 94 %), how often that of a win rate holds it, and, for equal models, how often a pair is
called separable (target at most 5 %). Models that are so unequal that one of them hardly ever loses are
printed apart: games cannot tell how much stronger it is.
"""

from __future__ import annotations

import argparse
import math
import random
import sys

import numpy as np

from pytest_evalstudio.contrib.arena.rating import RatingOptions, rate
from pytest_evalstudio.record.arena import Battle
from pytest_evalstudio.stats.bradley_terry import bradley_terry
from pytest_evalstudio.stats.types import Floats

PROMPTS = (5, 10, 20, 40)
COVERAGE = 0.94
FALSE = 0.05
SCALE = 400 / math.log(10)
OPTIONS = RatingOptions(rounds=300)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=400)
    count = parser.parse_args().simulations
    success = True
    for spread in (0.0, 1.0):
        for strengths in ((1.0, 0.0, -1.0), (0.5, -0.5), (0.0, 0.0, 0.0)):
            success &= all(coverage(strengths, spread, prompts, count) for prompts in PROMPTS)
        print("  nearly always the same winner, without a target:")
        for prompts in PROMPTS:
            coverage((2.5, 0.0, -2.5), spread, prompts, count)
    sys.exit(not success)


def coverage(strengths: tuple[float, ...], spread: float, prompts: int, count: int) -> bool:
    """Print the coverage of some simulated arenas; return whether the targets are met."""
    rng = np.random.default_rng(20_270_106)
    rates = win_rates(strengths, spread)
    truth = bradley_terry(1_000 * rates * (1 - np.eye(len(strengths))), prior=0.0)
    hits, held_rates, separable = [], [], []
    for _ in range(count):
        ratings = rate(games(rng, strengths, spread, prompts), OPTIONS)
        for model in ratings.models:
            rating = 1000 + SCALE * truth[int(model.model)]
            hits.append(model.bradley_terry_low <= rating <= model.bradley_terry_high)
        for pair in ratings.pairs:
            assert pair.low is not None
            assert pair.high is not None
            held_rates.append(pair.low <= rates[int(pair.model_a), int(pair.model_b)] <= pair.high)
        separable.append(any(pair.is_separable for pair in ratings.pairs))
    share, wrong = float(np.mean(hits)), float(np.mean(separable))
    are_equal = len(set(strengths)) == 1
    note = f", a pair separable in {wrong:.1%}" if are_equal else ""
    print(
        f"strengths {strengths}, spread {spread:g}, {prompts:2} prompts: strength {share:.1%}, win rate"
        f" {np.mean(held_rates):.1%}{note}"
    )
    noise = 2 * math.sqrt(COVERAGE * (1 - COVERAGE) / count)
    return share >= COVERAGE - noise and (not are_equal or wrong <= FALSE + noise)


def win_rates(strengths: tuple[float, ...], spread: float) -> Floats:
    """Return the probability that the row wins against the column, over prompts."""
    draws = np.array(strengths) + np.random.default_rng(1).normal(0, spread, (100_000, len(strengths)))
    return np.asarray((1 / (1 + np.exp(draws[:, None, :] - draws[:, :, None]))).mean(axis=0))


def games(
    rng: np.random.Generator, strengths: tuple[float, ...], spread: float, prompts: int
) -> list[Battle]:
    sides = random.Random(int(rng.integers(2**31)))
    battles = []
    for prompt in range(prompts):
        draws = np.array(strengths) + rng.normal(0, spread, len(strengths))
        for first in range(len(strengths)):
            for second in range(first + 1, len(strengths)):
                a, b = sides.sample((first, second), 2)
                wins = rng.random() < 1 / (1 + math.exp(draws[b] - draws[a]))
                battles.append(
                    Battle(
                        prompt_key=f"p{prompt}",
                        model_a=str(a),
                        model_b=str(b),
                        winner="model_a" if wins else "model_b",
                    )
                )
    return battles


if __name__ == "__main__":
    main()
