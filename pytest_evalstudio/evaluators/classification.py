"""Classification: the answer is a label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import ModelScore, ScoredRow, Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords, one_line, worst

_EDGE = r"[\s\"'`“”„‘’«».,;:!?*_()\[\]{}<>]+"
_EDGES = re.compile(rf"^{_EDGE}|{_EDGE}$")
_LABEL_CHARS = 60


@evaluator(
    "classification",
    name="Classification",
    domain="classification",
    needs=("expected_output", "actual_output"),
    method=("rules",),
    scope="model",
    keywords=keywords("S", "C O", "evaluation-method-rule-based"),
    problem_type="classification",
)
@dataclass(frozen=True)
class Classification:
    """Answer against expected label: accuracy, macro precision, recall and F1 per model, and the confusion
    matrix.

    A case has its accuracy alone, 1 or 0. With `normalize`, case, white space, and quotes and punctuation
    around a label do not count.
    """

    normalize: bool = True
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
                "Mean over the expected labels of the share of right answers among those that gave it."
            ),
        ),
        Metric(
            "recall",
            "Recall",
            description="Mean over the expected labels of the share of its cases that were answered so.",
        ),
        Metric(
            "f1",
            "F1",
            description="Mean over the expected labels of the harmonic mean of precision and recall.",
        ),
    )

    def label(self, text: str) -> str:
        """The label that a text gives."""
        return normal_label(text) if self.normalize else text

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        if is_empty(case):
            nothing = worst(self.metrics)
            return Outcome.score(
                {"accuracy": nothing.scores["accuracy"], "precision": None, "recall": None, "f1": None},
                reason=nothing.reason,
            )
        right = self.label(case.actual_output) == self.label(case.expected_output)
        shown = (
            f"answered {one_line(case.actual_output, _LABEL_CHARS)!r}, expected"
            f" {one_line(case.expected_output, _LABEL_CHARS)!r}"
        )
        return Outcome.score(
            {"accuracy": float(right), "precision": None, "recall": None, "f1": None},
            reason="" if right else shown,
        )

    def aggregate(self, rows: Iterable[ScoredRow]) -> ModelScore:
        """Model-wide figures over all rows; labels of the table: the expected ones in order, then unexpected
        answers in order.
        """
        pairs = Counter((self.label(row.expected_output), self.label(row.actual_output)) for row in rows)
        if not pairs:
            return ModelScore(scores={})
        expected = sorted({pair[0] for pair in pairs})
        labels = expected + sorted({pair[1] for pair in pairs}.difference(expected))
        table = {"labels": labels, "matrix": [[pairs[row, column] for column in labels] for row in labels]}
        return ModelScore(scores=macro_scores(pairs, expected), table=table)


def macro_scores(pairs: Counter[tuple[str, str]], expected: Sequence[str]) -> dict[str, float]:
    """Accuracy and macro-averaged precision, recall and F1.

    Args:
        pairs: how often (expected label, answered label) occurred.
        expected: labels to average over; a division by zero counts as 0.

    Returns:
        Fractions by metric key, 0.0 to 1.0; higher is better.

    Source: the same as scikit-learn's with average="macro", labels=expected, zero_division=0.

    >>> macro_scores(Counter({("a", "a"): 1, ("b", "a"): 1}), ["a", "b"])
    {'accuracy': 0.5, 'precision': 0.25, 'recall': 0.5, 'f1': 0.3333333333333333}
    """
    truth: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for (label, answer), count in pairs.items():
        truth[label] += count
        answered[answer] += count
    hits = {label: pairs[label, label] for label in expected}
    precision = [hits[label] / answered[label] if answered[label] else 0.0 for label in expected]
    recall = [hits[label] / truth[label] for label in expected]
    f1 = [2 * hits[label] / (truth[label] + answered[label]) for label in expected]
    return {
        "accuracy": sum(hits.values()) / truth.total(),
        "precision": sum(precision) / len(expected),
        "recall": sum(recall) / len(expected),
        "f1": sum(f1) / len(expected),
    }


def normal_label(text: str) -> str:
    """A label without case, and without the blanks, quotes and punctuation around it.

    Signs that tell labels apart (C++, -1) stay, and so does a label that is nothing but punctuation.

    >>> normal_label(' "Very  Positive." ')
    'very positive'
    """
    folded = " ".join(text.casefold().split())
    return _EDGES.sub("", folded) or folded
