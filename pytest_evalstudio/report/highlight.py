"""Which stretches of a text stand out, so that every character of it appears exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.engine.analysis.run_info import number

Level = Literal["", "good", "bad", "found"]
_WORST_FIRST: tuple[Level, ...] = ("found", "bad", "good", "")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a text, and what is to be said of it.

    Attributes:
        level: "good" or "bad" by its score, "found" for a finding without a score, "" for nothing.
        note: score and message, for people.
        scores: of the worst fragment that covers it.
    """

    text: str
    level: Level = ""
    note: str = ""
    scores: Mapping[str, float] | None = None
    message: str = ""


def segments(text: str, fragments: Iterable[Mapping[str, Any]], metric: Metric, part: str = "answer") -> list[Segment]:
    """Cut a text at its fragments; where they overlap the worst one counts.

    Args:
        fragments: of the record; those of other parts, and what lies outside the text, are left out.
        metric: the one whose score decides between good and bad.

    Returns:
        Stretches that, joined, are the text.
    """
    spans = [
        (max(0, entry["start"]), min(len(text), entry["end"]), entry)
        for entry in fragments
        if entry.get("part", "answer") == part and max(0, entry["start"]) < min(len(text), entry["end"])
    ]
    if not spans:
        return [Segment(text)] if text else []
    cuts = sorted({0, len(text), *(start for start, _, _ in spans), *(end for _, end, _ in spans)})
    spans.sort(key=lambda span: span[0], reverse=True)
    stretches: list[tuple[int, int, Mapping[str, Any] | None]] = []
    covering: list[tuple[int, int, Mapping[str, Any]]] = []
    for start, end in pairwise(cuts):
        covering = [span for span in covering if span[1] > start]
        while spans and spans[-1][0] <= start:
            covering.append(spans.pop())
        worst = _worst([entry for _, _, entry in covering], metric)
        if stretches and stretches[-1][2] is worst:
            start = stretches.pop()[0]
        stretches.append((start, end, worst))
    return [_segment(text[start:end], worst, metric) for start, end, worst in stretches]


def _worst(covering: Sequence[Mapping[str, Any]], metric: Metric) -> Mapping[str, Any] | None:
    return min(covering, key=lambda entry: (_WORST_FIRST.index(_level(entry, metric)), _badness(entry, metric)), default=None)


def _segment(text: str, entry: Mapping[str, Any] | None, metric: Metric) -> Segment:
    if entry is None:
        return Segment(text)
    scores, message = entry.get("scores", {}), entry.get("message", "")
    score = scores.get(metric.key)
    said = [f"{metric.name} {number(score):.4g}" if score is not None else "", message]
    return Segment(text, _level(entry, metric), ": ".join(part for part in said if part), scores, message)


def _level(entry: Mapping[str, Any], metric: Metric) -> Level:
    score = entry.get("scores", {}).get(metric.key)
    if score is None:
        return "found"
    return "good" if metric.passes(number(score)) else "bad"


def _badness(entry: Mapping[str, Any], metric: Metric) -> float:
    score = entry.get("scores", {}).get(metric.key)
    value = 0.0 if score is None else number(score)
    return value if metric.better == "higher" else -value
