"""Context relevancy of HCAT: how well the retrieved context addresses each sentence of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import keywords, worst
from pytest_evalstudio.evaluators._similarity import (
    NO_CONTEXT_WORDS,
    Sentence,
    Vectors,
    Weighting,
    best_columns,
    sentences,
    weighted_mean,
    weights_of,
    worst_sentence,
)


@evaluator(
    "hcat_context_relevancy",
    name="Context relevancy (HCAT)",
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
class HcatContextRelevancy:
    """Mean and least, over the question's sentences, of the best cosine with a sentence of the context.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.1.
    """

    weights: Weighting = "uniform"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "context_relevancy",
            "Context relevancy",
            primary=True,
            description="Weighted mean over the question's sentences of the best cosine.",
        ),
        Metric(
            "min_context_relevancy",
            "Least addressed query sentence",
            description="Least over the question's sentences of the best cosine.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [
            (
                sentences(case.question, tools),
                [one for chunk in case.context for one in sentences(chunk, tools)],
            )
            for case in cases
        ]
        vectors = Vectors(
            (one.text for question, context in read if question and context for one in (*question, *context)),
            tools.embedder,
        )
        return [
            self._score(case, question, context, vectors)
            for case, (question, context) in zip(cases, read, strict=True)
        ]

    def _score(
        self, case: Case, question: Sequence[Sentence], context: Sequence[Sentence], vectors: Vectors
    ) -> Outcome:
        if not question:
            return Outcome.not_applicable("the question has no words")
        if not context:
            return worst(self.metrics, NO_CONTEXT_WORDS)
        addressed = best_columns(
            vectors, [one.text for one in question], [one.text for one in context]
        ).tolist()
        return Outcome.score(
            {
                "context_relevancy": weighted_mean(addressed, weights_of(question, self.weights)),
                "min_context_relevancy": min(addressed),
            },
            reason=worst_sentence(
                case.question, question, addressed, "least addressed sentence of the question"
            ),
        )
