"""Relevance and recall of retrieved chunks, by embeddings or by the names of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.figures import figure
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._chunks import chunk_relevancies
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, keywords, listed
from pytest_evalstudio.evaluators._embedding_family import RAG, embedding_evaluator
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.ranking import missing_documents, reciprocal_rank, soft_relevancy


@embedding_evaluator(
    "context_mean_reciprocal_rank",
    "Context mean reciprocal rank",
    ("question", "context"),
    difference=(
        "Rank of the first chunk whose cosine with the question is high enough; search libraries "
        "use labelled relevance."
    ),
    domain="retrieval",
    systems=RAG,
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextMeanReciprocalRank:
    """Reciprocal rank of the first retrieved chunk with a sentence relevant to the question, or 0.

    A chunk is relevant if its best cosine reaches `mrr_relevant_chunk_threshold`; chunks beyond rank
    `mrr_relevant_chunk_oor_idx` do not count. Chunks without words are never relevant and keep their rank.

    Source: Voorhees, 1999 (TREC-8 question answering).
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
        best = max(range(len(relevancies)), key=lambda index: relevancies[index])
        shown = f"best of {len(relevancies)} chunks: chunk {best + 1} ({figure(relevancies[best])})"
        reason = (
            shown
            if value
            else f"no relevant chunk among the first {self.mrr_relevant_chunk_oor_idx}; {shown}"
        )
        return Outcome.score({"mean_reciprocal_rank": value}, reason="" if value == 1 else reason)


@embedding_evaluator(
    "context_relevancy_soft",
    "Context relevancy (s.r. & p.)",
    ("question", "context"),
    domain="retrieval",
    systems=RAG,
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextRelevancySoft:
    """Mean (precision) and maximum (recall) relevancy of the retrieved chunks.

    The relevancy of a chunk is the best cosine of its sentences with the question; a chunk without words
    counts 0.

    Source: H2O Eval Studio, context relevancy (soft recall and precision).
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
            description="Maximum over the chunks of their best cosine with the question.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        outcomes = []
        for chunks in chunk_relevancies(cases, tools):
            precision, recall = soft_relevancy([chunk.relevancy for chunk in chunks])
            lowest = min(range(len(chunks)), key=lambda index: chunks[index].relevancy)
            fragments = tuple(
                Fragment(
                    start=chunk.best.start,
                    end=chunk.best.end,
                    part=f"context:{index}",
                    scores={"precision_relevancy": chunk.relevancy},
                )
                for index, chunk in enumerate(chunks[:MAX_FRAGMENTS])
                if chunk.best is not None
            )
            relevancy = figure(chunks[lowest].relevancy)
            reason = f"least relevant of {len(chunks)} chunks: chunk {lowest + 1} ({relevancy})"
            outcomes.append(
                Outcome.score(
                    {"precision_relevancy": precision, "recall_relevancy": recall},
                    reason=reason,
                    fragments=fragments,
                )
            )
        return outcomes


@evaluator(
    "document_recall",
    name="Document recall",
    domain="retrieval",
    needs=("context",),
    method=("rules",),
    systems=("rag",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based"),
    problem_type="retrieval",
    avid="P0100",
)
@dataclass(frozen=True)
class DocumentRecall:
    """Share of the expected documents among the documents of the retrieved chunks; no judge is needed.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    applies_to_refusals: ClassVar[bool] = True
    reads_expectations: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "document_recall",
            "Document recall",
            primary=True,
            description="Expected documents with retrieved chunks / expected documents.",
        ),
    )
    needs: ClassVar[tuple[str, ...]] = ()
    """The sources of the chunks suffice; their texts are not read."""

    def not_applicable(self, case: Case) -> str:
        if not any(name.strip() for name in case.expected_documents):
            return "no expected documents"
        if any(name.strip() for name in case.context_sources):
            return ""
        return "the host does not report the sources of its chunks" if case.context else "no context"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        reason = self.not_applicable(case)
        if reason:
            return Outcome.not_applicable(reason)
        expected = dict.fromkeys(name.strip() for name in case.expected_documents if name.strip())
        missing = missing_documents(list(expected), case.context_sources)
        recall = 1 - len(missing) / len(expected)
        return Outcome.score(
            {"document_recall": recall},
            reason=f"not retrieved: {listed([one_line(name) for name in missing])}" if missing else "",
        )
