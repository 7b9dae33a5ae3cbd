"""Similarity of embeddings: cosines, alignment of sentences, transport distances, drift."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pytest_evalstudio.core.errors import EvaluationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Weighting = Literal["uniform", "length"] | tuple[float, ...]
"""Weight of each sentence of a text: equal, proportional to its number of characters, or given.

Given weights are those of the first, second and further sentences; the last one holds for all others.
"""

_DIGITS = 6
"""Decimals of a cosine: results of models for batches of other sizes differ from the seventh decimal on."""
_BACKENDS = ("PYTORCH", "JAX", "CUPY", "TENSORFLOW")
_MAX_STEPS = 10_000_000  # a hundred times POT's default; an unfinished plan is an error


def cosines(first: Floats, second: Floats) -> Floats:
    """Return the cosine of each row of a matrix with each row of another.

    Args:
        first: rows of length 1.
        second: rows of length 1, with as many columns.

    Returns:
        Matrix with a row per row of `first` and a column per row of `second`; -1.0 to 1.0, rounded to six
        decimals; higher is more similar.

    >>> import numpy as np
    >>> cosines(np.array([[1.0, 0.0]]), np.array([[0.6, 0.8], [-1.0, 0.0]])).tolist()
    [[0.6, -1.0]]
    """
    import numpy as np

    return np.asarray(np.clip(np.round(first @ second.T, _DIGITS), -1.0, 1.0) + 0.0, dtype=np.float64)


def best_matches(similarities: Floats, *, keep_negative: bool = False) -> Floats:
    """Return the highest cosine of each row; negative cosines count 0.

    Args:
        similarities: cosines with at least one column.
        keep_negative: return negative cosines as they are.

    Returns:
        Number per row from 0.0, or -1.0, to 1.0; higher is better.

    Source: Sudjianto et al., 2024 (HCAT), S_max; Zhang et al., 2020 (BERTScore), greedy matching.

    >>> import numpy as np
    >>> best_matches(np.array([[0.2, 0.9], [-0.5, -0.1]])).tolist()
    [0.9, 0.0]
    """
    import numpy as np

    lowest = -1.0 if keep_negative else 0.0
    return np.asarray(np.clip(similarities.max(axis=1), lowest, 1.0) + 0.0, dtype=np.float64)


def sentence_weights(lengths: Sequence[int], weighting: Weighting) -> list[float]:
    """Return the weight of each sentence of a text.

    Args:
        lengths: number of characters of each sentence.
        weighting: equal weights, weights proportional to the length, or given positive weights.

    Returns:
        Positive numbers with the sum 1.0.

    Source: Sudjianto et al., 2024 (HCAT), section 3.

    >>> sentence_weights([2, 6], "length")
    [0.25, 0.75]
    >>> sentence_weights([2, 6, 5], (2.0, 1.0))
    [0.5, 0.25, 0.25]
    """
    if isinstance(weighting, tuple):
        parts = [weighting[min(index, len(weighting) - 1)] for index in range(len(lengths))]
    else:
        parts = [1.0 if weighting == "uniform" else float(length) for length in lengths]
    return [part / sum(parts) for part in parts]


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted mean of sentence scores.

    Args:
        values: score of each sentence.
        weights: weight of each sentence, not negative, with the sum 1.0.

    Returns:
        A number between the minimum and the maximum of the values.

    Raises:
        ValueError: if the numbers of weights and values differ, or the weights do not sum to 1.0.

    Source: Sudjianto et al., 2024 (HCAT), section 3: sum of w_i S_max(i).

    >>> weighted_mean([0.2, 0.6], [0.75, 0.25])
    0.3
    """
    if abs(math.fsum(weights) - 1.0) > 1e-9:
        raise ValueError(f"weights sum to {math.fsum(weights)}, not to 1")
    return round(math.fsum(value * weight for value, weight in zip(values, weights, strict=True)), 9)


