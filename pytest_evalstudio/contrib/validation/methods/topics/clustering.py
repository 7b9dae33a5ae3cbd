"""Vectors in clusters: several configurations tried, the one of the best silhouette taken."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_evalstudio.contrib.validation.methods.progress import Progress
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.stats.silhouettes import cosine_silhouette
from pytest_evalstudio.stats.types import Floats

MAX_CLUSTERS = 20
"""Tried with k-means."""
UMAP_FROM = 200
"""Rows from which on "auto" reduces by UMAP too; it takes many neighbours to say anything, and seconds to
compile.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringSettings:
    """Parameters of reduction and clustering; see the step `topic_modeling`."""

    least: int
    reduction: str
    neighbors: int
    components: int
    min_dist: float
    min_cluster_size: int
    min_samples: int | None
    epsilon: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """A configuration and what it found.

    Attributes:
        labels: cluster of each row, 0 for the largest; every row has one.
        outliers: rows that the method itself put into no cluster, or into one that was too small; they went
            to the nearest one.
        silhouette: mean of the rows' silhouettes by cosine distance in the vectors as they were given, -1.0
            to 1.0; higher is better.
        reduced: the rows as they were clustered.
    """

    method: str
    labels: Any
    outliers: int
    silhouette: float
    reduced: Any

    @property
    def count(self) -> int:
        """Return the number of clusters."""
        return int(self.labels.max()) + 1


def clusterings(rows: Any, settings: ClusteringSettings, progress: Progress) -> Iterator[Clustering]:
    """Return all configurations that find two or more clusters of the wanted size.

    Silhouettes are all measured in `rows`, so that they compare over reductions.

    Source: Rousseeuw, 1987 (silhouette); Campello et al., 2013 (HDBSCAN); McInnes et al., 2018 (UMAP).
    """
    counts = _counts(len(rows), settings)
    reductions = len(_principal_counts(rows, settings)) + _is_by_umap(rows, settings)
    total, tried = reductions * (1 + len(counts)), 0
    for reduction, reduced in _reductions(rows, settings):
        for method, raw in _clusters(reduced, counts, settings):
            tried += 1
            progress(tried, total, "clusterings tried")
            labels, outliers = absorbed(raw, rows, settings.least)
            # The silhouette needs two clusters, and fewer clusters than rows.
            if 2 <= int(labels.max()) + 1 < len(rows):
                silhouette = round(cosine_silhouette(rows, labels), 6)
                yield Clustering(
                    method=f"{reduction}, {method}",
                    labels=labels,
                    outliers=outliers,
                    silhouette=silhouette,
                    reduced=reduced,
                )


def best(candidates: list[Clustering]) -> Clustering:
    """Return the clustering with the greatest silhouette.

    Of equal ones it is the one with the fewest clusters, then the one tried first.
    """
    return min(candidates, key=lambda clustering: (-clustering.silhouette, clustering.count))


def absorbed(labels: Any, rows: Any, least: int) -> tuple[Any, int]:
    """Move the rows of small clusters to the nearest mean by cosine, and number clusters by size.

    Args:
        least: minimum size of a cluster.
        rows: vectors.
        labels: cluster of each row, negative for none.

    Returns:
        Labels, and how many rows had to go elsewhere; all 0 where no cluster is large enough.
    """
    sizes = {int(label): int((labels == label).sum()) for label in np.unique(labels) if label >= 0}
    large = [label for label, size in sizes.items() if size >= least]
    if not large:
        return np.zeros(len(labels), dtype=np.int64), len(labels)
    means = np.stack([_unit(rows[labels == label].mean(axis=0)) for label in large])
    stray = ~np.isin(labels, large)
    new = np.array(
        [large.index(label) if label in large else -1 for label in labels.tolist()], dtype=np.int64
    )
    # Rounded, so that ties are broken the same way on every machine.
    new[stray] = np.argmax(np.round(rows[stray] @ means.T, 9), axis=1) if stray.any() else 0
    return _by_size(new), int(stray.sum())


