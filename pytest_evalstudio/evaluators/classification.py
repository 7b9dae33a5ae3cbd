"""Classification: the answer is a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import ModelScore, ScoredRow, evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.metrics.classification import (
    confusion_matrix,
    label_scores,
    macro_scores,
)
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.text.comparison import normal_label

_LABEL_CHARS = 60


@evaluator(
    "classification",
    name="Classification",
    difference=(
        "Means over the expected labels (“macro”) of precision, recall and f1; scikit-learn's "
        "default is the positive label."
    ),
    domain="classification",
    needs=("expected_output", "actual_output"),
    method=("rules",),
    scope="model",
    keywords=keywords("S", "C O", "evaluation-method-rule-based"),
    problem_type="classification",
)
@dataclass(frozen=True)
class Classification:
    """Accuracy, macro precision, recall and F1 per model, and the confusion matrix of the labels.

    The matrix has expected labels as rows and answered labels as columns.

    A single case has an accuracy of 1 or 0 only. With `normalize`, case, white space, and quotes and
    punctuation around a label are ignored.

    Attributes:
        normalize: compare labels without regard to case, white space and punctuation around them.
        positive_label: one of two labels; its precision, recall and F1 are reported beside the confusion
            matrix, while the metrics stay means over both labels.

    Source: Eval Studio user guide, classification; figures as scikit-learn computes them.
    """

    normalize: bool = True
    positive_label: str = ""
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "accuracy",
            "Accuracy",
            primary=True,
            description="Share of the answers that are the expected label.",
        ),
        Metric(
            "precision",
            "Precision",
            description=(
                "Mean over the expected labels of the share of correct answers among those with that label."
            ),
        ),
        Metric(
            "recall",
            "Recall",
            description="Mean over the expected labels of the share of its cases that are answered with it.",
        ),
        Metric(
            "f1",
            "F1",
            description="Mean over the expected labels of the harmonic mean of precision and recall.",
        ),
    )

    def label(self, text: str) -> str:
        """Return the label of an answer."""
        return normal_label(text) if self.normalize else text

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        is_correct = self.label(case.actual_output) == self.label(case.expected_output)
        shown = (
            f"answered {one_line(case.actual_output, _LABEL_CHARS)!r}, expected"
            f" {one_line(case.expected_output, _LABEL_CHARS)!r}"
        )
        return Outcome.score(
            # A single answer has no precision or recall of a label; `aggregate` computes them.
            {"accuracy": float(is_correct), "precision": None, "recall": None, "f1": None},
            reason="" if is_correct else shown,
        )

    def aggregate(self, rows: Iterable[ScoredRow]) -> ModelScore:
        """Return the scores of a model over all rows, and its confusion matrix."""
        return self.aggregate_labels(
            Counter((self.label(row.expected_output), self.label(row.actual_output)) for row in rows)
        )

    def aggregate_labels(self, counts: Mapping[tuple[str, str], int]) -> ModelScore:
        """Return the scores of a model from the frequencies of (expected label, answered label)."""
        pairs = Counter(counts)
        if not pairs:
            return ModelScore(scores={})
        labels, matrix = confusion_matrix(pairs)
        # Means over expected labels only: each misspelt answer would otherwise be a label with a recall of 0.
        expected = sorted({pair[0] for pair in pairs})
        table: dict[str, object] = {"labels": labels, "matrix": matrix}
        positive = self.label(self.positive_label)
        if positive:
            table["positive"] = {"label": positive, **label_scores(pairs, positive)}
        return ModelScore(scores=macro_scores(pairs, expected), table=table)
