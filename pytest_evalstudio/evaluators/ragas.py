"""RAGAS: four judgements of one answer and its context in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._ragas import (
    ANSWER_QUESTIONS,
    ANSWER_RELEVANCY,
    ATTRIBUTION,
    CHUNK_USEFULNESS,
    CLAIM_SUPPORT,
    CLAIMS,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    Part,
    answer_questions,
    answer_relevancies,
    context_precision,
    context_recall,
    faithfulness,
    harmonic_mean,
    together,
)

_PARTS = (FAITHFULNESS, ANSWER_RELEVANCY, CONTEXT_PRECISION, CONTEXT_RECALL)


@evaluator(
    "ragas",
    name="RAGAS",
    domain="generation",
    needs=("question", "expected_output", "context", "actual_output"),
    requires=(JUDGE, "embedder"),
    method=("judge", "embeddings"),
    systems=("rag",),
    extra="models",
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class Ragas:
    """Harmonic mean of faithfulness, answer relevancy, context precision and context recall, from one set of
    questions.

    A part that is not applicable (an answer without claims) is left out of the mean, and named.

    Attributes:
        strictness: how many questions the judge writes for answer relevancy.

    Source: Es et al., 2023 (RAGAS).
    """

    strictness: int = 3
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("ragas", "RAGAS", primary=True, description="Harmonic mean of the four."),
        *(replace(metric, primary=False) for metric in _PARTS),
    )
    prompts: ClassVar[tuple[str, ...]] = (
        CLAIMS,
        CLAIM_SUPPORT,
        ANSWER_QUESTIONS,
        CHUNK_USEFULNESS,
        ATTRIBUTION,
    )

    def __post_init__(self) -> None:
        if self.strictness < 1:
            raise ConfigurationError(f"strictness = {self.strictness}: must be 1 or more")

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def consider(case: Case) -> Flow[list[Any]]:
            return together(
                [
                    faithfulness(case),
                    answer_questions(case, self.strictness),
                    context_precision(case),
                    context_recall(case, tools),
                ]
            )

        def finish(considered: Sequence[tuple[Case, list[Any]]]) -> list[Outcome]:
            relevancies = answer_relevancies([(case, found[1]) for case, found in considered], tools)
            return [
                self._outcome([found[0], relevancy, *found[2:]])
                for (_, found), relevancy in zip(considered, relevancies, strict=True)
            ]

        return judged(cases, tools, self.metrics, consider, finish)

    def _outcome(self, parts: Sequence[Part]) -> Outcome:
        by_key = {metric.key: part for metric, part in zip(_PARTS, parts, strict=True)}
        values = {key: part.value for key, part in by_key.items()}
        lowest = sorted((value, key) for key, value in values.items() if value is not None)
        left_out = [f"{key} left out: {by_key[key].reason}" for key, value in values.items() if value is None]
        told = [
            f"{key} {value:.2f}" + (f" ({by_key[key].reason})" if by_key[key].reason else "")
            for value, key in lowest[:1]
            if value < 1.0
        ]
        return Outcome.score(
            {"ragas": harmonic_mean([value for value, _ in lowest]), **values},
            reason="; ".join([*told, *left_out]),
            details={key: part.details for key, part in by_key.items() if part.details},
        )
