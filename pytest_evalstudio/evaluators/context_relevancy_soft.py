"""Context relevancy, soft: how near the retrieved chunks are to the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.evaluators._chunks import chunk_relevancies
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, keywords


@evaluator(
    "context_relevancy_soft",
    name="Context relevancy (s.r. & p.)",
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
class ContextRelevancySoft:
    """Relevancy of the retrieved chunks, each by its sentence nearest to the question: mean (precision) and
    greatest (recall).

    A chunk without words counts 0.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "precision_relevancy",
            "Precision relevancy",
            primary=True,
            description="Mean over the chunks of their best cosine with the question.",
        ),
        Metric(
            "recall_relevancy",
            "Recall relevancy",
            description="Greatest over the chunks of their best cosine with the question.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        outcomes = []
        for chunks in chunk_relevancies(cases, tools):
            precision, recall = soft_relevancy([chunk.relevancy for chunk in chunks])
            least = min(range(len(chunks)), key=lambda place: chunks[place].relevancy)
            fragments = tuple(
                Fragment(
                    start=chunk.best.start,
                    end=chunk.best.end,
                    part=f"context:{place}",
                    scores={"precision_relevancy": chunk.relevancy},
                )
                for place, chunk in enumerate(chunks[:MAX_FRAGMENTS])
                if chunk.best is not None
            )
            reason = (
                f"least relevant of {len(chunks)} chunks: chunk {least + 1} ({chunks[least].relevancy:.4f})"
            )
            outcomes.append(
                Outcome.score(
                    {"precision_relevancy": precision, "recall_relevancy": recall},
                    reason=reason,
                    fragments=fragments,
                )
            )
        return outcomes


def soft_relevancy(relevancies: Sequence[float]) -> tuple[float, float]:
    """Precision and recall of a retrieval, without a cut between relevant and not.

    Args:
        relevancies: per chunk the best cosine of its sentences with the question, negative ones as 0; at
            least one.

    Returns:
        (mean, greatest), 0.0 to 1.0; higher is better.

    Raises:
        ZeroDivisionError: if there is no chunk.

    Source: H2O Eval Studio, context relevancy (soft recall and precision).

    >>> soft_relevancy([0.25, 0.75])
    (0.5, 0.75)
    """
    return round(sum(relevancies) / len(relevancies), 9), max(relevancies)
