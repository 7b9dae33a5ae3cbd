"""ROUGE: how much of the expected wording the answer has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords, worst
from pytest_evalstudio.evaluators._rouge import Stems, rouge_l, rouge_n


@evaluator(
    "rouge",
    name="ROUGE",
    domain="summarization",
    needs=("expected_output", "actual_output"),
    method=("ngrams",),
    keywords=keywords("S", "C O", "evaluation-method-ngram"),
    problem_type="summarization",
)
@dataclass(frozen=True)
class Rouge:
    """F1 of the words, word pairs and longest common word sequence of answer and expected output, after
    Porter stemming.

    Words are runs of Latin letters and digits, as in the rouge-score package: other scripts have no ROUGE.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("rouge_1", "ROUGE-1", description="F1 of the words."),
        Metric("rouge_2", "ROUGE-2", description="F1 of the word pairs."),
        Metric(
            "rouge_l", "ROUGE-L", primary=True, description="F1 of the longest common subsequence of words."
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        stems = Stems()
        return [self._score(case, stems) for case in cases]

    def _score(self, case: Case, stems: Stems) -> Outcome:
        if is_empty(case):
            return worst(self.metrics)
        expected = stems(case.expected_output)
        if not expected:
            return Outcome.not_applicable(
                "the expected output has no Latin letter or digit, which is all that ROUGE reads"
            )
        answer = stems(case.actual_output)
        scores = {
            "rouge_1": rouge_n(expected, answer, 1),
            "rouge_2": rouge_n(expected, answer, 2),
            "rouge_l": rouge_l(expected, answer),
        }
        return Outcome.score(scores, reason="" if answer else "the answer has no Latin letter or digit")
