"""Answer relevancy of HCAT: how much of the answer speaks of what was asked, on average and at worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords
from pytest_evalstudio.evaluators._similarity import (
    Sentence,
    Vectors,
    Weighting,
    best_columns,
    nothing_to_compare,
    sentence_fragments,
    sentences,
    weighted_mean,
    weights_of,
    worst_sentence,
)


@evaluator(
    "hcat_answer_relevancy",
    name="Answer relevancy (HCAT)",
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
class HcatAnswerRelevancy:
    """Mean and least, over the answer's sentences, of the best cosine with a sentence of the question.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.4.
    """

    weights: Weighting = "uniform"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "answer_relevancy",
            "Answer relevancy",
            primary=True,
            description="Weighted mean over the answer's sentences of the best cosine.",
        ),
        Metric(
            "min_answer_relevancy",
            "Least relevant answer sentence",
            description="Least over the answer's sentences of the best cosine.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read: list[tuple[list[Sentence], list[Sentence]]] = [
            ([], [])
            if is_empty(case)
            else (sentences(case.actual_output, tools), sentences(case.question, tools))
            for case in cases
        ]
        vectors = Vectors(
            (one.text for answer, question in read if answer and question for one in (*answer, *question)),
            tools.embedder,
        )
        return [
            self._score(case, answer, question, vectors)
            for case, (answer, question) in zip(cases, read, strict=True)
        ]

    def _score(
        self, case: Case, answer: Sequence[Sentence], question: Sequence[Sentence], vectors: Vectors
    ) -> Outcome:
        if (
            nothing := nothing_to_compare(case, answer, question, self.metrics, "the question has no words")
        ) is not None:
            return nothing
        relevancy = best_columns(
            vectors, [one.text for one in answer], [one.text for one in question]
        ).tolist()
        return Outcome.score(
            {
                "answer_relevancy": weighted_mean(relevancy, weights_of(answer, self.weights)),
                "min_answer_relevancy": min(relevancy),
            },
            reason=worst_sentence(case.actual_output, answer, relevancy, "least relevant sentence"),
            fragments=sentence_fragments(answer, relevancy, "answer_relevancy"),
        )
