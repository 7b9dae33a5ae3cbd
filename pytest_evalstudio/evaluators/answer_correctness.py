"""Answer correctness of RAGAS: F1 of statements, and similarity of answer and expected answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import record, several, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import listed
from pytest_evalstudio.evaluators._judged import asked_texts, judge_keywords, judged
from pytest_evalstudio.evaluators._similarity import Vectors
from pytest_evalstudio.metrics.classification import statement_f1
from pytest_evalstudio.metrics.quoting import one_line

_STATEMENT_KINDS = {"answer_only": "not in the expected answer", "expected_only": "missing from the answer"}


@evaluator(
    "answer_correctness",
    name="Answer correctness",
    domain="generation",
    needs=("question", "expected_output", "actual_output"),
    requires=(JUDGE, "embedder"),
    method=("judge", "embeddings"),
    systems=("llm", "rag"),
    extra="models",
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class AnswerCorrectness:
    """Weighted mean of the F1 of the answer's statements and the similarity of answer and expected answer.

    Attributes:
        factuality_weight: weight of the F1, 0 or more.
        similarity_weight: weight of the similarity, 0 or more, not both 0; only the ratio matters.

    Source: RAGAS, metric answer correctness.
    """

    factuality_weight: float = 0.75
    similarity_weight: float = 0.25
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "answer_correctness",
            "Answer correctness",
            primary=True,
            description="Agreement of the answer with the expected one.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("statements",)

    def __post_init__(self) -> None:
        if (
            min(self.factuality_weight, self.similarity_weight) < 0
            or not self.factuality_weight + self.similarity_weight > 0
        ):
            raise ConfigurationError(
                "factuality_weight and similarity_weight: must be 0 or more, and not both 0"
            )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def finish(considered: Sequence[tuple[Case, Mapping[str, list[str]]]]) -> list[Outcome]:
            texts = (text for case, _ in considered for text in (case.actual_output, case.expected_output))
            vectors = Vectors(texts, tools.embedder) if considered else None
            return [self._outcome(case, statements, vectors) for case, statements in considered]

        return judged(cases, tools, self.metrics, self._consider, finish)

    def _consider(self, case: Case) -> Flow[Mapping[str, list[str]]]:
        [reply] = yield [
            Question(
                prompt="statements",
                texts={
                    **asked_texts(case),
                    "answer": case.actual_output,
                    "expected_answer": case.expected_output,
                },
                reply=record(
                    both=several(
                        "Statements of the answer that the expected answer makes too, directly or by"
                        " implication.",
                        text(""),
                    ),
                    answer_only=several(
                        "Statements of the answer that the expected answer does not make.", text("")
                    ),
                    expected_only=several(
                        "Statements of the expected answer that the answer does not make.", text("")
                    ),
                ),
            )
        ]
        return {key: list(reply[key]) for key in ("both", "answer_only", "expected_only")}

    def _outcome(self, case: Case, statements: Mapping[str, list[str]], vectors: Vectors | None) -> Outcome:
        if not any(statements.values()):
            return Outcome.not_applicable("neither answer nor expected output makes a statement")
        assert vectors is not None
        factuality = statement_f1(*(len(statements[key]) for key in ("both", "answer_only", "expected_only")))
        similarity = max(0.0, float(vectors.cosines([case.actual_output], [case.expected_output])[0, 0]))
        weights = self.factuality_weight + self.similarity_weight
        wrong = [
            f"{kind}: {listed([one_line(statement) for statement in statements[key]])}"
            for key, kind in _STATEMENT_KINDS.items()
            if statements[key]
        ]
        return Outcome.score(
            {
                "answer_correctness": (
                    (self.factuality_weight * factuality + self.similarity_weight * similarity) / weights
                )
            },
            reason="; ".join(wrong),
            details={**statements, "factuality": factuality, "similarity": similarity},
        )
