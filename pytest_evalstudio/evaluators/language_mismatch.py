"""Language mismatch: is the answer in the language of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import boolean_metrics
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._verdicts import boolean_flow


@evaluator(
    "language_mismatch",
    name="Language mismatch (judge)",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    keywords=judge_keywords("S VR F", "C M O"),
)
@dataclass(frozen=True)
class LanguageMismatch:
    """The judge says whether question and answer are in the same language.

    Attributes:
        evaluate_retrieved_context: whether the context of a model that retrieves is judged too, by a question of its own.

    Source: H2O Eval Studio user guide, Language mismatch (Judge).
    """

    evaluate_retrieved_context: bool = False
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Same language (pass)",
        "Language mismatch (fail)",
        "Language mismatch retrieval failures",
        "Language mismatch generation failures",
        "Language mismatch parsing failures",
    )
    prompts: ClassVar[tuple[str, ...]] = ("language_mismatch",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        return boolean_flow(
            case,
            self.metrics,
            "language_mismatch",
            {"question": case.question, "answer": case.actual_output},
            "Are question and answer in the same language?",
            "same",
            "different",
            evaluate_retrieved_context=self.evaluate_retrieved_context,
        )
