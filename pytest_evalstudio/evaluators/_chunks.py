"""Relevancy of each retrieved chunk to the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._similarity import Sentence, TextEmbeddings, best_columns, sentences


@dataclass(frozen=True, slots=True)
class RatedChunk:
    """Retrieved chunk with its relevancy.

    Attributes:
        relevancy: best cosine of its sentences with the question, 0.0 to 1.0.
        best: that sentence; None for a chunk without words.
    """

    relevancy: float
    best: Sentence | None


def chunk_relevancies(cases: Sequence[Case], tools: Tools) -> list[list[RatedChunk]]:
    """Return all chunks of each case in the order of retrieval; all texts are embedded at once."""
    chunks_of_cases = [[sentences(chunk, tools) for chunk in case.context] for case in cases]
    texts = {sentence.text for chunks in chunks_of_cases for chunk in chunks for sentence in chunk}
    vectors = TextEmbeddings(texts | {case.question for case in cases}, tools.embedder)
    return [
        [_chunk(case.question, chunk, vectors) for chunk in chunks]
        for case, chunks in zip(cases, chunks_of_cases, strict=True)
    ]


def _chunk(question: str, chunk: Sequence[Sentence], vectors: TextEmbeddings) -> RatedChunk:
    if not chunk:
        return RatedChunk(0.0, None)
    relevancies = best_columns(vectors, [sentence.text for sentence in chunk], [question]).tolist()
    return RatedChunk(max(relevancies), chunk[relevancies.index(max(relevancies))])