def mean_and_min(similarities: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the minimum of the similarities of an answer's sentences.

    Args:
        similarities: best cosine of each sentence from 0.0 to 1.0; at least one.

    Returns:
        Two fractions from 0.0 to 1.0; higher is better.

    Raises:
        ZeroDivisionError: if there are no sentences.

    Source: H2O Eval Studio, answer semantic sentence similarity.

    >>> mean_and_min([0.5, 1.0])
    (0.75, 0.5)
    """
    return round(sum(similarities) / len(similarities), 9), min(similarities)


def wasserstein_distance(costs: Floats, first: Sequence[float], second: Sequence[float]) -> float:
    """Return the exact 1-Wasserstein (earth mover's) distance of two discrete distributions.

    Args:
        costs: cost of moving a unit from a point of the first (row) to a point of the second (column), 0.0 to
            2.0.
        first: masses of the points of the first distribution, with the sum 1.0.
        second: masses of the points of the second distribution, with the sum 1.0.

    Returns:
        Cost of the cheapest plan, 0.0 to 2.0; lower is better.

    Raises:
        EvaluationError: if the solver does not finish.

    Source: Sudjianto et al., 2024 (HCAT), section 3.3.2; solved by POT's network simplex (Flamary et al.,
        2021).

    >>> import numpy as np
    >>> wasserstein_distance(np.array([[0.5, 1.0]]), [1.0], [0.5, 0.5])  # the only plan for a single point
    0.75
    """
    import numpy as np

    if min(costs.shape) == 1:
        return mean_transport_distance(costs, first, second)
    source, target = np.asarray(first) / sum(first), np.asarray(second) / sum(second)
    value, log = _solver()(source, target, np.ascontiguousarray(costs), numItermax=_MAX_STEPS, log=True)
    if log.get("warning"):
        raise EvaluationError(
            f"the transport of {costs.shape[0]} to {costs.shape[1]} sentences was not solved:"
            f" {log['warning']}"
        )
    return _bounded(float(value))


def mean_transport_distance(costs: Floats, first: Sequence[float], second: Sequence[float]) -> float:
    """Return the mean cost over all pairs of points of two distributions, weighted by their masses.

    Args:
        costs: cost of moving a unit from a point of the first (row) to a point of the second (column), 0.0 to
            2.0.
        first: masses of the points of the first distribution, with the sum 1.0.
        second: masses of the points of the second distribution, with the sum 1.0.

    Returns:
        Cost of the plan that moves every point to every point, 0.0 to 2.0, never below the Wasserstein
        distance; lower is better.

    Source: Sudjianto et al., 2024 (HCAT), section 3.3.2, where it approximates the Wasserstein distance.

    >>> import numpy as np
    >>> mean_transport_distance(np.array([[0.0, 1.0], [1.0, 0.0]]), [0.5, 0.5], [0.5, 0.5])
    0.5
    """
    import numpy as np

    return _bounded(float(np.asarray(first) @ costs @ np.asarray(second)))


def drift(earlier: Floats, later: Floats) -> float:
    """Return the cosine distance of the mean vectors of two groups.

    Args:
        earlier: rows of length 1; at least one.
        later: rows of length 1; at least one.

    Returns:
        0.0 (same direction) to 2.0 (opposite direction), 1.0 if a mean vector is zero; lower is better.

    Source: H2O Eval Studio, questions drift.

    >>> import numpy as np
    >>> drift(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    1.0
    """
    import numpy as np

    first, second = earlier.mean(axis=0), later.mean(axis=0)
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return round(1.0 - float(np.clip(first @ second / lengths, -1.0, 1.0)), 6) if lengths else 1.0


def _bounded(value: float) -> float:
    return round(min(2.0, max(0.0, value)), 6)  # sums of floats miss both ends by an error of rounding


@functools.lru_cache(maxsize=1)
def _solver() -> Callable[..., Any]:
    """Return POT's solver, imported without the deep learning libraries that POT imports by default."""
    names = [f"POT_BACKEND_DISABLE_{backend}" for backend in _BACKENDS]
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        import ot
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    solver: Callable[..., Any] = ot.emd2
    return solver
