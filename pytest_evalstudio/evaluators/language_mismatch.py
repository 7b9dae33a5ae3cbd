"""Language mismatch: is the answer in the language of the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.contracts import evaluator
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.evaluators._common import boolean_metrics
from pytest_evalstudio.evaluators._judged import judge_keywords
from pytest_evalstudio.evaluators._verdicts import Asked, BooleanJudge


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
class LanguageMismatch(BooleanJudge):
    """The judge says whether question and answer are in the same language.

    Attributes:
        evaluate_retrieved_context: whether the context of a model that retrieves is judged too, by a question
            of its own.

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
    asked: ClassVar[Asked] = Asked(
        prompt="language_mismatch",
        verdict="Are question and answer in the same language?",
        passing="same",
        failing="different",
        texts=lambda case: {"question": case.question, "answer": case.actual_output},
    )
