"""Answer semantic sentence similarity: does the expected answer say what each sentence of the answer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._similarity import (
    NO_EXPECTED_WORDS,
    Sentence,
    Vectors,
    answer_and_expected,
    best_columns,
    nothing_to_compare,
    sentence_fragments,
    worst_sentence,
)


@evaluator(
    "answer_semantic_sentence_similarity",
    name="Answer s. sentence similarity",
    domain="generation",
    needs=("expected_output", "actual_output"),
    requires=("embedder",),
    method=("embeddings",),
    systems=("llm", "rag"),
    extra="models",
    keywords=keywords("S VR", "C O M", "evaluation-method-embeddings"),
    problem_type="accuracy",
    avid="P0200",
)
@dataclass(frozen=True)
class AnswerSemanticSentenceSimilarity:
    """Best cosine of each sentence of the answer with the expected answer's: mean and least."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "mean_answer_similarity",
            "Mean answer similarity",
            primary=True,
            description="Mean over the answer's sentences of the best cosine.",
        ),
        Metric(
            "min_answer_similarity",
            "Min answer similarity",
            description="Least over the answer's sentences of the best cosine.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [answer_and_expected(case, tools) for case in cases]
        vectors = Vectors(
            (one.text for answer, expected in read if answer and expected for one in (*answer, *expected)),
            tools.embedder,
        )
        return [
            self._score(case, answer, expected, vectors)
            for case, (answer, expected) in zip(cases, read, strict=True)
        ]

    def _score(
        self, case: Case, answer: Sequence[Sentence], expected: Sequence[Sentence], vectors: Vectors
    ) -> Outcome:
        if (
            nothing := nothing_to_compare(case, answer, expected, self.metrics, NO_EXPECTED_WORDS)
        ) is not None:
            return nothing
        similarity = best_columns(
            vectors, [one.text for one in answer], [one.text for one in expected]
        ).tolist()
        mean, least = sentence_similarity(similarity)
        return Outcome.score(
            {"mean_answer_similarity": mean, "min_answer_similarity": least},
            reason=worst_sentence(
                case.actual_output, answer, similarity, "sentence least like the expected answer"
            ),
            fragments=sentence_fragments(answer, similarity, "min_answer_similarity"),
        )


def sentence_similarity(similarity: Sequence[float]) -> tuple[float, float]:
    """Mean and least of the similarities of an answer's sentences.

    Args:
        similarity: per sentence of the answer the best cosine with an expected sentence, negative ones as 0;
            at least one.

    Returns:
        Two fractions, 0.0 to 1.0; higher is better.

    Raises:
        ZeroDivisionError: if there is no sentence.

    Source: H2O Eval Studio, answer semantic sentence similarity.

    >>> sentence_similarity([0.5, 1.0])
    (0.75, 0.5)
    """
    return round(sum(similarity) / len(similarity), 9), min(similarity)
