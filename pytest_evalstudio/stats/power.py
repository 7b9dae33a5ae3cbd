"""Power of the paired comparison of two runs, simulated from a pilot run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from pytest_evalstudio.stats.types import Floats, Integers

MAX_CASES = 3_000
"""Cases that are simulated; beyond them the normal approximation is as good."""
_SIMULATIONS = 4_000
_BLOCK = 2_000_000  # simulated cases at a time, which bounds memory
_MOMENT_CASES = 40_000
_EXACT_CHANGES = 200  # up to it, critical values of the exact test; beyond it with the continuity correction
_TOLERANCE = 1e-9
_NORMAL = NormalDist()
Noise = Literal["pilot", "none", "all"]
"""Assumed variation between repeats; see `Pilot`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """Variance of one score, split by a nested analysis of variance; None where the pilot cannot tell.

    Attributes:
        case: of original cases.
        variant: of a case's perturbations.
        repeat: of the repeats of a question; a judge's variation is a part of it.
    """

    case: float | None
    variant: float | None
    repeat: float | None


class Pilot:
    """Scores of a pilot run, from which runs are simulated.

    A yes/no score is drawn from the posterior of its probability under a beta prior that is fitted by
    moments, so that few repeats do not hide how much answers vary. Other scores have normal noise of the
    variance of their own repeats.

    Args:
        cases: for each original case its variants (itself and its perturbations), for each of these the
            scores of its repeats, as distances from the score of a case that breaks; higher is better.
        noise: "pilot" for the variation of the pilot's repeats; "none" as if answers never varied; "all" as
            if nothing but chance told the questions apart. The last two bound a pilot without repeats.

    Source: components of Searle et al., 1992 (Variance Components, chapter 3); beta-binomial
        of Kleinman, 1973 (JASA 68, 46–54).
    """

    def __init__(self, cases: Sequence[Sequence[Floats]], *, noise: Noise = "pilot") -> None:
        items = [item for case in cases for item in case]
        sizes = [len(case) for case in cases]
        self.components = components(cases)
        self.is_yes_no = all(np.isin(item, (0.0, 1.0)).all() for item in items)
        self._means = np.asarray([item.mean() for item in items])
        self._counts = np.asarray([len(item) for item in items])
        self._noise = noise
        self._variances = self._of_items(items)
        self.mean = float(self._means.mean())
        if noise == "all":
            self._means[:] = self.mean
        starts = np.cumsum([0, *sizes[:-1]])
        self._slots = np.full((len(cases), max(sizes)), -1)
        for case, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            self._slots[case, :size] = np.arange(start, start + size)
        self.variants_per_case = len(items) / len(cases)

    @property
    def varies(self) -> bool:
        """Report whether repeats of a question differ."""
        return bool((self._variances > 0).any())

    def _of_items(self, items: Sequence[Floats]) -> Floats:
        """Return the variance of one repeat of each item."""
        if self._noise == "none":
            return np.zeros(len(items))
        if self._noise == "all":
            return np.full(len(items), float(np.var(self._means)))
        repeat = self.components.repeat or 0.0
        return np.asarray([item.var(ddof=1) if len(item) > 1 else repeat for item in items])

    def differences(
        self, rng: np.random.Generator, shape: tuple[int, int], *, repeats: int, share: float, even: bool
    ) -> Floats:
        """Return simulated sums of the differences of cases, new less base.

        Args:
            shape: simulations and cases.
            repeats: of each question in both runs.
            share: of the cases that break; of its score that each case loses where `even`.
        """
        cases = rng.integers(0, len(self._slots), shape)
        broken = np.full(shape, share) if even else (rng.random(shape) < share).astype(np.float64)
        sums = np.zeros(shape)
        for slot in range(self._slots.shape[1]):
            items = self._slots[cases, slot]
            drawn = self._of_yes_no if self.is_yes_no else self._of_numbers
            sums += np.where(items >= 0, drawn(rng, items, broken, repeats), 0.0)
        return sums

    def _of_yes_no(self, rng: np.random.Generator, items: Integers, broken: Floats, repeats: int) -> Floats:
        probabilities = self._means[items]
        spread = self.mean * (1 - self.mean)
        between = spread - (self.components.repeat or 0.0)
        if self._noise == "pilot" and self.varies:
            if between <= _TOLERANCE:
                probabilities = np.full(items.shape, self.mean)
            else:
                weight = spread / between - 1
                counts = self._counts[items]
                passes = probabilities * counts
                probabilities = rng.beta(
                    self.mean * weight + passes, (1 - self.mean) * weight + counts - passes
                )
        base = rng.binomial(repeats, probabilities)
        # A case that breaks loses its passes, and gains none.
        new = rng.binomial(repeats, probabilities * (1 - broken))
        return np.asarray((new - base) / repeats, dtype=np.float64)

    def _of_numbers(self, rng: np.random.Generator, items: Integers, broken: Floats, repeats: int) -> Floats:
        loss = broken * self._means[items]
        # A broken case has one constant score in the new run, so only the base run varies.
        scales = np.sqrt(self._variances[items] * np.where(broken == 1.0, 1.0, 2.0) / repeats)
        return np.asarray(rng.standard_normal(items.shape) * scales - loss, dtype=np.float64)


