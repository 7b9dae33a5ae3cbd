"""Chunk relevance: which of the retrieved chunks are of use to answer the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow, Question
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._assessments import assessed, question, rated_chunks
from pytest_evalstudio.evaluators._judged import asked_texts, judge_keywords


@evaluator(
    "chunk_relevance_judge",
    name="Chunk relevance judge",
    domain="retrieval",
    needs=("question", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ChunkRelevanceJudge:
    """Share of the retrieved chunks that the judge, who sees each by itself, finds relevant to the question.

    A case of which a chunk could not be judged is an error; ratings, rationales and error messages of all
    chunks are in its details.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "precision",
            "Chunk relevance precision",
            threshold=0.75,
            primary=True,
            description="Relevant chunks / all retrieved chunks.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("chunk_relevance_judge",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider, reads_answer=False)

    def _consider(self, case: Case) -> Flow[Outcome]:
        def ask(chunk: str) -> Question:
            return question(
                "chunk_relevance_judge",
                {**asked_texts(case), "chunk": chunk},
                "Is the chunk relevant to the question?",
            )

        return rated_chunks(case, "precision", ask, "not relevant")
