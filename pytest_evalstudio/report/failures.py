"""The worst failures of each evaluator, with their texts, as many as a page can show without scripts."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from pytest_evalstudio.core.outcomes import Fragment, Metric, Verdict
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, RecordRow, Run
from pytest_evalstudio.report.highlight import Segment, segments

ON_A_PAGE = 400
PER_EVALUATOR = 25
TEXT_CHARS = 4_000
CHUNKS = 8


class Text(Struct, frozen=True, kw_only=True):
    """A text of a failure, cut to what a page can show.

    Attributes:
        left_out: number of characters after the cut.
    """

    segments: tuple[Segment, ...]
    left_out: int = 0


class FailedCase(Struct, frozen=True, kw_only=True):
    """Test case that an evaluator failed or could not score.

    Attributes:
        status: "missed" or "error".
        score: score on the primary metric, or None.
        threshold: the one in force for this case.
    """

    nodeid: str
    key: str
    model: str
    status: str
    score: float | None
    threshold: float
    scores: Mapping[str, float | None]
    missed: tuple[str, ...]
    reason: str
    question: Text
    expected: Text
    condition: str
    actual: Text
    context: tuple[Text, ...]
    chunks_left_out: int
    error: str


class FailureBook:
    """Keeps the lowest scores of each evaluator from a stream of items; errors follow missed thresholds.

    Args:
        run: the record's header.
        evaluators: of the run.
    """

    def __init__(self, run: Run, evaluators: Mapping[str, EvaluatorEntry]) -> None:
        self.total = dict.fromkeys(evaluators, 0)
        self._run = run
        self._evaluators = evaluators
        self._limit = max(5, min(PER_EVALUATOR, ON_A_PAGE // max(1, len(evaluators))))
        self._heaps: dict[str, list[tuple[float, int, FailedCase]]] = {id: [] for id in evaluators}
        self._count = 0

    def add(self, item: Item) -> None:
        """Take one item of the record."""
        for id, verdict in item.verdicts.items():
            if (
                id in self._evaluators
                and item.rows
                and (verdict.passed is False or verdict.status == "error")
            ):
                self._keep(self._evaluators[id], item, verdict)

    def worst(self, evaluator: str) -> list[FailedCase]:
        """Return the kept failures, the lowest score first."""
        return [
            failure
            for _, _, failure in sorted(self._heaps[evaluator], key=lambda entry: (-entry[0], -entry[1]))
        ]

    def left_out(self, evaluator: str) -> int:
        """Return the number of failures that are not kept."""
        return self.total[evaluator] - len(self._heaps[evaluator])

    def _keep(self, info: EvaluatorEntry, item: Item, verdict: Verdict) -> None:
        self.total[info.id] += 1
        # Falls, so that of equal scores the first items are kept; unique, so that cases are never compared.
        self._count -= 1
        badness = _badness(info.primary, verdict.scores)
        heap = self._heaps[info.id]
        if len(heap) < self._limit:
            heapq.heappush(heap, (badness, self._count, self._failure(info, item, verdict)))
        elif (badness, self._count) > heap[0][:2]:
            heapq.heapreplace(heap, (badness, self._count, self._failure(info, item, verdict)))

    def _failure(self, info: EvaluatorEntry, item: Item, verdict: Verdict) -> FailedCase:
        row = worst_row(info, item.rows)
        outcome = row.outcomes.get(info.id)
        marks = outcome.fragments if outcome is not None else ()
        metric = info.sentence_metric
        reason = verdict.reason or (outcome.reason if outcome is not None else "")
        return FailedCase(
            nodeid=item.nodeid,
            key=item.key,
            model=self._run.model_name(item.model_key),
            status="error" if verdict.status == "error" else "missed",
            score=verdict.scores.get(info.primary.key),
            threshold=verdict.thresholds.get(info.primary.key, info.primary.threshold),
            scores=verdict.scores,
            missed=verdict.missed,
            reason=_cut(reason),
            question=_text(row.question),
            expected=_text(row.expected_by(info.id)),
            condition=_cut(row.condition),
            actual=_text(row.answer.text, marks, metric),
            context=tuple(
                _text(chunk, marks, metric, f"context:{i}")
                for i, chunk in enumerate(row.answer.context[:CHUNKS])
            ),
            chunks_left_out=max(0, len(row.answer.context) - CHUNKS),
            error=_cut(row.answer.error),
        )


def _badness(metric: Metric, scores: Mapping[str, float | None]) -> float:
    score = scores.get(metric.key)
    if score is None:
        return -math.inf
    return -score if metric.better == "higher" else score


def worst_row(info: EvaluatorEntry, rows: Sequence[RecordRow]) -> RecordRow:
    """Return the repeat with the worst score; an error comes before any score."""

    def badness(row: RecordRow) -> float:
        outcome = row.outcomes.get(info.id)
        if outcome is None:
            return -math.inf
        return math.inf if outcome.status == "error" else _badness(info.primary, outcome.scores)

    return max(rows, key=badness)


def _text(
    text: str, marks: Sequence[Fragment] = (), metric: Metric | None = None, part: str = "answer"
) -> Text:
    shown = text[:TEXT_CHARS]
    parts = segments(shown, marks, metric, part) if metric is not None else [Segment(shown)]
    return Text(segments=tuple(parts), left_out=len(text) - len(shown))


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_CHARS else text[:TEXT_CHARS] + " …"