def components(cases: Sequence[Sequence[Floats]]) -> VarianceComponents:
    """Return the variance components of scores that are nested in variants of cases.

    Args:
        cases: for each original case its variants, for each of these the scores of its repeats.

    Source: Searle et al., 1992 (Variance Components, chapter 3): method of moments.

    >>> components([[np.array([1.0, 1.0])], [np.array([0.0, 1.0])], [np.array([0.0, 0.0])]]).repeat
    0.16666666666666666
    """
    items = [item for case in cases for item in case]
    freedom = sum(len(item) - 1 for item in items)
    repeat = sum(float(((item - item.mean()) ** 2).sum()) for item in items) / freedom if freedom else None
    means = [np.asarray([item.mean() for item in case]) for case in cases]
    shares = [np.asarray([1 / len(item) for item in case]) for case in cases]
    freedom = sum(len(values) - 1 for values in means)
    variant = None
    if freedom:
        observed = sum(float(((values - values.mean()) ** 2).sum()) for values in means) / freedom
        noise = np.mean(np.concatenate([share for share in shares if len(share) > 1]))
        variant = max(0.0, observed - (repeat or 0.0) * float(noise))
    if len(cases) < 2:
        return VarianceComponents(case=None, variant=variant, repeat=repeat)
    observed = float(np.var([values.mean() for values in means], ddof=1))
    of_variants = (variant or 0.0) * float(np.mean([1 / len(values) for values in means]))
    of_repeats = (repeat or 0.0) * float(np.mean([share.sum() / len(share) ** 2 for share in shares]))
    return VarianceComponents(
        case=max(0.0, observed - of_variants - of_repeats), variant=variant, repeat=repeat
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """The test of a planned comparison.

    Attributes:
        drop: of the mean that is to be seen, positive.
        level: of the one-sided sign-flip test.
        power: probability to see it.
        even: whether every case loses the same share of its score; otherwise some cases break.
        seed: of the simulation.
    """

    drop: float
    level: float = 0.05
    power: float = 0.8
    even: bool = False
    seed: int = 0


def cases_for(pilot: Pilot, test: PlannedTest, repeats: int) -> int:
    """Return the number of cases with which a test has its power.

    Args:
        pilot: whose cases the planned ones are like.
        test: what is to be seen.
        repeats: of each question in both runs.

    >>> cases_for(Pilot([[np.ones(1)]] * 20), PlannedTest(drop=0.2), 1)
    33
    """
    share = test.drop / pilot.mean
    rng = np.random.default_rng(test.seed)
    sample = pilot.differences(rng, (1, _MOMENT_CASES), repeats=repeats, share=share, even=test.even)
    spread, size = float(sample.std()), math.sqrt(float((sample**2).mean()))
    level, power = _NORMAL.inv_cdf(1 - test.level), _NORMAL.inv_cdf(test.power)
    estimate = ((level * size + power * spread) / float(sample.mean())) ** 2
    if estimate > MAX_CASES:
        return math.ceil(estimate)
    curve = power_curve(pilot, test, repeats, math.ceil(1.5 * estimate) + 40)
    # After the last number that is too small: the power of an exact test rises in steps, and falls between.
    return int(np.flatnonzero(np.append(True, curve < test.power))[-1]) + 1


def power_curve(pilot: Pilot, test: PlannedTest, repeats: int, cases: int) -> Floats:
    """Return the power with 1, 2, … cases.

    The p value of the sign-flip test is exact for changes of size 1, otherwise its normal approximation,
    corrected for continuity.

    Args:
        pilot: whose cases the planned ones are like.
        test: what is to be seen.
        repeats: of each question in both runs.
        cases: largest number.

    Returns:
        Array, shape (cases,), from 0.0 to 1.0.

    >>> curve = power_curve(Pilot([[np.ones(1)]] * 20), PlannedTest(drop=0.2), 1, 40)
    >>> float(curve[3]), round(float(curve[39]), 1)
    (0.0, 0.9)
    """
    share = test.drop / pilot.mean
    rng = np.random.default_rng(test.seed)
    step = 1 / repeats if pilot.is_yes_no else 0.0
    critical = _critical_falls(test.level, min(cases, _EXACT_CHANGES))
    limit = _NORMAL.inv_cdf(test.level)
    rejections = np.zeros(cases)
    block = max(1, _BLOCK // cases)
    for start in range(0, _SIMULATIONS, block):
        shape = min(block, _SIMULATIONS - start), cases
        sums = pilot.differences(rng, shape, repeats=repeats, share=share, even=test.even)
        total = sums.cumsum(axis=1)
        squares = (sums**2).cumsum(axis=1)
        changes = (np.abs(sums) > _TOLERANCE).cumsum(axis=1)
        seen = total + step < limit * np.sqrt(squares)
        seen &= changes >= critical[0]
        # Sums and squares of whole numbers agree with the count exactly where all changes have the size 1.
        if step == 1.0:
            exact = (squares == changes) & (changes < len(critical))
            falls = (changes - total) / 2
            seen = np.where(exact, falls >= critical[np.minimum(changes, len(critical) - 1)], seen)
        rejections += seen.sum(axis=0)
    return rejections / _SIMULATIONS


def _critical_falls(level: float, changes: int) -> Floats:
    """Return for 0, 1, … changes the least number of falls at which the exact test rejects.

    The first is the least number of changes at which it rejects at all.
    """
    falls, critical = 1, [math.inf]
    for count in range(1, changes + 1):
        # `falls` never decreases with the count, so the search goes on where it stopped.
        while falls <= count and sign_flip_drop(np.repeat([-1.0, 1.0], [falls, count - falls])) > level:
            falls += 1
        critical.append(falls if falls <= count else math.inf)
    critical[0] = math.ceil(math.log2(1 / level) - _TOLERANCE)
    return np.asarray(critical)
