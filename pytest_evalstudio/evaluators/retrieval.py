"""Relevance and recall of retrieved chunks, by embeddings or by labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.text import is_blank
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, keywords, listed
from pytest_evalstudio.evaluators._embedding_family import RAG, embedding_evaluator
from pytest_evalstudio.evaluators._similarity import TextEmbeddings, best_columns
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.ranking import (
    chunk_matches,
    document_matches,
    missing_documents,
    ranking_figures,
    reciprocal_rank,
    soft_relevancy,
)
from pytest_evalstudio.text.claims import Claim, claims_of
from pytest_evalstudio.text.figures import figure


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
                "context_mean_reciprocal_rank: mrr_relevant_chunk_oor_idx ="
                f" {self.mrr_relevant_chunk_oor_idx}: must be 1 or more"
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
    expectations: ClassVar[tuple[str, ...]] = ("expected_documents",)
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
        if not _named(case.expected_documents):
            return "no expected documents"
        if any(name.strip() for name in case.context_sources):
            return ""
        return "the host does not report the sources of its chunks" if case.context else "no context"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        expected = _named(case.expected_documents)
        missing = missing_documents(expected, case.context_sources)
        recall = 1 - len(missing) / len(expected)
        return Outcome.score(
            {"document_recall": recall},
            reason=f"not retrieved: {listed([one_line(name) for name in missing])}" if missing else "",
        )


@evaluator(
    "labelled_retrieval",
    name="Labelled retrieval",
    domain="retrieval",
    needs=("context",),
    method=("rules",),
    systems=("rag",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based"),
    problem_type="retrieval",
    avid="P0100",
)
@dataclass(frozen=True)
class LabelledRetrieval:
    """Ranking of the retrieved chunks against the expected chunks or documents; no model is needed.

    `expected_chunks` are texts, `expected_documents` names as of `document_recall`; chunks decide where a
    case has both. A document has the rank of its first chunk among the distinct documents.

    Attributes:
        k: number of the first chunks (or documents) that count; 0 for all that are retrieved. A ranking
            shorter than k is divided by k, as ranx and trec_eval do.

    Source: Manning et al., 2008 (Introduction to Information Retrieval), section 8.4; Järvelin and
        Kekäläinen, 2002 (Cumulated gain-based evaluation of IR techniques).
    """

    applies_to_refusals: ClassVar[bool] = True
    expectations: ClassVar[tuple[str, ...]] = ("expected_documents", "expected_chunks")
    k: int = 0
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "recall",
            "Recall",
            primary=True,
            description="Expected chunks among the first k / expected chunks.",
        ),
        Metric("precision", "Precision", threshold=0.1, description="Expected chunks among the first k / k."),
        Metric("hit_rate", "Hit rate", threshold=0.75, description="1 if any of the first k is expected."),
        Metric(
            "reciprocal_rank",
            "Reciprocal rank",
            threshold=0.5,
            description="1 / rank of the first expected chunk; its mean is the MRR.",
        ),
        Metric("ndcg", "nDCG", threshold=0.5, description="Discounted gain / that of a perfect ranking."),
    )
    needs: ClassVar[tuple[str, ...]] = ()
    """The sources of the chunks suffice for expected documents."""

    def __post_init__(self) -> None:
        if self.k < 0:
            raise ConfigurationError(f"labelled_retrieval: k is at least 0, not {self.k}")

    def not_applicable(self, case: Case) -> str:
        if _named(case.expected_chunks):
            return "" if case.is_rag or case.context else "no context"
        if not _named(case.expected_documents):
            return "no expected chunks or documents"
        # A model that retrieves, and did not, misses every expected document.
        if any(name.strip() for name in case.context_sources) or (case.is_rag and not case.context):
            return ""
        return "the host does not report the sources of its chunks" if case.context else "no context"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        expected = _named(case.expected_chunks)
        if expected:
            counts, missing = chunk_matches(expected, case.context)
        else:
            expected = _named(case.expected_documents)
            counts, missing = document_matches(expected, case.context_sources)
        figures = ranking_figures(counts, len(expected), self.k)
        first = next((rank for rank, count in enumerate(counts, 1) if count), None)
        facts = [f"not retrieved: {listed([one_line(name) for name in missing])}"] if missing else []
        if first is not None and first > 1:
            facts.append(f"the first expected one has rank {first} of {len(counts)}")
        return Outcome.score(asdict(figures), reason="; ".join(facts))


def _named(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in names if not is_blank(name)))


@dataclass(frozen=True, slots=True)
class RatedChunk:
    """Retrieved chunk with its relevancy.

    Attributes:
        relevancy: best cosine of its sentences with the question, 0.0 to 1.0.
        best: that sentence; None for a chunk without words.
    """

    relevancy: float
    best: Claim | None


def chunk_relevancies(cases: Sequence[Case], tools: Tools) -> list[list[RatedChunk]]:
    """Return all chunks of each case in the order of retrieval; all texts are embedded at once."""
    chunks_of_cases = [[claims_of(chunk) for chunk in case.context] for case in cases]
    texts = {sentence.text for chunks in chunks_of_cases for chunk in chunks for sentence in chunk}
    vectors = TextEmbeddings(texts | {case.question for case in cases}, tools.embedder)
    return [
        [_chunk(case.question, chunk, vectors) for chunk in chunks]
        for case, chunks in zip(cases, chunks_of_cases, strict=True)
    ]


def _chunk(question: str, chunk: Sequence[Claim], vectors: TextEmbeddings) -> RatedChunk:
    if not chunk:
        return RatedChunk(0.0, None)
    relevancies = best_columns(vectors, [sentence.text for sentence in chunk], [question]).tolist()
    return RatedChunk(max(relevancies), chunk[relevancies.index(max(relevancies))])
