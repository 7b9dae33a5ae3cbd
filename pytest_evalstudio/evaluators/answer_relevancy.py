"""Answer relevancy of RAGAS: would the answer be given to this question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._ragas import (
    ANSWER_QUESTIONS,
    ANSWER_RELEVANCY,
    answer_questions,
    answer_relevancies,
)


@evaluator(
    "answer_relevancy",
    name="Answer relevancy",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE, "embedder"),
    method=("judge", "embeddings"),
    systems=("llm", "rag"),
    extra="models",
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class AnswerRelevancy:
    """Mean cosine of the question with the questions that the judge writes for the answer.

    Attributes:
        strictness: how many questions it writes.

    Source: Es et al., 2023 (RAGAS).
    """

    strictness: int = 3
    metrics: ClassVar[tuple[Metric, ...]] = (ANSWER_RELEVANCY,)
    prompts: ClassVar[tuple[str, ...]] = (ANSWER_QUESTIONS,)

    def __post_init__(self) -> None:
        if self.strictness < 1:
            raise ConfigurationError(f"strictness = {self.strictness}: must be 1 or more")

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def finish(considered: Sequence[tuple[Case, list[str]]]) -> list[Outcome]:
            return [part.outcome(ANSWER_RELEVANCY) for part in answer_relevancies(considered, tools)]

        return judged(cases, tools, self.metrics, self._consider, finish)

    def _consider(self, case: Case) -> Flow[list[str]]:
        return answer_questions(case, self.strictness)
