"""Declarations that the evaluators on sentence embeddings share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.evaluators._alignment import SentenceAlignment
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._similarity import check_weighting, weights_of
from pytest_evalstudio.metrics.similarity import Weighting, weighted_mean
from pytest_evalstudio.text.claims import Claim

T = TypeVar("T", bound=type)
RAG = ("rag",)
LLM_AND_RAG = ("llm", "rag")
KEYWORDS = keywords("S VR", "C O M", "evaluation-method-embeddings")


def embedding_evaluator(
    id: str,
    name: str,
    needs: tuple[str, ...],
    *,
    domain: str = "generation",
    requires: tuple[str, ...] = ("embedder",),
    method: tuple[str, ...] = ("embeddings",),
    systems: tuple[str, ...] = LLM_AND_RAG,
    keywords: tuple[str, ...] = KEYWORDS,
    problem_type: str = "accuracy",
    avid: str = "P0200",
    difference: str = "",
) -> Callable[[T], T]:
    """Declare an evaluator on sentence embeddings; see `core.plugins.evaluator.evaluator`."""
    return evaluator(
        id,
        name=name,
        domain=domain,
        needs=needs,
        requires=requires,
        method=method,
        systems=systems,
        extra="models",
        keywords=keywords,
        problem_type=problem_type,
        avid=avid,
        difference=difference,
    )


def mean_and_min_metrics(key: str, name: str, min_name: str, *, text: str = "answer") -> tuple[Metric, ...]:
    """Return the weighted mean and the minimum, over the sentences of a text, of their best cosines.

    Args:
        key: key of the mean; that of the minimum has the prefix `min_`.
        name: display name of the mean.
        min_name: display name of the minimum.
        text: the text whose sentences count.
    """
    return (
        Metric(
            key,
            name,
            primary=True,
            description=f"Weighted mean over the {text}'s sentences of the best cosine.",
        ),
        Metric(
            f"min_{key}", min_name, description=f"Minimum over the {text}'s sentences of the best cosine."
        ),
    )


@dataclass(frozen=True)
class WeightedAlignment(SentenceAlignment):
    """Sentence alignment whose metrics are a weighted mean and the minimum."""

    weights: Weighting = "uniform"

    def __post_init__(self) -> None:
        check_weighting(self.weights)

    def aggregate_sentences(self, values: Sequence[float], answer: Sequence[Claim]) -> Mapping[str, float]:
        mean, lowest = self.metrics
        return {mean.key: weighted_mean(values, weights_of(answer, self.weights)), lowest.key: min(values)}
