"""What the evaluators of retrieval share: how relevant each retrieved chunk is to the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools
from pytest_evalstudio.evaluators._similarity import Sentence, Vectors, best_columns, sentences


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrieved chunk: its relevancy, and the sentence that it owes it to; None in a chunk without words,
    which has none.
    """

    relevancy: float
    best: Sentence | None


def chunk_relevancies(cases: Sequence[Case], tools: Tools) -> list[list[Chunk]]:
    """The chunks of each case in the order of retrieval, none left out; all texts are embedded at once."""
    read = [[sentences(chunk, tools) for chunk in case.context] for case in cases]
    texts = {one.text for chunks in read for found in chunks for one in found}
    vectors = Vectors(texts | {case.question for case in cases}, tools.embedder)
    return [
        [_chunk(case.question, found, vectors) for found in chunks]
        for case, chunks in zip(cases, read, strict=True)
    ]


def _chunk(question: str, found: Sequence[Sentence], vectors: Vectors) -> Chunk:
    if not found:
        return Chunk(0.0, None)
    relevancies = best_columns(vectors, [one.text for one in found], [question]).tolist()
    return Chunk(max(relevancies), found[relevancies.index(max(relevancies))])
