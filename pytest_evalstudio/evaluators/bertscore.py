"""BERTScore: how much of the answer and of the expected answer find each other, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools, provided
from pytest_evalstudio.evaluators._common import keywords

_KEYS = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
_DIGITS = 6
"""Decimals of a score: what a model computes in batches of other sizes differs from the seventh on."""


@evaluator(
    "bertscore",
    name="BERTScore",
    difference="Without rescaling and without idf weights, which other tools use or offer.",
    domain="summarization",
    needs=("expected_output", "actual_output"),
    requires=("module:bert_score", "token_matcher:roberta-large"),
    method=("embeddings",),
    extra="models",
    keywords=keywords("S", "C O", "evaluation-method-embeddings"),
    problem_type="summarization",
)
@dataclass(frozen=True)
class BertScore:
    """Greedy cosine matches of contextual token embeddings, by the bert-score package.

    The figures are bert-score's own, without idf weights and rescaling; those below 0 count 0. Long texts
    are read in windows. `num_layers` is needed only for models that bert-score does not know.

    Source: Zhang et al., 2020 (BERTScore).
    """

    model: str = "roberta-large"
    num_layers: int | None = None
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "bertscore_precision",
            "BERTScore precision",
            description="Mean over the answer's tokens of the best cosine with an expected token.",
        ),
        Metric(
            "bertscore_recall",
            "BERTScore recall",
            description="Mean over the expected tokens of the best cosine with a token of the answer.",
        ),
        Metric(
            "bertscore_f1", "BERTScore F1", primary=True, description="Harmonic mean of precision and recall."
        ),
    )

    def __post_init__(self) -> None:
        if self.num_layers is not None and self.num_layers < 1:
            raise ConfigurationError(f"num_layers = {self.num_layers}: expected 1 or more layers")

    @property
    def requires(self) -> tuple[str, ...]:
        """Requirements for scoring, given the options."""
        return ("module:bert_score", f"token_matcher:{self.model}")

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        pairs = list(dict.fromkeys((case.actual_output, case.expected_output) for case in cases))
        token_matcher = provided(tools.token_matcher, "model of bert-score")
        matched = token_matcher(self.model, self.num_layers).match(pairs)
        by_pair = {pair: _outcome(numbers) for pair, numbers in zip(pairs, matched, strict=True)}
        return [by_pair[case.actual_output, case.expected_output] for case in cases]


def _outcome(numbers: Sequence[float]) -> Outcome:
    return Outcome.score(
        {
            key: round(min(1.0, max(0.0, value)), _DIGITS) + 0.0  # adding 0.0 makes -0.0 positive
            for key, value in zip(_KEYS, numbers, strict=True)
        }
    )
