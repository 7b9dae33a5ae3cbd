"""Pictures of weak categories by file name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.methods.categories import TOPIC
from pytest_evalstudio.contrib.validation.methods.weaknesses.plot_bivariate import PairCell, bivariate
from pytest_evalstudio.contrib.validation.methods.weaknesses.plot_distributions import distributions
from pytest_evalstudio.contrib.validation.methods.weaknesses.plot_marginals import marginals
from pytest_evalstudio.contrib.validation.methods.weaknesses.plot_rows import (
    DimensionPanel,
    Group,
    MetricAxis,
    measure,
)
from pytest_evalstudio.contrib.validation.methods.weaknesses.plot_violins import violins
from pytest_evalstudio.contrib.validation.methods.weaknesses.results import MetricWeaknesses
from pytest_evalstudio.contrib.validation.methods.weaknesses.scored import ScoredCase, scored_cases
from pytest_evalstudio.record.score_table import Scores

MAX_METRICS = 4
"""With three further pictures each."""
MAX_DISTRIBUTIONS = 20
MAX_DIMENSIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WeaknessPictures:
    """SVG pictures.

    Attributes:
        files: by name.
        left_out: metrics that are on the picture of the distributions only.
    """

    files: Mapping[str, str]
    left_out: tuple[str, ...]


def weakness_pictures(
    scores: Scores, weaknesses: Sequence[MetricWeaknesses], name: str = ""
) -> WeaknessPictures:
    """Draw the distributions of all metrics, and the violins, means and grid of up to four metrics.

    Metrics with the most weak cells come first, then those with the most failures. The grid shows the first
    two dimensions, topics first; the rows show the first three.

    Args:
        scores: of the answers.
        weaknesses: of each metric.
        name: of the evaluated workflow, for the titles.
    """
    cases = {
        weak.metric: scored_cases(scores, scores.columns[weak.metric], weak.model)[0] for weak in weaknesses
    }
    axes = {weak.metric: _axis(scores, weak, cases[weak.metric]) for weak in weaknesses}
    of = f" of {name}" if name else ""
    shown = list(weaknesses)[:MAX_DISTRIBUTIONS]
    pairs = [(axes[weak.metric], [case.value for case in cases[weak.metric]]) for weak in shown]
    files = {
        "distributions.svg": distributions(
            f"Scores{of}: {len(shown)} metric{'s' if len(shown) != 1 else ''}", pairs
        )
    }
    ranked = sorted(
        weaknesses, key=lambda weak: (-weak.weak, -_failing(axes[weak.metric], cases[weak.metric]))
    )
    metrics = {weak.metric for weak in ranked[:MAX_METRICS]}
    for weak in weaknesses:
        if weak.metric in metrics:
            stem = re.sub(r"[^A-Za-z0-9_.-]", "_", weak.metric)
            for kind, picture in _of_metric(weak, axes[weak.metric], cases[weak.metric], of).items():
                files[f"{stem}_{kind}.svg"] = picture
    left_out = tuple(weak.metric for weak in weaknesses if weak.metric not in metrics)
    return WeaknessPictures(files=files, left_out=left_out)


def _of_metric(
    weaknesses: MetricWeaknesses, axis: MetricAxis, cases: Sequence[ScoredCase], of: str
) -> dict[str, str]:
    """Return the pictures of a metric by kind."""
    dimensions = sorted(weaknesses.by, key=lambda name: name != TOPIC)[:MAX_DIMENSIONS]
    panels = [_panel(dimension, weaknesses, cases) for dimension in dimensions]
    weak = f"{weaknesses.weak} weak" if weaknesses.weak else "nothing weak"
    files = {
        "marginals": marginals(f"{axis.key}{of}: means by category, {weak}", axis, panels),
        "violins": violins(f"{axis.key}{of}: distributions by category", axis, panels),
    }
    if len(dimensions) > 1:
        pair = dimensions[0], dimensions[1]
        files["bivariate"] = bivariate(
            f"{axis.key}{of}: {pair[0]} and {pair[1]}, {weak}", axis, pair, _grid(pair, weaknesses, cases)
        )
    return files


def _axis(scores: Scores, weaknesses: MetricWeaknesses, cases: Iterable[ScoredCase]) -> MetricAxis:
    ends = scores.columns[weaknesses.metric].metric.range
    values = [case.value for case in cases]
    return measure(weaknesses.metric, weaknesses.better, weaknesses.threshold, ends, values)


def _failing(axis: MetricAxis, cases: Sequence[ScoredCase]) -> float:
    if axis.threshold is None:
        return 0.0
    beyond = [
        case.value < axis.threshold if axis.better == "higher" else case.value > axis.threshold
        for case in cases
    ]
    return sum(beyond) / len(beyond)


def _panel(dimension: str, weaknesses: MetricWeaknesses, cases: Sequence[ScoredCase]) -> DimensionPanel:
    weak = {cell.by[dimension] for cell in weaknesses.weak_cells if list(cell.by) == [dimension]}
    names = sorted({value for case in cases for value in case.categories.get(dimension, ())})
    return DimensionPanel(
        name=dimension,
        groups=tuple(
            Group(
                name=name,
                values=tuple(case.value for case in cases if name in case.categories.get(dimension, ())),
                weak=name in weak,
            )
            for name in names
        ),
    )


def _grid(
    pair: tuple[str, str], weaknesses: MetricWeaknesses, cases: Sequence[ScoredCase]
) -> dict[tuple[str, str], PairCell]:
    weak = {
        (cell.by[pair[0]], cell.by[pair[1]]) for cell in weaknesses.weak_cells if set(cell.by) == set(pair)
    }
    values: dict[tuple[str, str], list[float]] = {}
    for case in cases:
        for row in case.categories.get(pair[0], ()):
            for column in case.categories.get(pair[1], ()):
                values.setdefault((row, column), []).append(case.value)
    return {
        cell_key: PairCell(values=tuple(values[cell_key]), weak=cell_key in weak)
        for cell_key in sorted(values)
    }
