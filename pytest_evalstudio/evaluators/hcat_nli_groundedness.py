"""Groundedness of HCAT by inference: does each sentence of the answer follow from the retrieved context."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Entailment, Tools, evaluator
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._similarity import (
    Sentence,
    Weighting,
    sentence_fragments,
    weighted_mean,
    weights_of,
    worst_sentence,
)
from pytest_evalstudio.evaluators._support import DIGITS, answer_sentences, judged, not_judged, premise


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
    """Mean and least, over the answer's sentences, of how far on the side of entailment by the context a
    model of inference puts them.

    The context is the premise, each sentence a hypothesis. A sentence on the other side of the boundary is
    marked as a potential hallucination. `boundary`: "logit" is the paper's, the hyperplane at which the
    entailment logit is 0; "class" the nearest one at which another class is as likely, which does not depend
    on how the model's head happens to be scaled and shifted.

    Source: Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 3.2.2.
    """

    weights: Weighting = "uniform"
    boundary: Literal["logit", "class"] = "logit"
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
            description="Least over the answer's sentences of sigmoid(D).",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [(case, answer_sentences(case, tools), premise(case)) for case in cases]
        found = judged(
            [(context, one.text) for _, answer, context in read if context for one in answer], tools
        )
        return [self._score(case, answer, context, found) for case, answer, context in read]

    def _score(
        self, case: Case, answer: Sequence[Sentence], context: str, found: dict[tuple[str, str], Entailment]
    ) -> Outcome:
        if (nothing := not_judged(case, answer, context, self.metrics)) is not None:
            return nothing
        distances = [self._distance(found[context, one.text]) for one in answer]
        support = [nli_groundedness(distance) for distance in distances]
        return Outcome.score(
            {
                "nli_groundedness": weighted_mean(support, weights_of(answer, self.weights)),
                "min_nli_groundedness": min(support),
            },
            reason=worst_sentence(case.actual_output, answer, support, "least entailed sentence"),
            fragments=_fragments(answer, support, distances),
        )

    def _distance(self, entailment: Entailment) -> float:
        distance = entailment.distance if self.boundary == "logit" else entailment.margin
        if distance is None:
            raise EvaluationError(
                "the model of inference ends in no linear layer of its classes: there is no distance to a"
                " boundary"
            )
        return distance


def nli_groundedness(distance: float) -> float:
    """Logistic function of the signed distance to the boundary of entailment.

    Args:
        distance: D = (w·x + b) / |w|, positive on the side of entailment.

    Returns:
        0.0 to 1.0, more than 0.5 where the sentence is entailed; higher is better.

    Source: Sudjianto et al., 2024 (HCAT), section 3.2.2.

    >>> nli_groundedness(0.0), nli_groundedness(2.0)
    (0.5, 0.880797)
    """
    power = math.exp(-abs(distance))
    return round((1.0 if distance >= 0 else power) / (1.0 + power), DIGITS)


def _fragments(
    answer: Sequence[Sentence], support: Sequence[float], distances: Sequence[float]
) -> tuple[Fragment, ...]:
    """A fragment per sentence; those beyond the boundary say so."""
    beyond = {one.start: distance for one, distance in zip(answer, distances, strict=True) if distance < 0}
    return tuple(
        (
            replace(fragment, message=f"potential hallucination (D = {beyond[fragment.start]:.4f})")
            if fragment.start in beyond
            else fragment
        )
        for fragment in sentence_fragments(answer, support, "nli_groundedness")
    )
