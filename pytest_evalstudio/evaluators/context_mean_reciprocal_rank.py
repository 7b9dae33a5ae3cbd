"""Context mean reciprocal rank: how far up the first relevant chunk is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._chunks import chunk_relevancies
from pytest_evalstudio.evaluators._common import keywords


@evaluator(
    "context_mean_reciprocal_rank",
    name="Context mean reciprocal rank",
    domain="retrieval",
    needs=("question", "context"),
    requires=("embedder",),
    method=("embeddings",),
    systems=("rag",),
    extra="models",
    keywords=keywords("S VR", "C O M", "evaluation-method-embeddings"),
    problem_type="retrieval",
    avid="P0200",
)
@dataclass(frozen=True)
class ContextMeanReciprocalRank:
    """Reciprocal rank of the first retrieved chunk with a sentence near enough to the question; 0 if none of
    the first ones is.

    A chunk is relevant if the cosine reaches `mrr_relevant_chunk_threshold`; beyond rank
    `mrr_relevant_chunk_oor_idx` none counts. Chunks without words are never relevant and keep their rank.
    """

    mrr_relevant_chunk_threshold: float = 0.7
    mrr_relevant_chunk_oor_idx: int = 10
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "mean_reciprocal_rank",
            "Mean reciprocal rank",
            primary=True,
            description="1 / rank of the first relevant chunk.",
        ),
    )

    def __post_init__(self) -> None:
        if not 0 < self.mrr_relevant_chunk_threshold <= 1:
            fact = f"is more than 0 and at most 1, not {self.mrr_relevant_chunk_threshold}"
            raise ConfigurationError(f"context_mean_reciprocal_rank: mrr_relevant_chunk_threshold {fact}")
        if self.mrr_relevant_chunk_oor_idx < 1:
            raise ConfigurationError(
                "context_mean_reciprocal_rank: mrr_relevant_chunk_oor_idx is at least 1, not"
                f" {self.mrr_relevant_chunk_oor_idx}"
            )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [
            self._outcome([chunk.relevancy for chunk in chunks]) for chunks in chunk_relevancies(cases, tools)
        ]

    def _outcome(self, relevancies: Sequence[float]) -> Outcome:
        value = reciprocal_rank(
            relevancies, threshold=self.mrr_relevant_chunk_threshold, last=self.mrr_relevant_chunk_oor_idx
        )
        best = max(range(len(relevancies)), key=lambda place: relevancies[place])
        shown = f"best of {len(relevancies)} chunks: chunk {best + 1} ({relevancies[best]:.4f})"
        reason = (
            shown
            if value
            else f"no relevant chunk among the first {self.mrr_relevant_chunk_oor_idx}; {shown}"
        )
        return Outcome.score({"mean_reciprocal_rank": value}, reason="" if value == 1 else reason)


def reciprocal_rank(relevancies: Sequence[float], *, threshold: float = 0.7, last: int = 10) -> float:
    """One by the rank of the first relevant chunk.

    Args:
        relevancies: per chunk, in the order of retrieval, the best cosine of its sentences with the question.
        threshold: least relevancy of a relevant chunk.
        last: greatest rank that counts.

    Returns:
        A fraction: 1.0 for the first place, 0.0 for no relevant chunk up to `last`; higher is better.

    Source: Voorhees, 1999 (TREC-8 question answering).

    >>> reciprocal_rank([0.2, 0.7, 0.9])
    0.5
    """
    ranks = (rank for rank, relevancy in enumerate(relevancies[:last], start=1) if relevancy >= threshold)
    first = next(ranks, None)
    return 1 / first if first else 0.0
