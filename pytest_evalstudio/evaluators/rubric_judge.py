"""Rubric judge: one criterion on a scale of the user's own, with a description of each grade."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.judging import JUDGE, Flow, Question, asked_texts, independent
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import choice, record, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._assessments import REASON_CHARS
from pytest_evalstudio.evaluators._judged import fault_outcome, judge_keywords, judged
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.text.figures import figure

BEST = 10
"""Highest grade of a scale."""


@evaluator(
    "rubric_judge",
    name="Rubric judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE, "option:criterion", "option:grades"),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class RubricJudge:
    """Grade of the answer by one criterion, on a scale whose grades are described.

    With `logprobs = true` of the judge's host, the score is the expectation over the probabilities of the
    grades, else the grade. Another scale than 1 to 5 needs a threshold of its own.

    Attributes:
        criterion: its name, e.g. "Politeness".
        definition: what it means, in a sentence or two.
        grades: grade to its description, e.g. {1 = "It insults the customer.", 5 = "…"}; two or more whole
            numbers from 0 to 10, the highest one for the best answer.
        with_reference: show the expected output to the judge; the case must have one.
        with_context: show the retrieved chunks to the judge; the case must have some.

    Source: Liu et al., 2023 (G-Eval); the prompt is of this project.
    """

    criterion: str = ""
    definition: str = ""
    grades: Mapping[str, str] = field(default_factory=dict)
    with_reference: bool = False
    with_context: bool = False
    applies_to_refusals: ClassVar[bool] = True
    reads_all_outputs: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "grade",
            "Grade",
            range=(0.0, float(BEST)),
            threshold=4.0,
            primary=True,
            description="Grade, or its expectation over the judge's probabilities.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("rubric_judge",)

    def __post_init__(self) -> None:
        if not self.grades:  # the option is missing, which its requirement says
            return
        for grade, anchor in self.grades.items():
            if not (str(grade).isascii() and str(grade).isdigit() and int(grade) <= BEST):
                raise ConfigurationError(f"grades: expected whole numbers from 0 to {BEST}, found {grade!r}")
            if not isinstance(anchor, str) or not anchor.strip():
                raise ConfigurationError(f"grades.{grade}: expected a description, found {anchor!r}")
        if len({int(grade) for grade in self.grades}) < max(2, len(self.grades)):
            raise ConfigurationError(
                "grades: expected two or more different grades, each with its description"
            )

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the needs of the texts that the judge is to see."""
        further = [("expected_output", self.with_reference), ("context", self.with_context)]
        return ("question", "actual_output", *(name for name, is_shown in further if is_shown))

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        grades = sorted(self.grades.items(), key=lambda entry: -int(entry[0]))
        texts: dict[str, str | Sequence[str]] = {**asked_texts(case), "actual_output": case.actual_output}
        if self.with_reference:
            texts["expected_answer"] = case.reference
        if self.with_context:
            texts["context"] = case.context
        [reply] = yield [
            Question(
                prompt="rubric_judge",
                texts=texts,
                settings={"criterion": self.criterion, "definition": self.definition, "grades": grades},
                reply=record(
                    evidence=text("The words of the answer that decide, in one to three sentences."),
                    grade=choice("The grade.", *(str(int(grade)) for grade, _ in grades)),
                ),
                consistency=independent,
                graded="grade",
            )
        ]
        if reply.fault is not None:
            return fault_outcome(reply.fault)
        grade, evidence = int(reply["grade"]), one_line(reply["evidence"], REASON_CHARS)
        on_scale = {int(name) for name in self.grades}
        probabilities = {int(name): value for name, value in reply.grades.items() if int(name) in on_scale}
        expected = _expectation(probabilities) if grade in probabilities else float(grade)
        spread = {str(name): probabilities[name] for name in sorted(probabilities)}
        return Outcome.score(
            {"grade": expected},
            reason=f"{self.criterion} {figure(expected)}: {evidence}",
            details={"grade": grade, "evidence": reply["evidence"], **non_empty(probabilities=spread)},
        )


def _expectation(probabilities: Mapping[int, float]) -> float:
    total = math.fsum(probabilities.values())
    return math.fsum(grade * value for grade, value in probabilities.items()) / total
