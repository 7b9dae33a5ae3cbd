"""Coverage and width of pass rates that labels correct, by simulation.

usage: python tests/benchmarks/prediction_powered.py [--simulations 2000]

Runs of questions and models have answers with known labels and an evaluator with known accuracy; a few
answers are labelled: at random, or the sample of `evalstudio review --budget`. The 95 % interval of the
corrected rate must contain the true rate in at least 94 % of the simulations of each setting, less two
standard errors of the simulation, and must on average be no wider than that of as many random labels alone by
the same formula. An evaluator that guesses and a perfect one are among the settings. Differences of two
models are measured in the runs with several models, for random labels.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from pytest_evalstudio.contrib.calibration.review.sample import answer_strata, sample_sizes
from pytest_evalstudio.stats.prediction_powered import PredictionPowered
from pytest_evalstudio.stats.types import Floats, Integers, Interval

TARGET = 0.94
WIDTH_TOLERANCE = 1.02
"""Ratio of mean widths: a budget for an evaluator that guesses costs about 1 %, by unequal weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A population of answers, an evaluator and a number of labels.

    Attributes:
        good: share of good answers of the models on average; each is 0.05 better than the one before.
        accuracy: probability of a right verdict.
        correlation: of answers to one question.
    """

    questions: int
    models: int
    good: float
    accuracy: float
    labels: int
    correlation: float = 0.0

    @property
    def rates(self) -> Floats:
        """Return the share of good answers of each model."""
        return self.good + 0.05 * (np.arange(self.models) - (self.models - 1) / 2)


@dataclass(slots=True)
class Coverage:
    """Counts of one kind of interval."""

    count: int = 0
    covered: int = 0
    total_width: float = 0.0

    def add(self, interval: Interval, truth: float) -> None:
        self.count += 1
        self.covered += interval[0] - 1e-9 <= truth <= interval[1] + 1e-9
        self.total_width += interval[1] - interval[0]

    @property
    def share(self) -> float:
        return self.covered / max(1, self.count)

    @property
    def width(self) -> float:
        return self.total_width / max(1, self.count)


@dataclass(slots=True)
class Figures:
    """Coverage by design: labels alone, random labels, sample of a budget, differences of two models."""

    classical: Coverage = field(default_factory=Coverage)
    random: Coverage = field(default_factory=Coverage)
    budget: Coverage = field(default_factory=Coverage)
    difference: Coverage = field(default_factory=Coverage)
    difference_alone: Coverage = field(default_factory=Coverage)


def answers(rng: np.random.Generator, setting: Setting) -> tuple[Floats, Floats, Integers, Integers]:
    """Draw truths, scores, questions and models of all answers of a run.

    Whether an answer is good depends on a normal variable of its question and one of its own; scores of 0.5
    and more pass, and are uniform for either verdict.
    """
    from statistics import NormalDist

    shape = setting.questions, setting.models
    share = math.sqrt(setting.correlation)
    common, single = rng.normal(size=(setting.questions, 1)), rng.normal(size=shape)
    cuts = [NormalDist().inv_cdf(min(1 - 1e-9, rate)) for rate in setting.rates.tolist()]
    good = share * common + math.sqrt(1 - setting.correlation) * single < np.array(cuts)
    passes = np.where(rng.random(shape) < setting.accuracy, good, ~good)
    scores = passes * 0.5 + rng.random(shape) * 0.5
    questions, models = np.indices(shape)
    return good.astype(np.float64).ravel(), scores.ravel(), questions.ravel(), models.ravel()


def labelled(rng: np.random.Generator, truths: Floats, strata: Integers, sizes: Integers) -> Floats:
    """Return the labels of a stratified random sample, NaN for other answers."""
    labels = np.full(len(truths), np.nan)
    for stratum, size in enumerate(sizes.tolist()):
        rows = rng.permutation(np.flatnonzero(strata == stratum))[:size]
        labels[rows] = truths[rows]
    return labels


def simulate(setting: Setting, simulations: int, seed: int) -> Figures:
    """Simulate one setting."""
    rng = np.random.default_rng(seed)
    figures = Figures()
    truth = float(setting.rates.mean())
    for _ in range(simulations):
        truths, scores, questions, models = answers(rng, setting)
        every = np.ones(len(truths), dtype=bool)
        predictions = (scores >= 0.5).astype(np.float64)
        stratum_numbers = np.zeros(len(truths), dtype=np.int64)
        labels = labelled(rng, truths, stratum_numbers, np.array([setting.labels]))
        classical = PredictionPowered(np.zeros(len(truths)), labels, stratum_numbers, questions)
        classical_rate = classical.rate(every)
        powered = PredictionPowered(predictions, labels, stratum_numbers, questions)
        estimate = powered.rate(every)
        assert classical_rate is not None
        assert estimate is not None
        figures.classical.add(classical_rate.interval, truth)
        figures.random.add(estimate.interval, truth)
        if setting.models > 1:
            first, second = models == 0, models == 1
            difference = float(setting.rates[0] - setting.rates[1])
            for source, target in ((powered, figures.difference), (classical, figures.difference_alone)):
                if (pair := source.difference(first, second)) is not None:
                    target.add(pair.interval, difference)
        strata = answer_strata(scores, predictions > 0)
        sizes = sample_sizes(setting.labels, strata, np.full(strata.max() + 1, 0.5))
        estimate = PredictionPowered(
            predictions, labelled(rng, truths, strata, sizes), strata, questions
        ).rate(every)
        assert estimate is not None
        figures.budget.add(estimate.interval, truth)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=2_000)
    simulations = parser.parse_args().simulations
    success = True
    shares: dict[str, list[float]] = defaultdict(list)
    ratios: dict[str, list[float]] = defaultdict(list)
    runs = ((400, 1, 0.0), (100, 3, 0.4))
    for seed, ((questions, models, correlation), good, accuracy, labels) in enumerate(
        itertools.product(runs, (0.5, 0.8, 0.93), (0.5, 0.8, 0.9, 0.97, 1.0), (40, 100))
    ):
        setting = Setting(
            questions=questions,
            models=models,
            good=good,
            accuracy=accuracy,
            labels=labels,
            correlation=correlation,
        )
        figures = simulate(setting, simulations, seed)
        columns = []
        for name, kind, classical in (
            ("random", figures.random, figures.classical),
            ("budget", figures.budget, figures.classical),
            ("difference", figures.difference, figures.difference_alone),
        ):
            if not kind.count:
                continue
            error = math.sqrt(TARGET * (1 - TARGET) / kind.count)
            shares[name].append(kind.share)
            ratios[name].append(kind.width / classical.width)
            success &= kind.share >= TARGET - 2 * error
            success &= ratios[name][-1] <= WIDTH_TOLERANCE
            columns.append(f"{name} {kind.share:.3f} width {kind.width:.3f} ({ratios[name][-1]:.2f})")
        print(
            f"{questions} x {models}, good {good:.2f}, accuracy {accuracy:.2f}, {labels} labels: alone"
            f" {figures.classical.share:.3f} width {figures.classical.width:.3f}; {'; '.join(columns)}",
            flush=True,
        )
    for name, values in shares.items():
        success &= float(np.mean(values)) >= TARGET
        print(
            f"{name}: coverage {np.mean(values):.3f}, lowest {min(values):.3f} (target {TARGET}); width of"
            f" labels alone times {np.mean(ratios[name]):.2f}, {min(ratios[name]):.2f} to"
            f" {max(ratios[name]):.2f}"
        )
    sys.exit(not success)


if __name__ == "__main__":
    main()
