"""Flip rates of verdicts under perturbations.

A rate counts pairs of a question and its perturbation: a pair flips if any metric that decides tests flips.
Rates are grouped by perturbator, intensity, category, metric and model; curves show them along the
intensities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_evalstudio.analysis.aggregators import Aggregator, Perturbed
from pytest_evalstudio.core.plugins.perturbator import INTENSITIES
from pytest_evalstudio.stats.types import Interval

Group = Literal["all", "perturbator", "intensity", "category", "metric", "model"]
GROUPS: tuple[Group, ...] = ("all", "perturbator", "intensity", "category", "metric", "model")
COPY = "copy"
"""The perturbator that leaves the text as it is: its flips are the models' own noise."""

_Place = tuple[Group, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRate:
    """Flips among the pairs of one group: a perturbed case and its original under one model.

    In the group "metric" one metric of the pairs is compared, in all others any metric that decides tests.
    Perturbations that change the meaning, and unchanged copies, count only in the group "perturbator"; all
    others count in every group.

    Attributes:
        group: property that the pairs share.
        name: value of that property.
        compared: pairs with both scores.
        pass_to_fail: pairs with a metric that passes for the original and fails for the perturbed case.
        fail_to_pass: pairs in which metrics flip the other way alone.
        rate: flips in either direction / compared.
        interval: 95 %, with the questions as clusters.
        meaning_kept: False if the perturbation changes the question, so that the answer may change.
        noise, noise_interval: the same rate of unchanged copies: of the same metric, model or category, else
            of all; None without copies.
    """

    group: Group
    name: str
    compared: int
    pass_to_fail: int
    fail_to_pass: int
    rate: float
    interval: Interval
    meaning_kept: bool = True
    noise: float | None = None
    noise_interval: Interval | None = None

    @property
    def flips(self) -> int:
        return self.pass_to_fail + self.fail_to_pass


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityPoint:
    """The flips at one intensity."""

    intensity: str
    compared: int
    flips: int
    rate: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """A model's flips by the intensity of one perturbator.

    Attributes:
        model: key of the model.
        points: in the order of the intensities; at least one.
        noise: the model's flip rate on unchanged copies, None without any.
    """

    perturbator: str
    model: str
    model_name: str
    meaning_kept: bool
    points: tuple[SensitivityPoint, ...]
    noise: float | None


class _Count(Struct):
    pass_to_fail: int = 0
    fail_to_pass: int = 0
    meaning_kept: bool = True
    compared_of: Counter[int] = field(default_factory=Counter)
    flips_of: Counter[int] = field(default_factory=Counter)
    """Pairs and flips by question."""

    @property
    def compared(self) -> int:
        return self.compared_of.total()

    @property
    def flips(self) -> int:
        return self.pass_to_fail + self.fail_to_pass

    @property
    def interval(self) -> Interval:
        from pytest_evalstudio.stats.clustered import clustered_share  # most runs perturb nothing

        totals = list(self.compared_of.values())
        share = clustered_share([self.flips_of[question] for question in self.compared_of], totals)
        return share.interval() or (0.0, 1.0)

    def add(self, pair: _Pair) -> None:
        self.compared_of[pair.question] += 1
        self.flips_of[pair.question] += bool(pair.direction)
        self.pass_to_fail += pair.direction == "pass_to_fail"
        self.fail_to_pass += pair.direction == "fail_to_pass"


class _Pair(Struct, frozen=True):
    """A perturbed case and its original under one model.

    Attributes:
        entry: the perturbed case.
        question: number of the original.
        directions: (evaluator, metric) that both cases have a score for, to the direction of its flip.
        direction: of the pair, "" for no flip.
    """

    entry: Perturbed
    question: int
    directions: Mapping[tuple[str, str], str]
    direction: str


def flip_rates(aggregator: Aggregator) -> tuple[FlipRate, ...]:
    """Return the flip rates of a run, or an empty tuple if no question was perturbed.

    Groups and intensities have a fixed order; names are sorted.
    """
    counts: dict[_Place, _Count] = {}
    noise: dict[_Place, _Count] = {}
    for pair in _pairs(aggregator):
        entry = pair.entry
        label = "+".join(entry.origin.by) or "unknown"
        count = counts.setdefault(("perturbator", label), _Count())
        count.add(pair)
        count.meaning_kept = entry.origin.meaning_kept
        if is_copy(entry) or entry.origin.meaning_kept:
            into = noise if is_copy(entry) else counts
            for group in _places(aggregator, entry):
                into.setdefault(group, _Count()).add(pair)
            for metric, direction in pair.directions.items():
                of_metric = replace(pair, direction=direction)
                into.setdefault(("metric", ".".join(metric)), _Count()).add(of_metric)
    order = sorted(counts, key=_order)
    return tuple(
        _rate(group, counts[group], noise.get(group) or noise.get(("all", "all"))) for group in order
    )


def sensitivities(aggregator: Aggregator) -> tuple[Sensitivity, ...]:
    """Return a curve per perturbator and model, for perturbators with intensities that worked alone."""
    counts: dict[tuple[str, str], dict[str, _Count]] = {}
    noise: dict[str, _Count] = {}
    meanings: dict[str, bool] = {}
    for pair in _pairs(aggregator):
        entry = pair.entry
        if is_copy(entry):
            noise.setdefault(entry.model, _Count()).add(pair)
        if len(entry.origin.by) == 1:
            name, _, level = entry.origin.by[0].partition(":")
            if level in INTENSITIES:
                meanings[name] = entry.origin.meaning_kept
                counts.setdefault((name, entry.model), {}).setdefault(level, _Count()).add(pair)
    return tuple(
        Sensitivity(
            perturbator=name,
            model=model,
            model_name=aggregator.run.model_name(model),
            meaning_kept=meanings[name],
            points=_points(counts[name, model]),
            noise=noise[model].flips / noise[model].compared if model in noise else None,
        )
        for name, model in sorted(
            counts, key=lambda pair: (pair[0], aggregator.run.model_name(pair[1]), pair[1])
        )
    )


def _pairs(aggregator: Aggregator) -> Iterator[_Pair]:
    """Yield each perturbed case with its original, where a metric scored both.

    Metrics that decide no test say nothing about a pair, unless none decides any.
    """
    metrics = {
        (id, metric.key): metric.decides
        for id, info in aggregator.evaluators.items()
        for metric in info.flip_metrics
    }
    originals = aggregator.cases.originals()
    for entry in aggregator.perturbed:
        bits = _comparable(aggregator, entry)
        flipped = {(id, metric): direction for id, metric, direction in entry.flips}
        directions = {
            metric: flipped.get(metric, "") for metric in metrics if bits & aggregator.flip_bit(*metric)
        }
        deciding = [metric for metric in directions if metrics[metric]] or list(directions)
        if directions:
            flips = {directions[metric] for metric in deciding}
            direction = "pass_to_fail" if "pass_to_fail" in flips else max(flips)
            yield _Pair(entry, originals[entry.case], directions, direction)


def is_copy(entry: Perturbed) -> bool:
    """Return True if the question was repeated without a change."""
    return bool(entry.origin.by) and all(name.partition(":")[0] == COPY for name in entry.origin.by)


def _comparable(aggregator: Aggregator, entry: Perturbed) -> int:
    """Return the bits of the metrics that both cases have scores for.

    For an original that is not in the record, the bits that the record of the perturbed case keeps are used.
    """
    case_bits = aggregator.scored_bits.get((entry.case, entry.model), 0)
    source = aggregator.cases.ids.get(aggregator.cases.sources.get(entry.case, ("", "")))
    there = None if source is None else aggregator.scored_bits.get((source, entry.model))
    return case_bits & (entry.companion_bits if there is None else there)


def _places(aggregator: Aggregator, entry: Perturbed) -> Iterator[_Place]:
    yield "all", "all"
    for level in sorted({part.partition(":")[2] for part in entry.origin.by} - {""}):
        yield "intensity", level
    for category in sorted(set(entry.categories)):
        yield "category", category
    yield "model", aggregator.run.model_name(entry.model)


def _order(group_key: _Place) -> tuple[int, str, int, str]:
    """Return the sort key: order of groups, then names, then intensities from few edits to many."""
    group, name = group_key
    head, _, level = ("", "", name) if group == "intensity" else name.rpartition(":")
    position = next((number for number, position in enumerate(INTENSITIES) if position == level), -1)
    return GROUPS.index(group), head if position >= 0 else name, position, name


def _points(by_level: Mapping[str, _Count]) -> tuple[SensitivityPoint, ...]:
    return tuple(
        SensitivityPoint(
            intensity=level,
            compared=count.compared,
            flips=count.flips,
            rate=count.flips / count.compared,
            interval=count.interval,
        )
        for level in INTENSITIES
        if (count := by_level.get(level)) is not None
    )


def _rate(group: _Place, count: _Count, noise: _Count | None) -> FlipRate:
    return FlipRate(
        group=group[0],
        name=group[1],
        compared=count.compared,
        pass_to_fail=count.pass_to_fail,
        fail_to_pass=count.fail_to_pass,
        rate=count.flips / count.compared,
        interval=count.interval,
        meaning_kept=count.meaning_kept,
        noise=noise.flips / noise.compared if noise is not None else None,
        noise_interval=noise.interval if noise is not None else None,
    )
