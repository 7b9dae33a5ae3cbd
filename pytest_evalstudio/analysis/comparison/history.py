"""Metrics over several runs: means with intervals, for each metric and model."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from pytest_evalstudio.analysis.comparison.baseline import opened
from pytest_evalstudio.analysis.comparison.changed_tests import changed_parts
from pytest_evalstudio.analysis.comparison.flipping import CaseTrend, flipping_cases
from pytest_evalstudio.analysis.comparison.sides import Identity, Side, SideItem, read_side
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.stats.bca import cluster_bca_intervals
from pytest_evalstudio.stats.intervals import is_binary, wilson_interval
from pytest_evalstudio.stats.types import Interval
from pytest_evalstudio.text.figures import counted, figure, interval

RECORDS = ("*.jsonl", "*.zip")
MAX_FLIPPING = 10
"""Flipping cases that the terminal lists."""
OUTCOME_SIGNS = {"passed": "✓", "failed": "✗", "error": "E"}
_BARS = "▁▂▃▄▅▆▇█"


class RunPoint(Struct, frozen=True, kw_only=True):
    """A run of a history.

    Attributes:
        changed_tests: items whose test is not that of the run before.
        passed, failed, errors: numbers of items; the others were skipped or not run.
        cost_usd, duration_s: sums over the items that report them; None where none does.
    """

    run_id: str
    created: str
    commit: str
    branch: str
    items: int
    changed_tests: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    cost_usd: float | None = None
    duration_s: float | None = None


class Point(Struct, frozen=True, kw_only=True):
    """A metric of one model in one run.

    Attributes:
        n: scored items.
        low, high: 95 % interval; None for fewer than two original cases.
    """

    n: int
    mean: float
    low: float | None
    high: float | None


class Series(Struct, frozen=True, kw_only=True):
    """A metric of one model over all runs, None for a run that did not score it.

    Attributes:
        better: "higher" or "lower".
        range: of the metric.
        change: of the last run since the one before, over the items that both have and whose test did not
            change; None without any.
    """

    evaluator: str
    metric: str
    model: str
    better: str
    range: tuple[float, float]
    points: tuple[Point | None, ...]
    change: float | None = None

    @property
    def name(self) -> str:
        return f"{self.evaluator}.{self.metric}" if self.evaluator else self.metric


class History(Struct, frozen=True, kw_only=True):
    """Several runs, the oldest first.

    Attributes:
        series: primary and asserted metrics.
        operations: pass rate, cost and seconds per answer of each model; their evaluator is "".
        flipping: cases that changed between passing and failing, the most frequent first.
    """

    runs: tuple[RunPoint, ...]
    series: tuple[Series, ...]
    operations: tuple[Series, ...] = ()
    flipping: tuple[CaseTrend, ...] = ()


def record_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return the records that places mean: files, folders of a report, and folders of baselines.

    Raises:
        ConfigurationError: if a place holds none.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir() or (path / "record.jsonl").is_file():
            files.append(path)
            continue
        contents = sorted(file for pattern in RECORDS for file in path.glob(pattern))
        if not contents:
            raise ConfigurationError(
                f"{path}: there are no records here; `pytest -o evalstudio_history={path}` adds one"
            )
        files += contents
    return files


def history(files: Iterable[Path]) -> History:
    """Return the history of records and baselines, ordered by time.

    Raises:
        DataError: if a file is not a record.
    """
    sides: list[Side] = []
    for file in files:
        with opened(file) as reader:
            sides.append(read_side(reader.run, reader.outlines(), answers_of=()))
    sides.sort(key=lambda side: side.run.created)
    return history_of(sides)


def history_of(sides: Sequence[Side]) -> History:
    """Return the history of runs in their order; of a run that is there twice, the last."""
    by_id = {side.run.run_id: side for side in sides}
    unique = [side for side in sides if by_id[side.run.run_id] is side]
    names: dict[tuple[str, str, str], tuple[EvaluatorEntry, Metric]] = {}
    points: list[dict[tuple[str, str, str], Point]] = []
    for side in unique:
        points.append(dict(_points(side)))
        for evaluator in side.run.evaluators.values():
            for metric in evaluator.metrics:
                for _, _, model, _ in side.items:
                    names[evaluator.id, metric.key, model] = (evaluator, metric)
    return History(
        runs=tuple(_run_point(side, before) for before, side in zip([None, *unique], unique, strict=False)),
        series=tuple(
            Series(
                evaluator=name[0],
                metric=name[1],
                model=name[2],
                better=metric.better,
                range=metric.range,
                points=tuple(of_run.get(name) for of_run in points),
                change=_change(unique, name[2], operator.methodcaller("score", name[:2])),
            )
            for name, (_, metric) in sorted(names.items())
            if any(name in of_run for of_run in points)
        ),
        operations=tuple(_operations(unique)),
        flipping=flipping_cases(unique),
    )


def _run_point(side: Side, before: Side | None) -> RunPoint:
    outcomes = Counter(item.outcome for item in side.items.values())
    costs = [item.cost_usd for item in side.items.values() if item.cost_usd is not None]
    seconds = [item.duration_s for item in side.items.values() if item.duration_s is not None]
    return RunPoint(
        run_id=side.run.run_id,
        created=side.run.created,
        commit=side.run.commit,
        branch=side.run.branch,
        items=len(side.items),
        changed_tests=len(_changed_tests(before, side)) if before is not None else 0,
        passed=outcomes["passed"],
        failed=outcomes["failed"],
        errors=outcomes["error"],
        cost_usd=math.fsum(costs) if costs else None,
        # Labs write 0 for a duration that nobody measured.
        duration_s=math.fsum(seconds) if any(seconds) else None,
    )


def _operations(sides: Sequence[Side]) -> Iterator[Series]:
    """Yield pass rate, cost and seconds of each model; what no run recorded is left out."""
    models = dict.fromkeys(model for side in sides for _, _, model, _ in side.items)
    for name, (better, value_of) in OPERATIONS.items():
        for model in models:
            points = tuple(_operation(side, model, value_of) for side in sides)
            # Labs write 0 for a cost and a duration that nobody measured.
            if any(point is not None and (point.mean or name == "pass_rate") for point in points):
                limits = (0.0, 1.0) if name == "pass_rate" else (0.0, math.inf)
                yield Series(
                    evaluator="",
                    metric=name,
                    model=model,
                    better=better,
                    range=limits,
                    points=points,
                    change=_change(sides, model, value_of),
                )


def _changed_tests(base: Side, new: Side) -> frozenset[Identity]:
    """Return the items of both runs whose test is not the same."""
    return frozenset(
        identity
        for identity, item in new.items.items()
        if (earlier := base.items.get(identity)) is not None and changed_parts(earlier.digest, item.digest)
    )


def _change(sides: Sequence[Side], model: str, value_of: Callable[[SideItem], float | None]) -> float | None:
    """Return the change of a mean since the run before, over the items that both have; None without any."""
    if len(sides) < 2:
        return None
    base, new = sides[-2:]
    changed = _changed_tests(base, new)
    pairs = [
        (value_of(base.items[identity]), value_of(item))
        for identity, item in new.items.items()
        if identity[2] == model and identity in base.items and identity not in changed
    ]
    differences = [now - before for before, now in pairs if before is not None and now is not None]
    return float(np.mean(differences)) if differences else None


def _operation(side: Side, model: str, value_of: Callable[[SideItem], float | None]) -> Point | None:
    items = [item for (_, _, label, _), item in side.items.items() if label == model]
    pairs = [(item.cluster, value) for item in items if (value := value_of(item)) is not None]
    return _point(pairs) if pairs else None


def _passes(item: SideItem) -> float | None:
    return float(item.outcome == "passed") if item.outcome in ("passed", "failed", "error") else None


OPERATIONS: Mapping[str, tuple[str, Callable[[SideItem], float | None]]] = {
    "pass_rate": ("higher", _passes),
    "cost_usd": ("lower", lambda item: item.cost_usd),
    "duration_s": ("lower", lambda item: item.duration_s),
}
"""Figures of a model beside its metrics: which direction is better, and the value of an item."""


def history_lines(content: History) -> Iterator[str]:
    """Yield the history for a terminal: the runs, then a line per metric and model."""
    for number, run in enumerate(content.runs, 1):
        commit = f", commit {run.commit[:7]}" if run.commit else ""
        branch = f" ({run.branch})" if run.branch else ""
        changed = f", {counted(run.changed_tests, 'changed test')}" if run.changed_tests else ""
        items = f"{counted(run.items, 'item')}{changed}"
        yield f"{number}. {run.created}{commit}{branch}: {items}, run {run.run_id[:8]}"
    for series in (*content.operations, *content.series):
        last = next(point for point in reversed(series.points) if point is not None)
        bounds = f" {interval(last.low, last.high)}" if last.low is not None and last.high is not None else ""
        change = ""
        if series.change is not None:
            change = f", {figure(series.change, sign=True)} since the run before"
        name = f"{series.name} of {series.model}"
        yield f"{name}: {sparkline(series)} {figure(last.mean)}{bounds}{change}"
    for trend in content.flipping[:MAX_FLIPPING]:
        model = f" of {trend.model}" if trend.model else ""
        yield f"{trend.file}::{trend.key}{model}: {outcome_row(trend)} {counted(trend.flips, 'flip')}"
    if (more := len(content.flipping) - MAX_FLIPPING) > 0:
        yield f"{counted(more, 'more case')} that flip: --json lists all"


def outcome_row(trend: CaseTrend) -> str:
    """Return the outcomes of a case as a row of signs: passed, failed, error; a dot for any other.

    >>> outcomes = ("passed", "failed", "error", "", "skipped")
    >>> outcome_row(CaseTrend(file="f", key="k", model="m", outcomes=outcomes))
    '✓✗E··'
    """
    return "".join(OUTCOME_SIGNS.get(outcome, "·") for outcome in trend.outcomes)


def sparkline(series: Series) -> str:
    """Return a series as a row of bars, from the lowest to the highest mean; a dot for a run without it.

    >>> points = [Point(n=1, mean=value, low=None, high=None) for value in (0.0, 1.0, 0.5)]
    >>> series = Series(
    ...     evaluator="e", metric="m", model="a", better="higher", range=(0.0, 1.0), points=(*points, None)
    ... )
    >>> sparkline(series)
    '▁█▄·'
    """
    values = [point.mean for point in series.points if point is not None]
    low, width = min(values), max(values) - min(values)

    def bar(point: Point | None) -> str:
        if point is None:
            return "·"
        return _BARS[int((point.mean - low) / width * (len(_BARS) - 1))] if width else _BARS[3]

    return "".join(map(bar, series.points))


def _points(side: Side) -> Iterator[tuple[tuple[str, str, str], Point]]:
    by_model: dict[str, list[tuple[tuple[str, str], dict[tuple[str, str], float]]]] = {}
    for (_, _, model, _), item in side.items.items():
        scores = {name: value for name, value in item.scores.items() if value is not None}
        by_model.setdefault(model, []).append((item.cluster, scores))
    for evaluator in side.run.evaluators.values():
        for metric in evaluator.metrics:
            if not (metric.primary or metric.decides):
                continue
            for model, items in by_model.items():
                name = (evaluator.id, metric.key)
                scored = [(cluster, scores[name]) for cluster, scores in items if name in scores]
                if scored:
                    yield (*name, model), _point(scored)


def _point(pairs: Sequence[tuple[tuple[str, str], float]]) -> Point:
    """Return the mean of the values of clusters, with its interval."""
    values = [value for _, value in pairs]
    low, high = _interval([cluster for cluster, _ in pairs], values) or (None, None)
    return Point(n=len(values), mean=float(np.mean(values)), low=low, high=high)


def _interval(clusters: Sequence[tuple[str, str]], values: Sequence[float]) -> Interval | None:
    numbers: dict[tuple[str, str], int] = {}
    groups = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    if is_binary(values):  # as in leaderboards
        return wilson_interval(round(sum(values)), len(values))
    sums = np.bincount(groups, weights=np.asarray(values)).astype(np.float64)
    counts = np.bincount(groups).astype(np.float64)
    return cluster_bca_intervals(sums[:, None], counts[:, None])[0]
