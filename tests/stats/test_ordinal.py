"""Prediction sets of ordered levels: coverage of each level, and sets without gaps."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_evalstudio.stats.conformal import conformal_quantile
from pytest_evalstudio.stats.ordinal import ordinal_nonconformity


def test_levels_are_taken_from_the_likeliest_outwards() -> None:
    assert ordinal_nonconformity([0.3, 0.4, 0.2, 0.1]) == pytest.approx([0.7, 0.4, 0.9, 1.0])
    assert ordinal_nonconformity([0.5, 0.1, 0.4]) == pytest.approx([0.5, 0.6, 1.0])
    assert ordinal_nonconformity([1.0]) == [1.0]


def random_sample(rng: np.random.Generator, count: int) -> tuple[list[list[float]], np.ndarray]:
    """Probabilities of four levels, and levels drawn by them; the highest is rare."""
    shares = rng.dirichlet([1.0, 1.5, 1.0, 0.4], count)
    return shares.tolist(), np.array([rng.choice(4, p=share) for share in shares])


def test_sets_cover_each_level_and_have_no_gaps_with_one_quantile() -> None:
    rng = np.random.default_rng(5)
    covered: dict[int, list[float]] = {level: [] for level in range(4)}
    for _ in range(40):
        shares, levels = random_sample(rng, 300)
        distances = np.array([ordinal_nonconformity(share) for share in shares])
        label_distances = distances[np.arange(300), levels]
        limits = np.array([conformal_quantile(label_distances[levels == level], 0.2) for level in range(4)])
        new_shares, new_levels = random_sample(rng, 300)
        new = np.array([ordinal_nonconformity(share) for share in new_shares])
        for level in range(4):
            rows = new_levels == level
            covered[level].append(float((new[rows, level] <= limits[level]).mean()))
        sets = new <= conformal_quantile(label_distances, 0.2)
        assert (np.diff(sets.astype(int), axis=1) == 1).sum(axis=1).max() <= 1
    means = {level: float(np.mean(shares)) for level, shares in covered.items()}
    assert min(means.values()) >= 0.79
    assert means[1] == pytest.approx(0.8, abs=0.02)


def test_the_last_level_may_be_the_likeliest() -> None:
    assert ordinal_nonconformity([0.1, 0.2, 0.7]) == pytest.approx([1.0, 0.9, 0.7])
    assert ordinal_nonconformity([0.7, 0.2, 0.1]) == pytest.approx([0.7, 0.9, 1.0])
