"""Count of the answers that pass the deciding metrics: the one that steps, pages and conclusion print."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.methods.controls.deciding import (
    FAILED_RESPONSES,
    DecidingMetric,
    case_passes,
)
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.text.figures import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCount:
    """Answers by the deciding metrics alone.

    Attributes:
        passed: number of answers that meet all of them.
        judged: number of answers with a verdict.
        metrics: names of the deciding metrics.
    """

    passed: int
    judged: int
    metrics: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the count in words, with what decides."""
        if not self.metrics:
            return "no metric decides yet"
        failed = counted(self.judged - self.passed, "fails", "fail")
        return f"{self.passed} of {self.judged} answers pass and {failed} by {', '.join(self.metrics)}"


def judged_items(
    record: RecordReader, deciding: Sequence[DecidingMetric], excluded: Collection[str] = ()
) -> Iterator[tuple[Item, bool]]:
    """Yield the items with a verdict by the deciding metrics, and whether they pass.

    Args:
        record: of the evaluation.
        deciding: the metrics that count.
        excluded: keys of the cases that a control contradicts.
    """
    for item in record.items():
        verdict = case_passes(_response(item), _scores(item), deciding)
        if verdict is not None and item.key not in excluded:
            yield item, verdict


def count_passes(
    record: RecordReader, deciding: Sequence[DecidingMetric], excluded: Collection[str] = ()
) -> PassCount:
    """Return the number of answers that pass the deciding metrics; see `judged_items`."""
    verdicts = [passes for _, passes in judged_items(record, deciding, excluded)]
    return PassCount(
        passed=sum(verdicts), judged=len(verdicts), metrics=tuple(metric.metric for metric in deciding)
    )


def _response(item: Item) -> bool | None:
    """Return the verdict on an answer as such: False for no answer, True for an expected refusal."""
    if item.code in FAILED_RESPONSES:
        return False
    expects_refusal = any(row.expects == "refusal" for row in item.rows)
    return True if expects_refusal and item.verdict in ("passed", "xpassed") else None


def _scores(item: Item) -> dict[str, float | None]:
    return {
        f"{id}.{key}": score
        for id, verdict in item.verdicts.items()
        if verdict.status == "score"
        for key, score in verdict.scores.items()
    }
