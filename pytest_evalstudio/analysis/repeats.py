"""Repeats of a run: reliability of each model and evaluator, flaky cases, and what sequential tests saved."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct, field

from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, Run, Stopping
from pytest_evalstudio.stats.bootstrap import cluster_bootstrap_intervals
from pytest_evalstudio.stats.repeats import pass_at_k, pass_hat_k
from pytest_evalstudio.stats.sequential import Characteristics, Sprt, characteristics
from pytest_evalstudio.stats.types import Integers, Interval

MAX_FLAKY = 100
"""Flaky cases that an analysis lists."""
MAX_RUNS = 10_000
"""A test of more repeats is not one that a configuration allows."""
SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Values of k of pass@k and pass^k, as far as there are repeats."""
_BROKEN = ("failed", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """A mean over items.

    Attributes:
        items: number of items.
        interval: 95 %, bootstrap over original cases; None for fewer than two.
    """

    value: float
    items: int
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassEstimates:
    """pass@k and pass^k for one k.

    Attributes:
        any_pass: probability that at least one of k repeats passes.
        all_pass: probability that all of k repeats pass.
    """

    k: int
    any_pass: MeanEstimate
    all_pass: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatFigures:
    """Reliability of one model under one evaluator.

    Attributes:
        metric: the primary one.
        model: key.
        fewest_runs, most_runs: repeats of an item.
        mean: of the items' means.
        minimum: mean of the items' least scores.
        passes: by k; an item with fewer than k repeats is left out. Of items with a sequential test, only
            the repeats count that are asked for in any case, since the number of the others depends on the
            answers.
    """

    evaluator: str
    metric: str
    model: str
    name: str
    fewest_runs: int
    most_runs: int
    mean: MeanEstimate | None
    minimum: MeanEstimate | None
    passes: tuple[PassEstimates, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyCase:
    """An item that both passes and fails.

    Attributes:
        name: of the model.
        over: "repeats" of the question, or "attempts" of a plugin that runs items again.
        failed: of `total` repeats or attempts.
    """

    nodeid: str
    key: str
    name: str
    over: Literal["repeats", "attempts"]
    failed: int
    total: int

    @property
    def rate(self) -> float:
        """Return the share of repeats or attempts that fail."""
        return self.failed / self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingFigures:
    """The sequential test of one model.

    Attributes:
        good, bad: exact behaviour for cases of the pass rates p0 and p1.
        items: number of items that ended, by decision: pass, fail, inconclusive.
        asked: repeats that were asked for.
        saved: repeats that a fixed number would have asked for in addition.
    """

    model: str
    name: str
    design: Sprt
    good: Characteristics
    bad: Characteristics
    items: Mapping[str, int]
    asked: int
    saved: int


class RepeatAnalysis(Struct, frozen=True, kw_only=True):
    """Repeats of a run.

    Attributes:
        flaky: cases that both pass and fail, the first of the run.
        flaky_items: number of all of them.
    """

    figures: tuple[RepeatFigures, ...] = ()
    flaky: tuple[FlakyCase, ...] = ()
    flaky_items: int = 0
    stopping: tuple[StoppingFigures, ...] = ()


NO_REPEATS = RepeatAnalysis()


class _Repeats(Struct):
    """Repeats of the items of one model and evaluator; one entry per item."""

    clusters: array[int] = field(default_factory=lambda: array("L"))
    means: array[float] = field(default_factory=lambda: array("d"))
    minima: array[float] = field(default_factory=lambda: array("d"))
    runs: array[int] = field(default_factory=lambda: array("L"))
    totals: array[int] = field(default_factory=lambda: array("L"))
    passed: array[int] = field(default_factory=lambda: array("L"))


class RepeatAggregator:
    """Collects the repeats of a run, item by item.

    Args:
        run: header of the record.
        evaluators: of the run.
    """

    def __init__(self, run: Run, evaluators: Mapping[str, EvaluatorEntry]) -> None:
        self._run = run
        self._primary = {id: info.primary.key for id, info in evaluators.items()}
        self._repeats: dict[tuple[str, str], _Repeats] = {}
        self._designs = {
            key: design
            for key, entry in run.models.items()
            if entry.stopping is not None and (design := _design(entry.stopping)) is not None
        }
        self._ends: dict[str, Counter[str]] = {}
        self._asked: Counter[str] = Counter()
        self._saved: Counter[str] = Counter()
        self._flaky: list[FlakyCase] = []
        self._flaky_items = 0

    def add(self, item: Item, cluster: int) -> None:
        """Take one item.

        Args:
            item: of the record.
            cluster: number of its case.
        """
        if item.max_runs and item.rows and item.model_key in self._designs:
            self._end(item)
        for id, verdict in item.verdicts.items():
            if verdict.repeats and id in self._primary:
                self._take(item, id, verdict, cluster)
        if len(item.rows) > 1 or item.flaky:
            self._note_flaky(item)

    def analysis(self, originals: Callable[[], Sequence[int]]) -> RepeatAnalysis:
        """Return the figures of all items.

        Args:
            originals: returns for each case the number of its original case.
        """
        clusters = np.array(originals() if self._repeats else (), dtype=np.int64)
        return RepeatAnalysis(
            figures=tuple(self._figures(id, model, clusters) for id, model in sorted(self._repeats)),
            flaky=tuple(self._flaky),
            flaky_items=self._flaky_items,
            stopping=tuple(self._stopping(model, design) for model, design in self._designs.items()),
        )

    def _end(self, item: Item) -> None:
        decisions = {verdict.stopped for verdict in item.verdicts.values()} - {""}
        end = next((word for word in ("fail", "inconclusive", "pass") if word in decisions), "")
        if end:
            self._ends.setdefault(item.model_key, Counter())[end] += 1
        self._asked[item.model_key] += len(item.rows)
        self._saved[item.model_key] += max(0, item.max_runs - len(item.rows))

    def _take(self, item: Item, id: str, verdict: Verdict, cluster: int) -> None:
        repeats = self._repeats.setdefault((id, item.model_key), _Repeats())
        metric = self._primary[id]
        mean, least = verdict.scores.get(metric), verdict.min.get(metric)
        sample = verdict.repeats
        if item.max_runs and item.model_key in self._designs:
            sample = sample[: self._designs[item.model_key].first_look]
        repeats.clusters.append(cluster)
        repeats.runs.append(len(verdict.repeats))
        repeats.means.append(np.nan if mean is None else mean)
        repeats.minima.append(np.nan if least is None else least)
        repeats.passed.append(sample.count(True))
        repeats.totals.append(sample.count(True) + sample.count(False))

    def _note_flaky(self, item: Item) -> None:
        states = _states_of_repeats(item)
        passed, failed = states.count(True), states.count(False)
        if passed and failed:
            self._flaky_case(item, "repeats", failed, passed + failed)
        elif item.flaky and item.part == 0:
            broken = sum(attempt.verdict in _BROKEN for attempt in item.attempts)
            self._flaky_case(item, "attempts", broken, len(item.attempts) + 1)

    def _flaky_case(self, item: Item, over: Literal["repeats", "attempts"], failed: int, total: int) -> None:
        self._flaky_items += 1
        if len(self._flaky) < MAX_FLAKY:
            name = self._run.model_name(item.model_key)
            self._flaky.append(
                FlakyCase(nodeid=item.nodeid, key=item.key, name=name, over=over, failed=failed, total=total)
            )

    def _figures(self, id: str, model: str, originals: Integers) -> RepeatFigures:
        repeats = self._repeats[id, model]
        clusters = originals[np.array(repeats.clusters, dtype=np.int64)]
        totals = np.array(repeats.totals, dtype=np.int64)
        passes = []
        for k in _sizes(int(totals.max())):
            values = [_of_k(pass_at_k, repeats, k), _of_k(pass_hat_k, repeats, k)]
            any_pass, all_pass = (_estimate(column, clusters) for column in values)
            if any_pass is not None and all_pass is not None:
                passes.append(PassEstimates(k=k, any_pass=any_pass, all_pass=all_pass))
        return RepeatFigures(
            evaluator=id,
            metric=self._primary[id],
            model=model,
            name=self._run.model_name(model),
            fewest_runs=min(repeats.runs),
            most_runs=max(repeats.runs),
            mean=_estimate(repeats.means, clusters),
            minimum=_estimate(repeats.minima, clusters),
            passes=tuple(passes),
        )

    def _stopping(self, model: str, design: Sprt) -> StoppingFigures:
        ends = self._ends.get(model, Counter())
        return StoppingFigures(
            model=model,
            name=self._run.model_name(model),
            design=design,
            good=characteristics(design, design.p0),
            bad=characteristics(design, design.p1),
            items={word: ends[word] for word in ("pass", "fail", "inconclusive")},
            asked=self._asked[model],
            saved=self._saved[model],
        )


def _design(entry: Stopping) -> Sprt | None:
    """Return the test of a record, None if the record was changed so that it is none."""
    if entry.max_runs > MAX_RUNS:
        return None
    try:
        return Sprt(max_runs=entry.max_runs, p0=entry.p0, p1=entry.p1, alpha=entry.alpha, beta=entry.beta)
    except ValueError:
        return None


def _states_of_repeats(item: Item) -> list[bool | None]:
    """Return for each repeat whether all evaluators pass it, None where none says."""
    if item.perturbed is not None and not item.perturbed.meaning_kept:
        return []
    columns = [verdict.repeats for verdict in item.verdicts.values() if verdict.repeats]
    return [_joint_state(states) for states in zip(*columns, strict=False)]


def _joint_state(states: Sequence[bool | None]) -> bool | None:
    if False in states:
        return False
    return True if True in states else None


def _sizes(most: int) -> list[int]:
    """Return the values of k for up to so many repeats, that number included."""
    return sorted({k for k in SIZES if k <= most} | ({most} if most else set()))


def _of_k(estimator: Callable[[int, int, int], float], repeats: _Repeats, k: int) -> list[float]:
    return [
        estimator(total, passed, k) if total >= k else np.nan
        for total, passed in zip(repeats.totals, repeats.passed, strict=True)
    ]


def _estimate(values: Sequence[float] | array[float], clusters: Integers) -> MeanEstimate | None:
    numbers = np.array(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    if not finite.any():
        return None
    _, groups = np.unique(clusters[finite], return_inverse=True)
    sums = np.bincount(groups, weights=numbers[finite])[:, None].astype(np.float64)
    counts = np.bincount(groups)[:, None].astype(np.float64)
    return MeanEstimate(
        value=float(numbers[finite].mean()),
        items=int(finite.sum()),
        interval=cluster_bootstrap_intervals(sums, counts)[0],
    )
