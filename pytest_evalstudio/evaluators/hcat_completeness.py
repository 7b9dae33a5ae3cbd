"""Completeness of HCAT: how much of what the retrieved context says is in the answer."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, is_empty, keywords, one_line
from pytest_evalstudio.evaluators._similarity import (
    Sentence,
    Vectors,
    Weighting,
    best_matches,
    nothing_to_compare,
    sentences,
    weighted_mean,
    weights_of,
)
from pytest_evalstudio.metrics.detectors import redact

if TYPE_CHECKING:
    from pytest_evalstudio.evaluators._similarity import Floats

_BACKENDS = ("PYTORCH", "JAX", "CUPY", "TENSORFLOW")
_MOST_STEPS = 10_000_000


@evaluator(
    "hcat_completeness",
    name="Completeness (HCAT)",
    domain="generation",
    needs=("context", "actual_output"),
    requires=("embedder", "module:ot"),
    method=("embeddings",),
    systems=("rag",),
    extra="models",
    keywords=keywords("S VR", "C O M", "evaluation-method-embeddings"),
    problem_type="accuracy",
    avid="P0200",
)
@dataclass(frozen=True)
class HcatCompleteness:
    """Mean, over the context's sentences, of the best cosine with a sentence of the answer; and how far apart
    the two are as distributions.

    The distance is the exact 1-Wasserstein distance of the sentences with the cosine distance as cost. The
    paper's average of all pairwise distances is the cost of one particular plan, an upper bound of it, and
    stands beside it.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.3.
    """

    weights: Weighting = "uniform"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "completeness",
            "Completeness",
            primary=True,
            description="Weighted mean over the context's sentences of the best cosine.",
        ),
        Metric(
            "wasserstein_distance",
            "Wasserstein distance",
            better="lower",
            range=(0.0, 2.0),
            description="Least cost of turning the context's sentences into the answer's.",
        ),
        Metric(
            "mean_transport_distance",
            "Mean pairwise distance",
            better="lower",
            range=(0.0, 2.0),
            description="Mean cosine distance over all pairs of sentences.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read: list[tuple[list[Sentence], list[list[Sentence]]]] = [
            (
                ([], [])
                if is_empty(case)
                else (
                    sentences(case.actual_output, tools),
                    [sentences(chunk, tools) for chunk in case.context],
                )
            )
            for case in cases
        ]
        texts = (
            one.text
            for answer, chunks in read
            if answer and any(chunks)
            for found in (answer, *chunks)
            for one in found
        )
        vectors = Vectors(texts, tools.embedder)
        return [
            self._score(case, answer, chunks, vectors)
            for case, (answer, chunks) in zip(cases, read, strict=True)
        ]

    def _score(
        self, case: Case, answer: Sequence[Sentence], chunks: Sequence[Sequence[Sentence]], vectors: Vectors
    ) -> Outcome:
        placed = [(place, one) for place, found in enumerate(chunks) for one in found]
        context = [one for _, one in placed]
        if (nothing := nothing_to_compare(case, answer, context, self.metrics)) is not None:
            return nothing
        weights = weights_of(context, self.weights)
        ours = merged(context, weights)
        theirs = merged(answer, weights_of(answer, self.weights))
        similarities = vectors.cosines(list(ours), list(theirs))
        best = dict(zip(ours, best_matches(similarities).tolist(), strict=True))
        coverage = [best[one.text] for one in context]
        costs = 1.0 - similarities
        return Outcome.score(
            {
                "completeness": weighted_mean(coverage, weights),
                "wasserstein_distance": wasserstein_distance(
                    costs, list(ours.values()), list(theirs.values())
                ),
                "mean_transport_distance": mean_transport_distance(
                    costs, list(ours.values()), list(theirs.values())
                ),
            },
            reason=_reason(case, placed, coverage),
            fragments=_fragments(placed, coverage),
        )


def merged(found: Sequence[Sentence], weights: Sequence[float]) -> dict[str, float]:
    """Each distinct sentence with the sum of its weights: the same distribution, smaller."""
    mass: dict[str, float] = {}
    for sentence, weight in zip(found, weights, strict=True):
        mass[sentence.text] = mass.get(sentence.text, 0.0) + weight
    return mass


def wasserstein_distance(costs: Floats, first: Sequence[float], second: Sequence[float]) -> float:
    """Exact 1-Wasserstein (earth mover's) distance of two discrete distributions.

    Args:
        costs: of moving a unit from a point of the first (row) to one of the second (column), 0.0 to 2.0.
        first, second: masses of the points, each with the sum 1.0.

    Returns:
        Cost of the cheapest plan, 0.0 to 2.0; lower is better.

    Raises:
        EvaluationError: if the solver does not finish.

    Source: Sudjianto et al., 2024, section 3.3.2; solved by POT's network simplex (Flamary et al., 2021).

    >>> import numpy as np
    >>> wasserstein_distance(np.array([[0.5, 1.0]]), [1.0], [0.5, 0.5])  # one point: there is only one plan
    0.75
    """
    import numpy as np

    if min(costs.shape) == 1:
        return mean_transport_distance(costs, first, second)
    ours, theirs = np.asarray(first) / sum(first), np.asarray(second) / sum(second)
    value, log = _solver()(ours, theirs, np.ascontiguousarray(costs), numItermax=_MOST_STEPS, log=True)
    if log.get("warning"):
        raise EvaluationError(
            f"the transport of {costs.shape[0]} to {costs.shape[1]} sentences was not solved:"
            f" {log['warning']}"
        )
    return _bounded(float(value))


def mean_transport_distance(costs: Floats, first: Sequence[float], second: Sequence[float]) -> float:
    """Mean cost over all pairs of points of two discrete distributions, weighted by their masses.

    Args:
        costs: of moving a unit from a point of the first (row) to one of the second (column), 0.0 to 2.0.
        first, second: masses of the points, each with the sum 1.0.

    Returns:
        Cost of the plan that moves every point to every point, 0.0 to 2.0, never below the Wasserstein
        distance; lower is better.

    Source: Sudjianto et al., 2024, section 3.3.2, where it approximates the Wasserstein distance.

    >>> import numpy as np
    >>> mean_transport_distance(np.array([[0.0, 1.0], [1.0, 0.0]]), [0.5, 0.5], [0.5, 0.5])
    0.5
    """
    import numpy as np

    return _bounded(float(np.asarray(first) @ costs @ np.asarray(second)))


def _bounded(value: float) -> float:
    return round(min(2.0, max(0.0, value)), 6)


@functools.lru_cache(maxsize=1)
def _solver() -> Callable[..., Any]:
    """POT's solver, imported without the deep learning libraries that POT would import along."""
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


def _fragments(placed: Sequence[tuple[int, Sentence]], coverage: Sequence[float]) -> tuple[Fragment, ...]:
    kept = sorted(sorted(range(len(placed)), key=lambda index: (coverage[index], index))[:MAX_FRAGMENTS])
    return tuple(
        Fragment(
            start=placed[index][1].start,
            end=placed[index][1].end,
            part=f"context:{placed[index][0]}",
            scores={"completeness": coverage[index]},
        )
        for index in kept
    )


def _reason(case: Case, placed: Sequence[tuple[int, Sentence]], coverage: Sequence[float]) -> str:
    least = min(range(len(placed)), key=lambda index: coverage[index])
    chunk, sentence = placed[least]
    text = one_line(redact(case.context[chunk])[sentence.start : sentence.end])
    return f"least covered sentence of the context ({coverage[least]:.4f}): {text}"
