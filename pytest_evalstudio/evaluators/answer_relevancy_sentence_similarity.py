"""Answer relevancy by sentences: does any sentence of the answer speak of what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords, one_line, worst
from pytest_evalstudio.evaluators._similarity import (
    Sentence,
    Vectors,
    best_columns,
    no_words,
    sentence_fragments,
    sentences,
)
from pytest_evalstudio.metrics.detectors import redact


@evaluator(
    "answer_relevancy_sentence_similarity",
    name="Answer relevancy (sentence s.)",
    domain="generation",
    needs=("question", "actual_output"),
    requires=("embedder",),
    method=("embeddings",),
    systems=("llm", "rag"),
    extra="models",
    keywords=keywords("S VR", "C O M", "evaluation-method-embeddings"),
    problem_type="accuracy",
    avid="P0200",
)
@dataclass(frozen=True)
class AnswerRelevancySentenceSimilarity:
    """Best cosine of the question with any sentence of the answer."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "answer_relevancy",
            "Answer relevancy",
            primary=True,
            description="Greatest over the answer's sentences of the cosine with the question.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [[] if is_empty(case) else sentences(case.actual_output, tools) for case in cases]
        texts = {
            text
            for case, answer in zip(cases, read, strict=True)
            if answer
            for text in (case.question, *(one.text for one in answer))
        }
        vectors = Vectors(texts, tools.embedder)
        return [self._score(case, answer, vectors) for case, answer in zip(cases, read, strict=True)]

    def _score(self, case: Case, answer: Sequence[Sentence], vectors: Vectors) -> Outcome:
        if is_empty(case):
            return worst(self.metrics)
        if not answer:
            return no_words(self.metrics)
        relevancy = best_columns(vectors, [one.text for one in answer], [case.question]).tolist()
        value = answer_relevancy(relevancy)
        nearest = answer[relevancy.index(value)]
        return Outcome.score(
            {"answer_relevancy": value},
            reason=(
                f"sentence nearest to the question ({value:.4f}):"
                f" {one_line(redact(case.actual_output)[nearest.start : nearest.end])}"
            ),
            fragments=sentence_fragments(answer, relevancy, "answer_relevancy"),
        )


def answer_relevancy(relevancy: Sequence[float]) -> float:
    """Relevancy of an answer's most relevant sentence.

    Args:
        relevancy: per sentence of the answer its cosine with the question, negative ones as 0; at least one.

    Returns:
        A fraction, 0.0 to 1.0; higher is better.

    Raises:
        ValueError: if there is no sentence.

    Source: H2O Eval Studio, answer relevancy (sentence similarity).

    >>> answer_relevancy([0.1, 0.8])
    0.8
    """
    return max(relevancy)
