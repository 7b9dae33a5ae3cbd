"""Base of the evaluators on text classifiers: probabilities of sentences, the highest of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Fragment
from pytest_evalstudio.core.tools import TextClassifier, Tools, provided
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS
from pytest_evalstudio.evaluators._support import DIGITS
from pytest_evalstudio.metrics.detectors import redact
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.text.claims import Claim
from pytest_evalstudio.text.figures import figure


def all_sentences(case: Case, tools: Tools) -> list[Claim]:
    """Return every sentence of an answer, including short ones such as "Idiot."."""
    text = case.actual_output
    return [Claim(start, end, text[start:end]) for start, end in tools.split_sentences(text)] or [
        Claim(0, len(text), text)
    ]


def classified(
    texts: Sequence[str], classifier: TextClassifier | None, labels: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Return the probabilities of each distinct text, from one call.

    Args:
        texts: texts, possibly repeated.
        classifier: the model.
        labels: case-folded label of the model to label of the evaluator; other labels are ignored.

    Raises:
        EvaluationError: if there is no classifier, or it lacks a label.
    """
    classifier = provided(classifier, "classifier")
    distinct = list(dict.fromkeys(texts))
    rows = classifier.classify(distinct)
    return {text: _known(row, classifier.name, labels) for text, row in zip(distinct, rows, strict=True)}


def _known(row: Mapping[str, float], name: str, labels: Mapping[str, str]) -> dict[str, float]:
    class_labels = {
        labels[label.casefold()]: round(float(value), DIGITS)
        for label, value in row.items()
        if label.casefold() in labels
    }
    if missing := [label for label in dict.fromkeys(labels.values()) if label not in class_labels]:
        raise EvaluationError(
            f"the classifier {name} has no label {', '.join(missing)}; its labels are {', '.join(row)}"
        )
    return class_labels


def highest_fragments(
    texts: Sequence[Claim], rows: Sequence[Mapping[str, float]], metric: str
) -> tuple[Fragment, ...]:
    """Return a fragment per sentence with its scores, in order; of very many the highest ones."""
    top = sorted(
        sorted(range(len(texts)), key=lambda position: (-rows[position][metric], position))[:MAX_FRAGMENTS]
    )
    return tuple(
        Fragment(start=texts[position].start, end=texts[position].end, scores=dict(rows[position]))
        for position in top
    )


def highest_sentence(text: str, texts: Sequence[Claim], scores: Sequence[float], what: str) -> str:
    """Return the sentence with the highest score, without secrets, as the reason of a score."""
    position = max(range(len(texts)), key=lambda index: scores[index])
    start, end = texts[position].start, texts[position].end
    return f"{what} ({figure(scores[position])}): {one_line(redact(text)[start:end])}"
