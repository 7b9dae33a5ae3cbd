"""Clustering of failed cases by random-forest proximity, and a test for any clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_evalstudio.contrib.validation.methods.failures.proximity import PURPOSE, proximities
from pytest_evalstudio.contrib.validation.methods.progress import Progress
from pytest_evalstudio.contrib.validation.methods.topics.clustering import absorbed
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.stats.silhouettes import cosine_silhouette, unit_rows
from pytest_evalstudio.stats.types import Floats, Integers

LEAST = 3
"""Cases of the smallest cluster."""
MAX_CLUSTERS = 8
"""Tried where no number is wanted: more are hard to tell apart, on a map as well as by people."""
COMPONENTS = (5, 10, 20, 40)
"""Principal components that are tried."""
TREES = 200
MAX_CASES = 2_000
"""Failed, and passed ones, that go into a forest; its matrix is quadratic."""
TEST_CASES = 400
"""Cases that the test compares."""
TEST_COMPONENTS = 10
REFERENCES = 99
"""Random subsets: where all are less clear, p is 1 / 100."""
NEIGHBOURS = 3
"""Nearest cases of a failed one, of which failed ones are counted; the smallest cluster has as many cases."""
LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Clusters of failed cases.

    Attributes:
        labels: cluster of each failed case, in their order; 0 for the largest.
        silhouette: mean silhouette by cosine distance in the vectors as they were given; None for one
            cluster.
        components: principal components that the forest was grown on.
        typical: of each cluster, the failed cases that are nearest to the cluster's others, nearest first.
    """

    labels: Any
    silhouette: float | None
    components: int
    typical: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """Return the number of clusters."""
        return int(self.labels.max()) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Test of clusters of failed cases against those of random subsets.

    Attributes:
        silhouette: of their best clusters, found in `cases` of them.
        references: the same of random subsets of all cases, in order.
        neighbours: share of failed cases among the nearest neighbours of failed cases.
        expected_neighbours: mean of the same of the random subsets.
        p_value: share of the subsets, the failed cases included, whose better one of both figures is as
            extreme among all.
    """

    silhouette: float
    references: tuple[float, ...]
    neighbours: float
    expected_neighbours: float
    p_value: float
    cases: int

    @property
    def is_clustered(self) -> bool:
        """Report whether there are several clusters beyond chance.

        Failures of a single cause lie close together, too, but their clusters are less clear than those of
        random subsets, which hold several topics.
        """
        # Not in the lowest tenth of the references.
        return self.p_value <= LEVEL and self.silhouette >= self.references[len(self.references) // 10]


def group(rows: Any, failed: Any, *, clusters: int | None, seed: int) -> Grouping:
    """Cluster the failed ones of some cases.

    Vectors are reduced to principal components, a forest says how alike failed cases are, and average linkage
    joins those that are alike. Of all components and numbers of clusters that were tried, those with the
    greatest silhouette are taken. It is measured in the vectors as they were given, not by the forest's own
    distances, which differ from forest to forest. UMAP is no reduction here: it makes islands where there are
    none (Chari and Pachter, 2023), which would then pass for causes.

    Args:
        seed: of everything random.
        rows: a vector per case.
        failed: whether the case is one to cluster; the others passed.
        clusters: how many; None for the number of the greatest silhouette.

    Returns:
        One cluster of all if there are none of the wanted size, or the failed cases are all the same.

    Source: Breiman and Cutler, 2003; Sokal and Michener, 1958 (average linkage); Rousseeuw, 1987.
    """
    mine, others = np.flatnonzero(failed), np.flatnonzero(~failed)
    in_forest, outside = _sample(len(mine), MAX_CASES, seed), others[_sample(len(others), MAX_CASES, seed)]
    best: tuple[float, Any, int, Any] | None = None
    for components, alike in _likenesses(rows[mine[in_forest]], rows[outside], TREES, seed):
        for labels, silhouette in _cuts(alike, rows[mine[in_forest]], clusters):
            # Rounding must not prefer a later configuration to an equal one.
            if best is None or silhouette > best[0] + 1e-9:
                best = silhouette, labels, components, alike
    if best is None:
        return Grouping(
            labels=np.zeros(len(mine), dtype=np.int64),
            silhouette=None,
            components=0,
            typical=(tuple(range(min(LEAST, len(mine)))),),
        )
    _, forest_labels, components, alike = best
    labels = np.full(len(mine), -1, dtype=np.int64)
    labels[in_forest] = forest_labels
    # Cases that were not in the forest join the nearest cluster; 1, since all clusters stay.
    labels, _ = absorbed(labels, unit_rows(rows[mine]), 1)
    typical = tuple(
        _typical(alike, in_forest, np.flatnonzero(labels[in_forest] == label))
        for label in range(int(labels.max()) + 1)
    )
    return Grouping(
        labels=labels,
        silhouette=cosine_silhouette(rows[mine], labels),
        components=components,
        typical=typical,
    )


def structure(rows: Any, failed: Any, *, seed: int, progress: Progress) -> Structure | None:
    """Compare the clusters of failed cases with those of random subsets of all cases, found in the same way.

    Under the null hypothesis the failed cases are any cases, so that random subsets of the same size have
    clusters as clear as theirs, and failed neighbours as often. The silhouette finds causes that are unlike
    the documents' topics, the neighbours find topics that fail. Clusters are made by average linkage on
    principal components, without the forest. Large sets are compared by a random part of them.

    Returns:
        None where the failed cases are too few, or too much the same, for two clusters, or no case passed.

    Source: Good, 2005 (Permutation, Parametric and Bootstrap Tests, chapter 3); Rousseeuw, 1987; Cuzick and
        Edwards, 1990 (cases among the neighbours of cases); Westfall and Young, 1993 (the smaller of two p).
    """
    sampled = _sample(len(rows), TEST_CASES, seed)
    rows, failed = np.asarray(rows, dtype=np.float64)[sampled], np.asarray(failed, dtype=bool)[sampled]
    if failed.all() or failed.sum() < 2 * LEAST or np.allclose(rows[failed], rows[failed][0]):
        return None
    reduced = _principal(rows, TEST_COMPONENTS)
    observed = _clearest(reduced[failed], rows[failed])
    if observed is None:
        return None
    alike = unit_rows(reduced) @ unit_rows(reduced).T
    # A case is no neighbour of itself.
    np.fill_diagonal(alike, -np.inf)
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, :NEIGHBOURS]
    rng = np.random.default_rng(seed)
    figures = [(observed, float(failed[nearest[failed]].mean()))]
    for number in range(REFERENCES):
        progress(number, REFERENCES, "random subsets of the cases compared")
        subset = rng.permutation(failed)
        silhouette = _clearest(reduced[subset], rows[subset])
        # Without two clusters: the least possible silhouette.
        figures.append((-1.0 if silhouette is None else silhouette, float(subset[nearest[subset]].mean())))
    table = np.array(figures)
    return Structure(
        silhouette=round(observed, 6),
        references=tuple(round(value, 6) for value in sorted(table[1:, 0].tolist())),
        neighbours=round(figures[0][1], 6),
        expected_neighbours=round(float(table[1:, 1].mean()), 6),
        p_value=_p_of_better(table),
        cases=int(failed.sum()),
    )


def _p_of_better(table: Floats) -> float:
    """Return p of the first row by the more extreme one of its figures, among the same of all rows.

    >>> _p_of_better(np.array([[3.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 0.5]]))
    0.5
    """
    # The more extreme figure of each row, by its rank among all rows.
    ranks = np.array([(table >= row).mean(axis=0).min() for row in table])
    return float((ranks <= ranks[0] + 1e-12).mean())


def held_out_labels(
    rows: Any, failed: Any, grouping: Grouping, *, clusters: int | None, seed: int
) -> Integers:
    """Return the clusters of one half of the failed cases, found from the other half alone.

    Clusters of the one half are named like those of `grouping` with which they share most cases; the cases of
    the other half join the nearest.

    Returns:
        A cluster for each failed case of the second half, -1 for those of the first.
    """
    mine = np.flatnonzero(failed)
    labels = np.full(len(mine), -1, dtype=np.int64)
    first = np.sort(np.random.default_rng(seed).permutation(len(mine))[: (len(mine) + 1) // 2])
    second = np.setdiff1d(np.arange(len(mine)), first)
    if len(first) < 2 * LEAST or grouping.count < 2:
        return labels
    making = np.array(failed, dtype=bool)
    making[mine[second]] = False
    mask = np.ones(len(making), dtype=bool)
    mask[mine[second]] = False
    grouping_of_rest = group(rows[mask], making[mask], clusters=clusters or grouping.count, seed=seed)
    names = [
        int(np.bincount(grouping.labels[first[grouping_of_rest.labels == at]]).argmax())
        for at in range(grouping_of_rest.count)
    ]
    unit = unit_rows(rows[mine])
    centres = np.stack(
        [unit[first[grouping_of_rest.labels == at]].mean(axis=0) for at in range(grouping_of_rest.count)]
    )
    nearest = (unit[second] @ unit_rows(centres).T).argmax(axis=1)
    labels[second] = np.array(names)[nearest]
    return labels


def _principal(rows: Any, count: int) -> Any:
    u, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return u[:, :count] * sizes[:count]


def _clearest(reduced: Any, members: Any) -> float | None:
    """Return the greatest silhouette of the clusters of some cases; None without two clusters."""
    alike = unit_rows(reduced) @ unit_rows(reduced).T
    # Cosines become 0.0 to 1.0, as proximities are.
    silhouettes = [silhouette for _, silhouette in _cuts((1.0 + alike) / 2.0, members, None)]
    return max(silhouettes, default=None)


def _likenesses(members: Any, outside: Any, trees: int, seed: int) -> Iterator[tuple[int, Any]]:
    """Components, and the forest's proximities of the failed cases in them."""
    everything = np.concatenate([members, outside])
    most = min(len(everything) - 1, everything.shape[1])
    pca = import_extra("sklearn.decomposition", PURPOSE).PCA(min(most, max(COMPONENTS)), svd_solver="full")
    if len(members) < 2 * LEAST or np.allclose(members, members[0]):
        return
    reduced = pca.fit_transform(everything)
    for components in sorted({min(most, count) for count in COMPONENTS}):
        part = reduced[:, :components]
        yield components, proximities(part[: len(members)], part[len(members) :], trees=trees, seed=seed)


