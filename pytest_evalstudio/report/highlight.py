"""Highlights in a text: segments that together contain every character exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from pytest_evalstudio.core.outcomes import Fragment, Metric
from pytest_evalstudio.text.figures import figure

Level = Literal["", "good", "bad", "found"]
_WORST_FIRST: tuple[Level, ...] = ("found", "bad", "good", "")
_SNIPPET_CHARS = 120
"""Characters of a snippet on each side of its mark."""
_Covering = tuple[int, float, int, int, Fragment]
"""Level, badness, position in the order of the starts, end, and the fragment."""


class Segment(Struct, frozen=True):
    """A stretch of a text with its rating and note.

    Attributes:
        level: "good" or "bad" by its score, "found" for a finding without a score, "" for nothing.
        note: score and message, for people.
        scores: scores of the worst fragment that covers it.
    """

    text: str
    level: Level = ""
    note: str = ""
    scores: Mapping[str, float] | None = None
    message: str = ""


def snippet(parts: Sequence[Segment]) -> list[Segment]:
    """Return the worst marked stretch with the words around it; nothing without a bad or found one.

    >>> [part.text for part in snippet([Segment("a " * 90), Segment("4111", "found"), Segment(" b")])][1:]
    ['4111', ' b']
    """
    bad = [position for position, part in enumerate(parts) if part.level in ("found", "bad")]
    if not bad:
        return []
    first = min(bad, key=lambda position: _WORST_FIRST.index(parts[position].level))
    before = "".join(part.text for part in parts[:first])
    after = "".join(part.text for part in parts[first + 1 :])
    if len(before) > _SNIPPET_CHARS:
        before = "… " + before[-_SNIPPET_CHARS:].partition(" ")[2]
    if len(after) > _SNIPPET_CHARS:
        after = after[:_SNIPPET_CHARS].rpartition(" ")[0] + " …"
    return [part for part in (Segment(before), parts[first], Segment(after)) if part.text]


def segments(text: str, fragments: Iterable[Fragment], metric: Metric, part: str = "answer") -> list[Segment]:
    """Cut a text at its fragments; where they overlap the worst one counts.

    Args:
        fragments: fragments of the record; those of other parts or outside of the text are left out.
        metric: the one whose score decides between good and bad.

    Returns:
        Stretches that, joined, are the text.
    """
    spans = [
        (max(0, mark.start), min(len(text), mark.end), mark)
        for mark in fragments
        if mark.part == part and max(0, mark.start) < min(len(text), mark.end)
    ]
    if not spans:
        return [Segment(text)] if text else []
    cuts = sorted({0, len(text), *(start for start, _, _ in spans), *(end for _, end, _ in spans)})
    spans.sort(key=lambda span: span[0], reverse=True)
    stretches: list[tuple[int, int, Fragment | None]] = []
    covering: list[_Covering] = []
    """A heap, the worst fragment first."""
    for start, end in pairwise(cuts):
        while spans and spans[-1][0] <= start:
            _, last, mark = spans.pop()
            heappush(covering, (*_badness(mark, metric), -len(spans), last, mark))
        while covering and covering[0][3] <= start:
            heappop(covering)
        worst = covering[0][4] if covering else None
        if stretches and stretches[-1][2] is worst:
            start = stretches.pop()[0]
        stretches.append((start, end, worst))
    return [_segment(text[start:end], worst, metric) for start, end, worst in stretches]


def _segment(text: str, mark: Fragment | None, metric: Metric) -> Segment:
    if mark is None:
        return Segment(text)
    score = mark.scores.get(metric.key)
    notes = [f"{metric.name} {figure(score)}" if score is not None else "", mark.message]
    return Segment(text, _level(mark, metric), ": ".join(filter(None, notes)), mark.scores, mark.message)


def _level(mark: Fragment, metric: Metric) -> Level:
    score = mark.scores.get(metric.key)
    if score is None:
        return "found"
    return "good" if metric.passes(score) else "bad"


def _badness(mark: Fragment, metric: Metric) -> tuple[int, float]:
    """Return level and score so that the worst fragment sorts first."""
    score = mark.scores.get(metric.key, 0.0)
    return _WORST_FIRST.index(_level(mark, metric)), score if metric.better == "higher" else -score
