"""Stratified random sample of a report's answers, whose labels correct the pass rate of the whole run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pytest_evalstudio.contrib.calibration.labelling.cases import AnswerPopulation
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn
from pytest_evalstudio.contrib.calibration.labelling.state import labelling_of
from pytest_evalstudio.contrib.calibration.review.store import LabelStore
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.labels import Identity, read_inclusion
from pytest_evalstudio.stats.strata import allocate
from pytest_evalstudio.stats.types import Booleans, Floats, Integers

MIN_BUDGET = 12
_MIN_OF_STRATUM = 3
_MIN_DIVIDED = 20
"""Answers with the same verdict, from which on these are divided at their median score."""


def answer_strata(scores: Floats, passes: Booleans) -> Integers:
    """Return the stratum of each answer: its verdict, and its half of the scores with that verdict.

    Args:
        scores: shape (n,), finite.
        passes: shape (n,).
    """
    if min(passes.sum(), (~passes).sum()) < _MIN_OF_STRATUM:
        passes = np.ones(len(scores), dtype=bool)
    strata = passes * 2
    for verdict in (False, True):
        members = passes == verdict
        upper = members & (scores > np.median(scores[members])) if members.any() else members
        if members.sum() >= _MIN_DIVIDED and upper.sum() >= _MIN_OF_STRATUM:
            strata = strata + upper
    numbers: Integers = np.unique(strata, return_inverse=True)[1]
    return numbers


def sample_sizes(budget: int, strata: Integers, good: Floats) -> Integers:
    """Divide a budget over strata in proportion to their size times the standard deviation of a label.

    Args:
        budget: number of labels.
        strata: shape (n,), numbers from 0, each used.
        good: by stratum, expected share of good answers.

    Returns:
        Number of labels per stratum, at least three or all.

    Source: Neyman, 1934 (optimum allocation).
    """
    sizes = np.bincount(strata)
    floors = np.minimum(sizes, _MIN_OF_STRATUM)
    weights = sizes * np.sqrt(good * (1 - good))
    names = [str(stratum) for stratum in range(len(sizes))]
    rest = allocate(
        max(0, budget - int(floors.sum())),
        dict(zip(names, weights.tolist(), strict=True)),
        dict(zip(names, (sizes - floors).tolist(), strict=True)),
    )
    counts: Integers = floors + np.array([rest[name] for name in names])
    return counts


def population_strata(population: AnswerPopulation) -> Integers:
    """Return the stratum of each answer of a report."""
    scores = np.array([case.place for case in population.cases])
    passes = np.array([case.verdict is not False for case in population.cases])
    return answer_strata(scores, passes)


def sample_of(population: AnswerPopulation, labels: Path, budget: int) -> list[Drawn]:
    """Return the sample in a file of labels, in random order; a new one is drawn and written there.

    Earlier labels in the file set only the sizes of the strata's samples, so that no answer is drawn because
    of its own label.

    Raises:
        ConfigurationError: if the budget is too small, or that of another sample.
    """
    if budget < MIN_BUDGET:
        raise ConfigurationError(f"--budget {budget}: a sample needs at least {MIN_BUDGET} answers")
    if not population.cases:
        return []
    store = LabelStore(labels)
    inclusion = read_inclusion(labels)
    if not inclusion:
        inclusion = _draw(population, store, budget)
        store.add_sample(inclusion)
    elif len(inclusion) != min(budget, len(population.cases)):
        raise ConfigurationError(
            f"--budget {budget}: {labels} already holds a sample of {len(inclusion)} answers; give that"
            " number, or another file by --labels"
        )
    check_sample(population, population_strata(population), inclusion, labels)
    indices = population.indices
    drawn = sorted((indices[identity] for identity in inclusion), key=lambda at: _order(population, at))
    return [Drawn(at=at, round=1, part="conformal", reason="random") for at in drawn]


def check_sample(
    population: AnswerPopulation, strata: Integers, inclusion: Mapping[Identity, float], labels: Path
) -> None:
    """Check that a sample was drawn from the strata of these answers.

    Raises:
        DataError: if an inclusion probability is another one than that of the answer's stratum.
    """
    indices = population.indices
    drawn = [indices[identity] for identity in inclusion if identity in indices]
    counts = np.bincount(strata[drawn], minlength=int(strata.max()) + 1)
    shares = counts / np.bincount(strata)
    recorded = np.array([inclusion[population.cases[at].identity] for at in drawn])
    # The file has six decimals.
    if len(drawn) < len(inclusion) or not np.allclose(recorded, shares[strata[drawn]], atol=1e-5):
        raise DataError(
            f"{labels}: the sample was not drawn from these answers by this metric; give the same report and"
            " --metric, or another file by --labels"
        )


def _draw(population: AnswerPopulation, store: LabelStore, budget: int) -> dict[Identity, float]:
    strata = population_strata(population)
    sizes = sample_sizes(budget, strata, _expected_shares(population, strata, store))
    inclusion = {}
    for stratum, size in enumerate(sizes.tolist()):
        members = np.flatnonzero(strata == stratum).tolist()
        for at in sorted(members, key=lambda at: _order(population, at))[:size]:
            inclusion[population.cases[at].identity] = size / len(members)
    return inclusion


def _expected_shares(population: AnswerPopulation, strata: Integers, store: LabelStore) -> Floats:
    """Return the share of good answers of each stratum: by calibration, else by earlier labels."""
    sizes = np.bincount(strata)
    column = population.columns[0]
    if column.is_calibrated and len(population.columns) == 1:
        totals = np.bincount(strata, weights=[case.scores[column.key] for case in population.cases])
        # A share of 0 or 1 has no variance: the stratum would get the least number of labels only.
        shares: Floats = np.clip(totals / sizes, 0.05, 0.95)
        return shares
    indices = population.indices
    every = [Drawn(at=at, round=1, part="conformal", reason="random") for at in indices.values()]
    labels = labelling_of(population, store.ratings(), every).labels
    # One good and one bad answer more (Laplace), so that no share is 0 or 1.
    good, counts = np.ones(len(sizes)), np.full(len(sizes), 2.0)
    for identity, label in labels.items():
        good[strata[indices[identity]]] += label
        counts[strata[indices[identity]]] += 1
    smoothed: Floats = good / counts
    return smoothed


def _order(population: AnswerPopulation, at: int) -> bytes:
    identity = "\0".join(("sample", *population.cases[at].identity))
    return hashlib.sha256(identity.encode("utf-8", "backslashreplace")).digest()
