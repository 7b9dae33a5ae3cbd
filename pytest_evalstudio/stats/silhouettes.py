"""Separation of clusters."""

from __future__ import annotations

import numpy as np

from pytest_evalstudio.stats.types import Floats, Integers


def cosine_silhouette(rows: Floats, labels: Integers) -> float:
    """Return the mean silhouette of rows by cosine distance, exactly, in time linear in the rows.

    The mean distance of a row to a cluster is 1 less its product with the mean of the cluster's unit vectors,
    so that no pairwise distances are computed. Own code: scikit-learn's `silhouette_score` is quadratic in
    the rows.

    Args:
        rows: shape (n, d).
        labels: shape (n,), cluster of each row from 0; at least two clusters.

    Returns:
        −1.0 to 1.0; higher is better. A row alone in its cluster counts 0.

    Source: Rousseeuw, 1987 (Journal of Computational and Applied Mathematics 20, 53–65).

    >>> cosine_silhouette(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([0, 0, 1, 1]))
    1.0
    """
    unit = unit_rows(rows)
    sizes = np.bincount(labels)
    members = np.zeros((len(sizes), len(unit)))
    members[labels, np.arange(len(unit))] = 1.0
    sums = sizes - unit @ (members @ unit).T
    index = np.arange(len(unit))
    within_sums = sums[index, labels] - (1.0 - np.einsum("ij,ij->i", unit, unit))
    within = within_sums / np.maximum(sizes[labels] - 1, 1)
    means = sums / np.maximum(sizes, 1)
    means[index, labels] = np.inf
    means[:, sizes == 0] = np.inf
    nearest = means.min(axis=1)
    larger = np.maximum(np.maximum(within, nearest), 1e-12)
    return float(np.where(sizes[labels] > 1, (nearest - within) / larger, 0.0).mean())


def unit_rows(rows: Floats) -> Floats:
    """Scale rows to length 1; rows of zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))
