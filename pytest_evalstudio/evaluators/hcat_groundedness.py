"""Groundedness of HCAT: how well the retrieved context supports the answer, on average and at worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._similarity import (
    Sentence,
    Vectors,
    Weighting,
    answer_and_context,
    best_columns,
    nothing_to_compare,
    sentence_fragments,
    weighted_mean,
    weights_of,
    worst_sentence,
)


@evaluator(
    "hcat_groundedness",
    name="Groundedness (HCAT)",
    domain="generation",
    needs=("context", "actual_output"),
    requires=("embedder",),
    method=("embeddings",),
    systems=("rag",),
    extra="models",
    keywords=keywords("S VR", "C O M", "evaluation-method-embeddings"),
    problem_type="accuracy",
    avid="E0400",
)
@dataclass(frozen=True)
class HcatGroundedness:
    """Mean and least, over the answer's sentences, of the best cosine with a sentence of the context.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.2.1.
    """

    weights: Weighting = "uniform"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "groundedness",
            "Groundedness",
            primary=True,
            description="Weighted mean over the answer's sentences of the best cosine.",
        ),
        Metric(
            "min_groundedness",
            "Least grounded sentence",
            description="Least over the answer's sentences of the best cosine.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [answer_and_context(case, tools) for case in cases]
        vectors = Vectors(
            (one.text for answer, context in read if answer and context for one in (*answer, *context)),
            tools.embedder,
        )
        return [
            self._score(case, answer, context, vectors)
            for case, (answer, context) in zip(cases, read, strict=True)
        ]

    def _score(
        self, case: Case, answer: Sequence[Sentence], context: Sequence[Sentence], vectors: Vectors
    ) -> Outcome:
        if (nothing := nothing_to_compare(case, answer, context, self.metrics)) is not None:
            return nothing
        support = best_columns(vectors, [one.text for one in answer], [one.text for one in context]).tolist()
        return Outcome.score(
            {
                "groundedness": weighted_mean(support, weights_of(answer, self.weights)),
                "min_groundedness": min(support),
            },
            reason=worst_sentence(case.actual_output, answer, support, "least grounded sentence"),
            fragments=sentence_fragments(answer, support, "groundedness"),
        )
