"""Sentiment of texts by a classifier, or by the lexicon if there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.tools import TextClassifier
from pytest_evalstudio.metrics.sentiment import lexicon_sentiment


def sentiments(texts: Sequence[str], classifier: TextClassifier | None) -> dict[str, float]:
    """Return the sentiment of each distinct text, -1.0 (negative) to 1.0 (positive).

    Args:
        texts: texts, possibly repeated.
        classifier: model with labels that begin with "pos" and "neg", whose probabilities are subtracted;
            None for the lexicon.

    Raises:
        EvaluationError: if the classifier has no such labels.
    """
    distinct = list(dict.fromkeys(texts))
    if classifier is None:
        return {text: lexicon_sentiment(text) for text in distinct}
    return {
        text: _balance(row, classifier.name)
        for text, row in zip(distinct, classifier.classify(distinct), strict=True)
    }


def _balance(row: Mapping[str, float], name: str) -> float:
    probabilities = {}
    for sign in ("pos", "neg"):
        labels = [label for label in row if label.casefold().startswith(sign)]
        if not labels:
            raise EvaluationError(
                f"the classifier {name} has no label that begins with {sign!r}; its labels are"
                f" {', '.join(row)}"
            )
        probabilities[sign] = float(row[labels[0]])
    return max(-1.0, min(1.0, probabilities["pos"] - probabilities["neg"]))