def _cuts(alike: Any, members: Any, clusters: int | None) -> Iterator[tuple[Any, float]]:
    """Yield the dendrogram cut at several heights; small clusters join the nearest one."""
    hierarchy, distance = (
        import_extra("scipy.cluster.hierarchy", PURPOSE),
        import_extra("scipy.spatial.distance", PURPOSE),
    )
    apart = np.clip(1.0 - alike, 0.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    # Unchecked: rounding may leave the matrix slightly asymmetric.
    tree = hierarchy.linkage(distance.squareform(apart, checks=False), "average")
    unit = unit_rows(members)
    cuts = set()
    # More cuts than wanted clusters: small ones are absorbed, which leaves fewer.
    for cut in range(2, min(len(members), 3 * (clusters or MAX_CLUSTERS)) + 1):
        labels, _ = absorbed(hierarchy.fcluster(tree, cut, "maxclust") - 1, unit, LEAST)
        count = int(labels.max()) + 1
        is_wanted = 2 <= count <= MAX_CLUSTERS if clusters is None else count == clusters and count > 1
        if is_wanted and labels.tobytes() not in cuts:
            cuts.add(labels.tobytes())
            yield labels, round(cosine_silhouette(members, labels), 9)


def _typical(alike: Any, in_forest: Any, members: Any) -> tuple[int, ...]:
    closeness = alike[np.ix_(members, members)].mean(axis=1)
    # Rounded, so that the order does not depend on the machine.
    order = sorted(range(len(members)), key=lambda at: (-round(float(closeness[at]), 6), at))
    return tuple(int(in_forest[members[at]]) for at in order[:LEAST])


def _sample(count: int, most: int, seed: int) -> Any:
    """Places of at most so many, in order."""
    return (
        np.arange(count)
        if count <= most
        else np.sort(np.random.default_rng(seed).choice(count, most, replace=False))
    )
