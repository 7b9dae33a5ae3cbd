"""Answer semantic similarity: do answer and expected answer, as wholes, mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords, worst
from pytest_evalstudio.evaluators._similarity import Vectors, best_columns, has_words, no_words


@evaluator(
    "answer_semantic_similarity",
    name="Answer semantic similarity",
    domain="generation",
    needs=("expected_output", "actual_output"),
    requires=("embedder",),
    method=("embeddings", "cross-encoder"),
    systems=("llm", "rag"),
    extra="models",
    keywords=keywords("S VR", "C O M", "evaluation-method-embeddings"),
    problem_type="accuracy",
    avid="P0200",
)
@dataclass(frozen=True)
class AnswerSemanticSimilarity:
    """Cosine of the whole answer with the whole expected answer, or a cross-encoder's score of the two read
    together.
    """

    similarity: Literal["embeddings", "cross-encoder"] = "embeddings"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "answer_similarity",
            "Answer similarity",
            primary=True,
            description="Likeness of answer and expected answer.",
        ),
    )

    @property
    def requires(self) -> tuple[str, ...]:
        """What it cannot score without, with the options it has."""
        return ("embedder",) if self.similarity == "embeddings" else ("cross_encoder",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        pairs = list(
            dict.fromkeys(
                (case.actual_output, case.expected_output) for case in cases if has_words(case.actual_output)
            )
        )
        found = dict(zip(pairs, self._similarities(pairs, tools), strict=True))
        return [self._outcome(case, found.get((case.actual_output, case.expected_output))) for case in cases]

    def _outcome(self, case: Case, value: float | None) -> Outcome:
        if is_empty(case):
            return worst(self.metrics)
        if value is None:
            return no_words(self.metrics)
        return Outcome.score({"answer_similarity": value})

    def _similarities(self, pairs: Sequence[tuple[str, str]], tools: Tools) -> list[float]:
        if self.similarity == "embeddings":
            vectors = Vectors((text for pair in pairs for text in pair), tools.embedder)
            return [float(best_columns(vectors, [answer], [expected])[0]) for answer, expected in pairs]
        if tools.cross_encoder is None:
            raise EvaluationError("there is no cross-encoder to ask")
        return [round(min(1.0, max(0.0, value)), 6) for value in tools.cross_encoder.score(pairs)]