def plane(rows: Floats, seed: int) -> Floats:
    """Reduce rows to two principal components, each from 0.0 to 1.0."""
    count = min(2, *rows.shape)
    points = np.zeros((len(rows), 2))
    if len(rows) > 1:
        points[:, :count] = _principal(rows, count, seed)
    low, high = points.min(axis=0), points.max(axis=0)
    # All points may have the same coordinate.
    spread = np.where(high - low > 1e-12, high - low, 1.0)
    scaled: Floats = np.round((points - low) / spread, 4)
    return scaled


def _principal_counts(rows: Any, settings: ClusteringSettings) -> list[int]:
    """Numbers of principal components that are tried."""
    most = min(len(rows) - 1, rows.shape[1])
    return (
        []
        if settings.reduction == "umap"
        else sorted({min(most, settings.components * factor) for factor in (1, 2, 4)})
    )


def _is_by_umap(rows: Any, settings: ClusteringSettings) -> bool:
    return settings.reduction == "umap" or (settings.reduction == "auto" and len(rows) >= UMAP_FROM)


def _counts(rows: int, settings: ClusteringSettings) -> range:
    """Numbers of clusters that are tried with k-means."""
    return range(2, min(MAX_CLUSTERS, rows // settings.least) + 1)


def _reductions(rows: Any, settings: ClusteringSettings) -> Iterator[tuple[str, Any]]:
    for components in _principal_counts(rows, settings):
        yield f"PCA to {components}", _principal(rows, components, settings.seed)
    if _is_by_umap(rows, settings):
        # The spectral start needs more rows than components + 1.
        components = min(settings.components, len(rows) - 2)
        neighbors = min(settings.neighbors, len(rows) - 1)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # it tells that Tensorflow is missing, and that a seed means one thread
            umap = import_extra("umap", "reduction by UMAP")
            reducer = umap.UMAP(
                n_neighbors=neighbors,
                n_components=components,
                min_dist=settings.min_dist,
                metric="cosine",
                random_state=settings.seed,
                n_jobs=1,
                init="pca" if len(rows) < 4 * components else "spectral",
            )
            yield f"UMAP to {components}", reducer.fit_transform(rows).astype(np.float64)


def _principal(rows: Any, components: int, seed: int) -> Any:
    pca = import_extra("sklearn.decomposition", "topic modeling").PCA(
        components, svd_solver="full", random_state=seed
    )
    with np.errstate(
        invalid="ignore"
    ):  # shares of a variance that is 0 where all rows are equal; they are not used
        return pca.fit_transform(rows)


def _clusters(reduced: Any, counts: range, settings: ClusteringSettings) -> Iterator[tuple[str, Any]]:
    cluster = import_extra("sklearn.cluster", "topic modeling")
    # HDBSCAN refuses numbers above that of the rows.
    if settings.min_cluster_size <= len(reduced) and (settings.min_samples or 1) <= len(reduced):
        scan = cluster.HDBSCAN(
            min_cluster_size=settings.min_cluster_size,
            min_samples=settings.min_samples,
            cluster_selection_epsilon=settings.epsilon,
            # It may overwrite its input, which k-means needs, too.
            copy=True,
        )
        yield f"HDBSCAN (at least {settings.min_cluster_size})", scan.fit_predict(reduced)
    for count in counts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fewer clusters than asked for, where rows are equal
            labels = cluster.KMeans(count, n_init=5, random_state=settings.seed).fit_predict(reduced)
        yield f"k-means ({count})", labels


def _by_size(labels: Any) -> Any:
    """Number the clusters by size, 0 for the largest; of equal ones the one that begins first."""
    ordered_labels = sorted(
        set(labels.tolist()),
        key=lambda label: (-int((labels == label).sum()), int(np.argmax(labels == label))),
    )
    return np.array([ordered_labels.index(label) for label in labels.tolist()], dtype=np.int64)


def _unit(vector: Any) -> Any:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
