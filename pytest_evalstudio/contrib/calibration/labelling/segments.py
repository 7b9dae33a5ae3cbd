"""Labels by segment: models and categories whose answers people have hardly labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_evalstudio.formats.labels import Identity
from pytest_evalstudio.record.score_table import TableAnswer

MIN_SHARE = 0.5
"""Share of the labelled answers of all, below which a segment has few labels."""
_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentLabels:
    """Labels of the answers of one segment.

    Attributes:
        dimension: "model", or the part of a category before its colon; "category" for one without.
        answers: number of answers with a score.
        labelled: number of them with a label that counts.
    """

    dimension: str
    name: str
    answers: int
    labelled: int


def segment_labels(
    answers: Iterable[TableAnswer], labelled: Container[Identity]
) -> tuple[SegmentLabels, ...]:
    """Return the labels of each segment, those with the smallest share first.

    Args:
        answers: with a score by the calibrated metrics.
        labelled: key and model key of the answers with a label that counts.
    """
    totals: Counter[tuple[str, str]] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for answer in answers:
        has_label = (answer.key, answer.model_key) in labelled
        for segment in _segments(answer):
            totals[segment] += 1
            counts[segment] += has_label
    segments = [
        SegmentLabels(dimension=dimension, name=name, answers=total, labelled=counts[dimension, name])
        for (dimension, name), total in totals.items()
    ]
    return tuple(sorted(segments, key=lambda each: (each.labelled / each.answers, each.dimension, each.name)))


def segment_lines(segments: Sequence[SegmentLabels]) -> Iterator[str]:
    """Yield a line on the segments with few labels: their errors are not known from these labels.

    >>> segment = SegmentLabels(dimension="topic", name="fees", answers=12, labelled=0)
    >>> model = SegmentLabels(dimension="model", name="m", answers=40, labelled=20)
    >>> list(segment_lines([segment, model]))
    ['few labels: topic fees 0 of 12 answers (all: 20 of 40); the figures say little of them']
    """
    models = [segment for segment in segments if segment.dimension == "model"]
    answers, labelled = (sum(getattr(each, name) for each in models) for name in ("answers", "labelled"))
    share = labelled / answers if answers else 0.0
    few = [each for each in segments if each.labelled < MIN_SHARE * share * each.answers]
    if not few:
        return
    shown = ", ".join(
        f"{each.dimension} {each.name} {each.labelled} of {each.answers} answers" for each in few[:_SHOWN]
    )
    more = f" and {len(few) - _SHOWN} more" if len(few) > _SHOWN else ""
    yield f"few labels: {shown}{more} (all: {labelled} of {answers}); the figures say little of them"


def _segments(answer: TableAnswer) -> Iterator[tuple[str, str]]:
    yield "model", answer.model_key
    for category in dict.fromkeys(answer.categories):
        dimension, colon, name = category.partition(":")
        yield (dimension, name) if colon else ("category", category)
