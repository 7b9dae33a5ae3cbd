"""What the evaluators share that put labels on an answer: sentences with their probabilities, the worst of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import TextClassifier, Tools
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Fragment
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, is_empty, one_line
from pytest_evalstudio.evaluators._similarity import Sentence
from pytest_evalstudio.evaluators._support import DIGITS
from pytest_evalstudio.metrics.detectors import redact


def all_sentences(case: Case, tools: Tools) -> list[Sentence]:
    """Every sentence of an answer: "Idiot." is short, and says enough; none of an empty answer."""
    if is_empty(case):
        return []
    text = case.actual_output
    return [Sentence(text[start:end], start, end) for start, end in tools.split_sentences(text)] or [
        Sentence(text, 0, len(text))
    ]


def classified(
    texts: Sequence[str], classifier: TextClassifier | None, labels: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Probabilities of each distinct text, from one call.

    Args:
        labels: what the model may call a label, case-folded, to what it is called here; the others are passed
            over.

    Raises:
        EvaluationError: if there is no classifier, or it lacks a label.
    """
    if classifier is None:
        raise EvaluationError("there is no classifier to ask")
    distinct = list(dict.fromkeys(texts))
    found = classifier.classify(distinct)
    return {text: _known(row, classifier.name, labels) for text, row in zip(distinct, found, strict=True)}


def _known(row: Mapping[str, float], name: str, labels: Mapping[str, str]) -> dict[str, float]:
    known = {
        labels[label.casefold()]: round(float(value), DIGITS)
        for label, value in row.items()
        if label.casefold() in labels
    }
    if missing := [label for label in dict.fromkeys(labels.values()) if label not in known]:
        raise EvaluationError(
            f"the classifier {name} has no label {', '.join(missing)}; its labels are {', '.join(row)}"
        )
    return known


def highest_fragments(
    found: Sequence[Sentence], rows: Sequence[Mapping[str, float]], metric: str
) -> tuple[Fragment, ...]:
    """A fragment per sentence with its scores, in order; of very many those are kept that have most of the
    metric.
    """
    kept = sorted(sorted(range(len(found)), key=lambda place: (-rows[place][metric], place))[:MAX_FRAGMENTS])
    return tuple(
        Fragment(start=found[place].start, end=found[place].end, scores=dict(rows[place])) for place in kept
    )


def highest_sentence(text: str, found: Sequence[Sentence], scores: Sequence[float], what: str) -> str:
    """The reason of a score where less is better: its highest sentence, without secrets."""
    place = max(range(len(found)), key=lambda index: scores[index])
    return f"{what} ({scores[place]:.4f}): {one_line(redact(text)[found[place].start : found[place].end])}"
