"""Groundedness: does the retrieved context say what the answer says, sentence by sentence."""

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
    answer_and_context,
    best_columns,
    nothing_to_compare,
    sentence_fragments,
    worst_sentence,
)


@evaluator(
    "groundedness",
    name="Groundedness",
    domain="generation",
    needs=("context", "actual_output"),
    requires=("embedder",),
    method=("embeddings",),
    systems=("rag",),
    extra="models",
    keywords=keywords("S VR", "C O M", "evaluation-method-embeddings", "capability-answer-highlight"),
    avid="P0100",
)
@dataclass(frozen=True)
class Groundedness:
    """Worst support, by the retrieved context, of any sentence of the answer.

    Support is the best cosine with a sentence of the context. Cosines tell whether the context speaks of the
    same thing, not whether it
    agrees: a negated sentence is close to the original.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "groundedness",
            "Groundedness",
            primary=True,
            description="Least over the answer's sentences of the best cosine with the context.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [answer_and_context(case, tools) for case in cases]
        vectors = Vectors(
            (
                sentence.text
                for answer, context in read
                if answer and context
                for sentence in (*answer, *context)
            ),
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
            {"groundedness": groundedness(support)},
            reason=worst_sentence(case.actual_output, answer, support, "least grounded sentence"),
            fragments=sentence_fragments(answer, support, "groundedness"),
        )


def groundedness(support: Sequence[float]) -> float:
    """Least support of any sentence of an answer.

    Args:
        support: per sentence of the answer the best cosine with a sentence of the context (`best_matches`);
            at least one.

    Returns:
        A fraction, 0.0 (a sentence that nothing in the context is like) to 1.0; higher is better.

    Raises:
        ValueError: if there is no sentence.

    Source: H2O Eval Studio, groundedness (semantic similarity): min over answer sentences of max over context
        sentences.

    >>> groundedness([0.9, 0.6])
    0.6
    """
    return min(support)
