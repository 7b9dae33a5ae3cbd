"""Segments of a comparison: groups of cases that got worse, whatever the others did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pytest_evalstudio.analysis.comparison.metrics import ModelPairs
from pytest_evalstudio.analysis.comparison.results import SegmentComparison
from pytest_evalstudio.analysis.comparison.sample_size import ALPHA
from pytest_evalstudio.analysis.comparison.sides import Segment, SideItem
from pytest_evalstudio.stats.segments import fallen_groups

MIN_CHANGED = 5
"""Cases of a segment that changed; with fewer, no order of their signs is rare enough."""
MAX_SEGMENTS = 500
_STEPS = {("passed", "failed"): -1.0, ("failed", "passed"): 1.0}
"""Change of an item. One that fails in both runs by other evaluators has none: its reverse is the same."""


def compare_segments(pairs: ModelPairs) -> tuple[SegmentComparison, ...]:
    """Return the segments that were tested, the most likely drop first.

    A segment has some of the cases of a model, and at least `MIN_CHANGED` of them pass in one run alone,
    which the signs of the test do not change. Segments with the same cases are one, with several names.
    Perturbations and repeats belong to their case.
    """
    steps = [
        (model, new, step)
        for model, matched in pairs.items()
        for base, new in matched
        if (step := _STEPS.get((base.outcome, new.outcome), 0.0))
    ]
    columns = _columns(pairs, steps)
    if not columns:
        return ()
    rows: dict[tuple[str, str], int] = {}
    for _, item, _ in steps:
        rows.setdefault(item.cluster, len(rows))
    sums = np.zeros((len(rows), len(columns)))
    for number, column in enumerate(columns):
        for item, step in column.changed:
            sums[rows[item.cluster], number] += step
    p_values, adjusted = fallen_groups(sums)
    compared = [
        column.compared(p, p_adjusted)
        for column, p, p_adjusted in zip(columns, p_values, adjusted, strict=True)
    ]
    return tuple(sorted(compared, key=lambda each: (each.p_adjusted, each.p)))


class _Column:
    """A segment of a model, with the items of it that regressed or got fixed."""

    def __init__(self, model: str, cases: int, changed: Sequence[tuple[SideItem, float]]) -> None:
        self.names: list[Segment] = []
        self.changed = changed
        self._model = model
        self._cases = cases

    def compared(self, p: float, p_adjusted: float) -> SegmentComparison:
        """Return the segment with its test."""
        return SegmentComparison(
            names=tuple(f"{kind} {value}" for kind, value in self.names),
            model=self._model,
            n=self._cases,
            regressed=sum(step < 0 for _, step in self.changed),
            fixed=sum(step > 0 for _, step in self.changed),
            p=p,
            p_adjusted=p_adjusted,
            is_worse=p_adjusted <= ALPHA,
            keys=tuple(item.cluster[1] for item, step in self.changed if step < 0),
        )


def _columns(pairs: ModelPairs, steps: Iterable[tuple[str, SideItem, float]]) -> list[_Column]:
    changed: dict[tuple[str, Segment], list[tuple[SideItem, float]]] = {}
    for model, item, step in steps:
        for segment in item.segments:
            changed.setdefault((model, segment), []).append((item, step))
    columns: dict[tuple[str, int, tuple[int, ...]], _Column] = {}
    for model, matched in pairs.items():
        sizes: dict[Segment, int] = {}
        for _, item in matched:
            for segment in item.segments:
                sizes[segment] = sizes.get(segment, 0) + 1
        for segment, size in sizes.items():
            items = changed.get((model, segment), [])
            # All cases of a model are tested by its metrics.
            if size == len(matched) or len({item.cluster for item, _ in items}) < MIN_CHANGED:
                continue
            identity = (model, size, tuple(id(item) for item, _ in items))
            columns.setdefault(identity, _Column(model, size, items)).names.append(segment)
    return list(columns.values())[:MAX_SEGMENTS]
