"""Evaluators of Human-Calibrated Automated Testing (HCAT): relevancy and groundedness.

Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing and Validation of Generative Language
    Models).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from msgspec import structs

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Entailment, Tools
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._embedding_family import (
    RAG,
    WeightedAlignment,
    embedding_evaluator,
    mean_and_min_metrics,
)
from pytest_evalstudio.evaluators._similarity import (
    NO_CONTEXT_WORDS,
    TextEmbeddings,
    best_columns,
    check_weighting,
    sentence_fragments,
    weights_of,
    worst_sentence,
)
from pytest_evalstudio.evaluators._support import judged, premise
from pytest_evalstudio.metrics.entailment import nli_groundedness
from pytest_evalstudio.metrics.similarity import (
    Weighting,
    weighted_mean,
)
from pytest_evalstudio.text.claims import Claim, claims_of
from pytest_evalstudio.text.figures import figure


@embedding_evaluator(
    "hcat_groundedness", "Groundedness (HCAT)", ("context", "actual_output"), systems=RAG, avid="E0400"
)
@dataclass(frozen=True)
class HcatGroundedness(WeightedAlignment):
    """Mean and minimum, over the answer's sentences, of the best cosine with a sentence of the context.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.2.1.
    """

    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = mean_and_min_metrics(
        "groundedness", "Groundedness", "Least grounded sentence"
    )
    fragment_metric: ClassVar[str] = "groundedness"
    lowest: ClassVar[str] = "least grounded sentence"


@embedding_evaluator("hcat_answer_relevancy", "Answer relevancy (HCAT)", ("question", "actual_output"))
@dataclass(frozen=True)
class HcatAnswerRelevancy(WeightedAlignment):
    """Mean and minimum, over the answer's sentences, of the best cosine with a sentence of the question.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.4.
    """

    metrics: ClassVar[tuple[Metric, ...]] = mean_and_min_metrics(
        "answer_relevancy", "Answer relevancy", "Least relevant answer sentence"
    )
    fragment_metric: ClassVar[str] = "answer_relevancy"
    lowest: ClassVar[str] = "least relevant sentence"
    missing: ClassVar[str] = "the question has no words"

    def read(self, case: Case, tools: Tools) -> tuple[list[Claim], list[Claim]]:
        return claims_of(case.actual_output), claims_of(case.question)


@embedding_evaluator(
    "hcat_context_relevancy",
    "Context relevancy (HCAT)",
    ("question", "context"),
    domain="retrieval",
    systems=RAG,
    problem_type="retrieval",
)
@dataclass(frozen=True)
class HcatContextRelevancy:
    """Mean and minimum, over the question's sentences, of the best cosine with a sentence of the context.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.1.
    """

    weights: Weighting = "uniform"
    metrics: ClassVar[tuple[Metric, ...]] = mean_and_min_metrics(
        "context_relevancy", "Context relevancy", "Least addressed query sentence", text="question"
    )

    def __post_init__(self) -> None:
        check_weighting(self.weights)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [
            (
                claims_of(case.question),
                [sentence for chunk in case.context for sentence in claims_of(chunk)],
            )
            for case in cases
        ]
        vectors = TextEmbeddings(
            (
                sentence.text
                for question, context in read
                if question and context
                for sentence in (*question, *context)
            ),
            tools.embedder,
        )
        return [
            self._score(case, question, context, vectors)
            for case, (question, context) in zip(cases, read, strict=True)
        ]

    def _score(
        self, case: Case, question: Sequence[Claim], context: Sequence[Claim], vectors: TextEmbeddings
    ) -> Outcome:
        if not question:
            return Outcome.not_applicable("the question has no words")
        if not context:
            return Outcome.worst(self.metrics, NO_CONTEXT_WORDS)
        addressed = best_columns(
            vectors, [sentence.text for sentence in question], [sentence.text for sentence in context]
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


@evaluator(
    "hcat_nli_groundedness",
    name="NLI groundedness (HCAT)",
    domain="generation",
    needs=("context", "actual_output"),
    requires=("nli",),
    method=("nli",),
    systems=("rag",),
    extra="models",
    keywords=keywords("S VR", "C O M", "evaluation-method-nli", "capability-answer-highlight"),
    problem_type="accuracy",
    avid="E0400",
)
@dataclass(frozen=True)
class HcatNliGroundedness:
    """Distance of the answer's sentences to the boundary of entailment by the context, by an NLI model.

    Mean and minimum over the sentences; the context is the premise. A sentence beyond the boundary is marked
    as a potential hallucination. `boundary`: "logit" is that of the paper, where the entailment logit is 0;
    "class" is the nearest hyperplane where another class is equally likely.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.2.2.
    """

    weights: Weighting = "uniform"
    boundary: Literal["logit", "class"] = "logit"
    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "nli_groundedness",
            "NLI groundedness",
            threshold=0.5,
            primary=True,
            description="Weighted mean over the answer's sentences of sigmoid(D).",
        ),
        Metric(
            "min_nli_groundedness",
            "Least entailed sentence",
            threshold=0.5,
            description="Minimum over the answer's sentences of sigmoid(D).",
        ),
    )

    def __post_init__(self) -> None:
        check_weighting(self.weights)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [(case, claims_of(case.actual_output), premise(case)) for case in cases]
        entailments = judged(
            [(context, sentence.text) for _, answer, context in read if context for sentence in answer],
            tools,
        )
        return [self._score(case, answer, context, entailments) for case, answer, context in read]

    def _score(
        self,
        case: Case,
        answer: Sequence[Claim],
        context: str,
        entailments: dict[tuple[str, str], Entailment],
    ) -> Outcome:
        if not context:
            return Outcome.worst(self.metrics, NO_CONTEXT_WORDS)
        distances = [self._distance(entailments[context, sentence.text]) for sentence in answer]
        support = [nli_groundedness(distance) for distance in distances]
        return Outcome.score(
            {
                "nli_groundedness": weighted_mean(support, weights_of(answer, self.weights)),
                "min_nli_groundedness": min(support),
            },
            reason=worst_sentence(case.actual_output, answer, support, "least entailed sentence"),
            fragments=_marked_fragments(answer, support, distances),
        )

    def _distance(self, entailment: Entailment) -> float:
        distance = entailment.distance if self.boundary == "logit" else entailment.margin
        if distance is None:
            raise EvaluationError(
                "the NLI model has no final linear layer over its classes, which this evaluator needs;"
                " configure another model in [nli]"
            )
        return distance


def _marked_fragments(
    answer: Sequence[Claim], support: Sequence[float], distances: Sequence[float]
) -> tuple[Fragment, ...]:
    """Return a fragment per sentence; sentences beyond the boundary are marked."""
    # By the start of the sentence: the fragments may be only some of the sentences.
    beyond = {
        sentence.start: distance for sentence, distance in zip(answer, distances, strict=True) if distance < 0
    }
    return tuple(
        (
            structs.replace(
                fragment, message=f"potential hallucination (D = {figure(beyond[fragment.start])})"
            )
            if fragment.start in beyond
            else fragment
        )
        for fragment in sentence_fragments(answer, support, "nli_groundedness")
    )
