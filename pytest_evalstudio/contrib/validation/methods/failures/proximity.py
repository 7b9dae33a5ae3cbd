"""Random-forest proximities of cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_evalstudio.core.extras import import_extra

PURPOSE = "failure clustering"


def proximities(cases: Any, others: Any, *, trees: int, seed: int) -> Any:
    """Return, for each pair of cases, the share of trees in which both reach the same leaf.

    The forest divides the cases from the others and from shuffled ones, whose coordinates are the cases' own,
    each drawn for itself. The others tell what sets the cases apart; the shuffled ones have nothing that
    hangs together, so that trees must find what does in the cases. Without the latter a forest that finds all
    cases in one place has nothing to say of how they differ; without the former it finds less. All trees
    count: the few that have seen neither of two cases (out of bag) tell less of planted causes.

    Args:
        seed: of everything random.
        trees: number of trees.
        cases: coordinates, one row per case.
        others: coordinates of the other cases; may be empty.

    Returns:
        A matrix, 0.0 (never) to 1.0 (always), with 1.0 on its diagonal.

    Source: Breiman and Cutler, 2003 (Random Forests manual: proximities, unsupervised learning).
    """
    rng = np.random.default_rng(seed)
    shuffled = np.stack([rng.permutation(column) for column in cases.T], axis=1)
    rows = np.concatenate([cases, others, shuffled])
    mask = np.arange(len(rows)) < len(cases)
    ensemble = import_extra("sklearn.ensemble", PURPOSE)
    forest = ensemble.RandomForestClassifier(trees, class_weight="balanced", n_jobs=1, random_state=seed).fit(
        rows, mask
    )
    return _shared_leaves(forest.apply(cases))


def _shared_leaves(leaves: Any) -> Any:
    """Return the share of columns in which two rows are equal."""
    sparse = import_extra("scipy.sparse", PURPOSE)
    count, trees = leaves.shape
    # Each tree has columns of its own: its leaves are numbered from 0.
    starts = np.concatenate([[0], np.cumsum(leaves.max(axis=0) + 1)[:-1]])
    at = (np.repeat(np.arange(count), trees), (leaves + starts).ravel())
    membership = sparse.csr_matrix((np.ones(count * trees, dtype=np.float32), at))
    return (membership @ membership.T).toarray() / trees
