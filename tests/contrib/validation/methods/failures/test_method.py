"""Clusters of failures: planted causes are found, and where there are none that is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, silhouette_score

from pytest_evalstudio.contrib.validation.methods.failures import method
from pytest_evalstudio.contrib.validation.methods.failures.method import (
    LEVEL,
    group,
    held_out_labels,
    structure,
)
from pytest_evalstudio.contrib.validation.methods.failures.proximity import _shared_leaves, proximities
from support.failing import planted_texts, vectors_of

pytestmark = pytest.mark.slow


def planted(seed: int, **more: int) -> tuple[Any, Any, Any]:
    texts, causes = planted_texts(seed, **{"failures": 45, "passes": 60, **more})
    return vectors_of(texts), np.array(causes) >= 0, np.array(causes)


def silent(count: int, total: int, what: str) -> None: ...


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_planted_causes_are_found(seed: int) -> None:
    rows, failed, causes = planted(seed)
    result = group(rows, failed, clusters=None, seed=seed)
    assert adjusted_rand_score(causes[failed], result.labels) >= 0.9
    assert result.silhouette == pytest.approx(silhouette_score(rows[failed], result.labels, metric="cosine"))
    for cluster, typical in enumerate(result.typical):
        assert {int(result.labels[at]) for at in typical} == {cluster}


def test_they_are_found_where_nothing_passed() -> None:
    """A forest without passed cases has less to go by: more failures are needed."""
    rows, failed, causes = planted(1, failures=90, passes=0)
    assert failed.all()
    assert adjusted_rand_score(causes, group(rows, failed, clusters=None, seed=0).labels) >= 0.8


def test_more_failures_than_a_forest_takes_all_get_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "MAX_CASES", 30)
    rows, failed, causes = planted(2)
    result = group(rows, failed, clusters=3, seed=0)
    assert adjusted_rand_score(causes[failed], result.labels) >= 0.8
    assert all(len(typical) == 3 for typical in result.typical)


def test_as_many_clusters_as_are_wanted() -> None:
    rows, failed, _ = planted(3)
    result = group(rows, failed, clusters=5, seed=0)
    assert result.count == 5
    assert np.bincount(result.labels).min() >= 3


def test_the_same_again() -> None:
    rows, failed, _ = planted(4)
    first, other = (group(rows, failed, clusters=None, seed=7) for _ in range(2))
    assert first.labels.tolist() == other.labels.tolist()
    assert first.typical == other.typical


@pytest.mark.slow
@pytest.mark.parametrize(("failures", "passes"), [(60, 140), (170, 30)])
def test_planted_causes_are_clearer_than_random_subsets(failures: int, passes: int) -> None:
    rows, failed, _ = planted(0, failures=failures, passes=passes)
    result = structure(rows, failed, seed=0, progress=silent)
    assert result is not None
    assert result.p_value <= LEVEL
    assert result.silhouette > max(result.references)


@pytest.mark.slow
@pytest.mark.parametrize(("failures", "passes"), [(60, 60), (100, 18)])
def test_random_failures_have_no_clusters_of_their_own(
    failures: int, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts have three topics, and which cases fail has nothing to do with them."""
    monkeypatch.setattr(method, "REFERENCES", 19)
    clear = 0
    for seed in range(10):
        rows, failed, _ = planted(seed, failures=failures, passes=passes)
        shuffled = np.random.default_rng(seed + 1000).permutation(failed)
        result = structure(rows, shuffled, seed=seed, progress=silent)
        clear += result is not None and result.p_value <= LEVEL
    assert clear <= 2


def test_without_passed_cases_there_is_nothing_to_compare_with() -> None:
    rows, failed, _ = planted(1, failures=40, passes=0)
    assert structure(rows, failed, seed=0, progress=silent) is None


@pytest.mark.slow
def test_the_held_out_half_is_assigned_by_clusters_of_the_other_half() -> None:
    rows, failed, causes = planted(2, failures=90, passes=60)
    result = group(rows, failed, clusters=3, seed=0)
    labels = held_out_labels(rows, failed, result, clusters=3, seed=0)
    assert (labels < 0).sum() == 45
    second = labels >= 0
    assert adjusted_rand_score(causes[failed][second], labels[second]) >= 0.8
    assert (labels[second] == result.labels[second]).mean() >= 0.9


def test_failures_that_are_all_the_same_have_no_clusters() -> None:
    rows = np.concatenate([np.tile([1.0, 0.0, 0.0], (12, 1)), np.eye(3)[[1, 2, 1, 2]]])
    failed = np.arange(16) < 12
    assert structure(rows, failed, seed=0, progress=silent) is None
    result = group(rows, failed, clusters=None, seed=0)
    assert (result.count, result.silhouette) == (1, None)


def test_proximities_by_hand() -> None:
    leaves = np.array([[1, 4, 2], [1, 4, 3], [2, 4, 3]])
    assert _shared_leaves(leaves) == pytest.approx(
        np.array([[1, 2 / 3, 1 / 3], [2 / 3, 1, 2 / 3], [1 / 3, 2 / 3, 1]])
    )


def test_cases_of_one_place_are_nearer_than_those_of_two() -> None:
    rng = np.random.default_rng(0)
    cases = np.concatenate([rng.normal(0, 0.1, (20, 3)), rng.normal(2, 0.1, (20, 3))])
    alike = proximities(cases, rng.normal(1, 2, (40, 3)), trees=50, seed=0)
    assert alike[:20, :20].mean() > 3 * alike[:20, 20:].mean()
    assert np.diag(alike) == pytest.approx(1.0)
    assert alike == pytest.approx(alike.T)


def test_topics_that_fail_are_found_by_the_neighbours_of_failures() -> None:
    """Two of four topics fail: their clusters are no clearer than those of any cases."""
    rng = np.random.default_rng(5)
    topics = np.repeat(np.arange(4), 20)
    rows = np.eye(4)[topics] + rng.normal(scale=0.3, size=(80, 4))
    failed = topics < 2
    result = structure(rows, failed, seed=0, progress=silent)
    assert result is not None
    assert result.neighbours > 0.9
    assert result.expected_neighbours == pytest.approx(0.5, abs=0.05)
    assert result.is_clustered
    shuffled = structure(rows, rng.permutation(failed), seed=0, progress=silent)
    assert shuffled is not None
    assert not shuffled.is_clustered
