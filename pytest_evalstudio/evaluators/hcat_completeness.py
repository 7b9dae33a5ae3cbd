"""Completeness of HCAT: coverage of the retrieved context by the answer.

Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing and Validation of Generative Language
    Models).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS
from pytest_evalstudio.evaluators._embedding_family import RAG, embedding_evaluator
from pytest_evalstudio.evaluators._similarity import (
    TextEmbeddings,
    check_weighting,
    nothing_to_compare,
    weights_of,
)
from pytest_evalstudio.metrics.detectors import redact
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.similarity import (
    Weighting,
    best_matches,
    mean_transport_distance,
    wasserstein_distance,
    weighted_mean,
)
from pytest_evalstudio.text.claims import Claim, claims_of
from pytest_evalstudio.text.figures import figure


@embedding_evaluator(
    "hcat_completeness",
    "Completeness (HCAT)",
    ("context", "actual_output"),
    requires=("embedder", "module:ot"),
    systems=RAG,
)
@dataclass(frozen=True)
class HcatCompleteness:
    """Best cosine of each context sentence with the answer, and the distance of the two texts.

    The first metric is the mean, over the context's sentences, of the best cosine with a sentence of the
    answer. The distance is the exact 1-Wasserstein distance of the two sets of sentences, with the cosine
    distance as cost; the paper's average of all pairwise distances is an upper bound.

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
            description="Minimum cost of moving the context's sentences to the answer's.",
        ),
        Metric(
            "mean_transport_distance",
            "Mean pairwise distance",
            better="lower",
            range=(0.0, 2.0),
            description="Mean cosine distance over all pairs of sentences.",
        ),
    )

    def __post_init__(self) -> None:
        check_weighting(self.weights)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read: list[tuple[list[Claim], list[list[Claim]]]] = [
            (claims_of(case.actual_output), [claims_of(chunk) for chunk in case.context]) for case in cases
        ]
        texts = (
            sentence.text
            for answer, chunks in read
            if answer and any(chunks)
            for group in (answer, *chunks)
            for sentence in group
        )
        vectors = TextEmbeddings(texts, tools.embedder)
        return [
            self._score(case, answer, chunks, vectors)
            for case, (answer, chunks) in zip(cases, read, strict=True)
        ]

    def _score(
        self,
        case: Case,
        answer: Sequence[Claim],
        chunks: Sequence[Sequence[Claim]],
        vectors: TextEmbeddings,
    ) -> Outcome:
        indexed = [(index, sentence) for index, chunk in enumerate(chunks) for sentence in chunk]
        context = [sentence for _, sentence in indexed]
        if (nothing := nothing_to_compare(answer, context, self.metrics)) is not None:
            return nothing
        weights = weights_of(context, self.weights)
        # Distinct sentences only: the time of the exact distance grows with the cube of their number.
        context_masses = _masses(context, weights)
        answer_masses = _masses(answer, weights_of(answer, self.weights))
        similarities = vectors.cosines(list(context_masses), list(answer_masses))
        best = dict(zip(context_masses, best_matches(similarities).tolist(), strict=True))
        coverage = [best[sentence.text] for sentence in context]
        costs = 1.0 - similarities
        masses = list(context_masses.values()), list(answer_masses.values())
        return Outcome.score(
            {
                "completeness": weighted_mean(coverage, weights),
                "wasserstein_distance": wasserstein_distance(costs, *masses),
                "mean_transport_distance": mean_transport_distance(costs, *masses),
            },
            reason=_least_covered(case, indexed, coverage),
            fragments=_context_fragments(indexed, coverage),
        )


def _masses(texts: Sequence[Claim], weights: Sequence[float]) -> dict[str, float]:
    """Return each distinct sentence with the sum of its weights: an equal distribution with fewer points."""
    mass: dict[str, float] = {}
    for sentence, weight in zip(texts, weights, strict=True):
        mass[sentence.text] = mass.get(sentence.text, 0.0) + weight
    return mass


def _context_fragments(
    indexed: Sequence[tuple[int, Claim]], coverage: Sequence[float]
) -> tuple[Fragment, ...]:
    top = sorted(sorted(range(len(indexed)), key=lambda index: (coverage[index], index))[:MAX_FRAGMENTS])
    return tuple(
        Fragment(
            start=indexed[index][1].start,
            end=indexed[index][1].end,
            part=f"context:{indexed[index][0]}",
            scores={"completeness": coverage[index]},
        )
        for index in top
    )


def _least_covered(case: Case, indexed: Sequence[tuple[int, Claim]], coverage: Sequence[float]) -> str:
    least = min(range(len(indexed)), key=lambda index: coverage[index])
    chunk, sentence = indexed[least]
    text = one_line(redact(case.context[chunk])[sentence.start : sentence.end])
    return f"least covered sentence of the context ({figure(coverage[least])}): {text}"
