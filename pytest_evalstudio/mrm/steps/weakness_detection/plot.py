"""Pictures of what `find_weaknesses` found, by file name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_evalstudio.mrm.data.categories import TOPIC
from pytest_evalstudio.mrm.data.results import Scores
from pytest_evalstudio.mrm.steps.weakness_detection.plot_bivariate import Cell, bivariate
from pytest_evalstudio.mrm.steps.weakness_detection.plot_distributions import distributions
from pytest_evalstudio.mrm.steps.weakness_detection.plot_marginals import marginals
from pytest_evalstudio.mrm.steps.weakness_detection.plot_rows import Group, Measure, Panel, measure
from pytest_evalstudio.mrm.steps.weakness_detection.plot_violins import violins
from pytest_evalstudio.mrm.steps.weakness_detection.scored import Scored, scored_cases

MOST_METRICS = 4
"""That have pictures of their own, three each."""
MOST_DISTRIBUTIONS = 20
MOST_DIMENSIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """SVG pictures.

    Attributes:
        files: by name.
        left_out: metrics without pictures of their own.
    """

    files: Mapping[str, str]
    left_out: tuple[str, ...]


def weakness_pictures(scores: Scores, found: Sequence[Mapping[str, Any]], name: str = "") -> Pictures:
    """Distributions of all metrics; of four metrics at most violins, means and the grid of two dimensions.

    Metrics with the most weak cells come first, then those with the most failures. The grid is that of the
    first two dimensions, topics first, the rows are those of the first three.

    Args:
        found: of `find_weaknesses`, for each metric.
        name: of what was evaluated, for the titles.
    """
    cases = {
        one["metric"]: scored_cases(scores, scores.columns[one["metric"]], one["model"])[0] for one in found
    }
    axes = {one["metric"]: _axis(scores, one, cases[one["metric"]]) for one in found}
    of = f" of {name}" if name else ""
    shown = list(found)[:MOST_DISTRIBUTIONS]
    pairs = [(axes[one["metric"]], [case.value for case in cases[one["metric"]]]) for one in shown]
    files = {
        "distributions.svg": distributions(
            f"Scores{of}: {len(shown)} metric{'s' if len(shown) != 1 else ''}", pairs
        )
    }
    chosen = sorted(
        found, key=lambda one: (-one["weak"], -_failing(axes[one["metric"]], cases[one["metric"]]))
    )[:MOST_METRICS]
    for one in (one for one in found if one in chosen):
        metric = one["metric"]
        for kind, picture in _own(one, axes[metric], cases[metric], of).items():
            files[f"{re.sub(r'[^A-Za-z0-9_.-]', '_', metric)}_{kind}.svg"] = picture
    return Pictures(files=files, left_out=tuple(one["metric"] for one in found if one not in chosen))


def _own(found: Mapping[str, Any], axis: Measure, cases: Sequence[Scored], of: str) -> dict[str, str]:
    """The pictures of a metric, by kind."""
    dimensions = sorted(found["by"], key=lambda name: name != TOPIC)[:MOST_DIMENSIONS]
    panels = [_panel(dimension, found, cases) for dimension in dimensions]
    weak = f"{found['weak']} weak" if found["weak"] else "nothing weak"
    files = {
        "marginals": marginals(f"{axis.key}{of}: means by category, {weak}", axis, panels),
        "violins": violins(f"{axis.key}{of}: distributions by category", axis, panels),
    }
    if len(dimensions) > 1:
        pair = dimensions[0], dimensions[1]
        files["bivariate"] = bivariate(
            f"{axis.key}{of}: {pair[0]} and {pair[1]}, {weak}", axis, pair, _grid(pair, found, cases)
        )
    return files


def _axis(scores: Scores, found: Mapping[str, Any], cases: Iterable[Scored]) -> Measure:
    column = scores.columns[found["metric"]]
    return measure(
        column.key, found["better"], found["threshold"], column.metric.range, [case.value for case in cases]
    )


def _failing(axis: Measure, cases: Sequence[Scored]) -> float:
    if axis.threshold is None:
        return 0.0
    beyond = [
        case.value < axis.threshold if axis.better == "higher" else case.value > axis.threshold
        for case in cases
    ]
    return sum(beyond) / len(beyond)


def _panel(dimension: str, found: Mapping[str, Any], cases: Sequence[Scored]) -> Panel:
    weak = {
        cell["by"][dimension] for cell in found["cells"] if cell["weak"] and list(cell["by"]) == [dimension]
    }
    names = sorted({value for case in cases for value in case.about.get(dimension, ())})
    return Panel(
        name=dimension,
        groups=tuple(
            Group(
                name=name,
                values=tuple(case.value for case in cases if name in case.about.get(dimension, ())),
                weak=name in weak,
            )
            for name in names
        ),
    )


def _grid(
    pair: tuple[str, str], found: Mapping[str, Any], cases: Sequence[Scored]
) -> dict[tuple[str, str], Cell]:
    weak = {
        (cell["by"][pair[0]], cell["by"][pair[1]])
        for cell in found["cells"]
        if cell["weak"] and set(cell["by"]) == set(pair)
    }
    values: dict[tuple[str, str], list[float]] = {}
    for case in cases:
        for row in case.about.get(pair[0], ()):
            for column in case.about.get(pair[1], ()):
                values.setdefault((row, column), []).append(case.value)
    return {place: Cell(values=tuple(values[place]), weak=place in weak) for place in sorted(values)}
