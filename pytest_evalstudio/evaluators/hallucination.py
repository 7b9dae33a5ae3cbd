"""Hallucination: how far a model made for it finds the answer supported by the retrieved context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools, provided
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._similarity import (
    NO_CONTEXT_WORDS,
    sentence_fragments,
    worst_sentence,
)
from pytest_evalstudio.evaluators._support import DIGITS, premise
from pytest_evalstudio.text.claims import Claim, claims_of


@evaluator(
    "hallucination",
    name="Hallucination",
    difference=(
        "Probability of support by HHEM, higher is better; DeepEval's metric of this name is a "
        "rate of contradictions, lower is better."
    ),
    domain="generation",
    needs=("context", "actual_output"),
    requires=("hallucination_model",),
    method=("cross-encoder",),
    systems=("rag",),
    extra="models",
    keywords=keywords("S", "C O", "evaluation-method-cross-encoder", "capability-answer-highlight"),
    problem_type="accuracy",
    avid="E0400",
)
@dataclass(frozen=True)
class Hallucination:
    """Support of the whole answer by the whole retrieved context, by Vectara's HHEM; higher is better.

    A context beyond the model's limit is read in windows of whole sentences, and the one that supports most
    counts. With `sentence_scores` each sentence of the answer is read as well, to show which one is supported
    least.

    Source: Vectara, HHEM-1.0-Open.
    """

    sentence_scores: bool = True
    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "hallucination",
            "Hallucination",
            primary=True,
            description="Probability that the context supports the answer.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        model = provided(tools.hallucination_model, "model of hallucinations")
        read = [(case, claims_of(case.actual_output), premise(case)) for case in cases]
        pairs = list(
            dict.fromkeys(
                (context, text)
                for case, answer, context in read
                if context
                for text in self._texts(case, answer)
            )
        )
        supports = dict(zip(pairs, model.score(pairs), strict=True))
        return [self._score(case, answer, context, supports) for case, answer, context in read]

    def _texts(self, case: Case, answer: Sequence[Claim]) -> list[str]:
        return [case.actual_output.strip(), *(sentence.text for sentence in answer if self.sentence_scores)]

    def _score(
        self, case: Case, answer: Sequence[Claim], context: str, supports: Mapping[tuple[str, str], float]
    ) -> Outcome:
        if not context:
            return Outcome.worst(self.metrics, NO_CONTEXT_WORDS)
        scores = {"hallucination": _support(supports[context, case.actual_output.strip()])}
        if not self.sentence_scores:
            return Outcome.score(scores)
        support = [_support(supports[context, sentence.text]) for sentence in answer]
        return Outcome.score(
            scores,
            reason=worst_sentence(case.actual_output, answer, support, "least supported sentence"),
            fragments=sentence_fragments(answer, support, "hallucination"),
        )


def _support(value: float) -> float:
    return round(min(1.0, max(0.0, value)), DIGITS)
