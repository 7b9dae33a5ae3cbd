"""Global guideline adherence: does the answer keep to the guidelines that hold for every case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._assessments import assessed, question, rated, rating_metric
from pytest_evalstudio.evaluators._judged import asked_texts, judge_keywords


@evaluator(
    "global_guideline_adherence_judge",
    name="Global guideline adherence judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE, "option:global_guidelines"),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class GlobalGuidelineAdherenceJudge:
    """Yes if the answer keeps to all guidelines of the configuration, which hold for every case.

    Attributes:
        global_guidelines: a list of texts, at least one.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    global_guidelines: Sequence[str] = ()
    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric(
            "Global guideline adherence judge", "Share of the answers that keep to all global guidelines."
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("global_guideline_adherence_judge",)

    def __post_init__(self) -> None:
        given = self.global_guidelines
        if isinstance(given, str) or not all(isinstance(one, str) and one.strip() for one in given):
            raise ConfigurationError(
                'global_guidelines: expected a list of texts, e.g. ["The answer is in English."]'
            )
        object.__setattr__(self, "global_guidelines", tuple(given))

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        texts = {**asked_texts(case), "answer": case.actual_output}
        settings = {"guidelines": self.global_guidelines}
        return rated(
            question(
                "global_guideline_adherence_judge",
                texts,
                "Does the answer keep to all guidelines?",
                settings=settings,
            )
        )
