"""Flip rates of verdicts under perturbations.

Rates are grouped by perturbator, intensity, category, metric and model; curves show them along the
intensities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from pytest_evalstudio.analysis.aggregators import Aggregator, Perturbed
from pytest_evalstudio.core.plugins.perturbator import INTENSITIES
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import Interval

Group = Literal["all", "perturbator", "intensity", "category", "metric", "model"]
GROUPS: tuple[Group, ...] = ("all", "perturbator", "intensity", "category", "metric", "model")
COPY = "copy"
"""The perturbator that leaves the text as it is: its flips are the models' own noise."""

_Place = tuple[Group, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRate:
    """Flips among the comparisons of one group.

    A comparison is one metric of a perturbed case and of its original. Perturbations that change the meaning,
    and unchanged copies, count only in the group "perturbator"; all others count in every group.

    Attributes:
        group: property that the comparisons share.
        name: value of that property.
        compared: comparisons with both scores.
        rate: flips in either direction / compared.
        interval: Wilson's, 95 %.
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
    compared: int = 0
    pass_to_fail: int = 0
    fail_to_pass: int = 0
    meaning_kept: bool = True

    @property
    def flips(self) -> int:
        return self.pass_to_fail + self.fail_to_pass

    def add(self, direction: str) -> None:
        self.compared += 1
        self.pass_to_fail += direction == "pass_to_fail"
        self.fail_to_pass += direction == "fail_to_pass"


def flip_rates(aggregator: Aggregator) -> tuple[FlipRate, ...]:
    """Return the flip rates of a run, or an empty tuple if no question was perturbed.

    Groups and intensities have a fixed order; names are sorted.
    """
    counts: dict[_Place, _Count] = {}
    noise: dict[_Place, _Count] = {}
    for entry, pair, direction in comparisons(aggregator):
        label = "+".join(entry.origin.by) or "unknown"
        count = counts.setdefault(("perturbator", label), _Count())
        count.add(direction)
        count.meaning_kept = entry.origin.meaning_kept
        if is_copy(entry) or entry.origin.meaning_kept:
            into = noise if is_copy(entry) else counts
            for group in _places(aggregator, entry, pair):
                into.setdefault(group, _Count()).add(direction)
    order = sorted(counts, key=_order)
    return tuple(
        _rate(group, counts[group], noise.get(group) or noise.get(("all", "all"))) for group in order
    )


def sensitivities(aggregator: Aggregator) -> tuple[Sensitivity, ...]:
    """Return a curve per perturbator and model, for perturbators with intensities that worked alone."""
    counts: dict[tuple[str, str], dict[str, _Count]] = {}
    noise: dict[str, _Count] = {}
    meanings: dict[str, bool] = {}
    for entry, _, direction in comparisons(aggregator):
        if is_copy(entry):
            noise.setdefault(entry.model, _Count()).add(direction)
        if len(entry.origin.by) == 1:
            name, _, level = entry.origin.by[0].partition(":")
            if level in INTENSITIES:
                meanings[name] = entry.origin.meaning_kept
                counts.setdefault((name, entry.model), {}).setdefault(level, _Count()).add(direction)
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


def comparisons(aggregator: Aggregator) -> Iterator[tuple[Perturbed, tuple[str, str], str]]:
    """Yield each perturbed case with each (evaluator, metric) that scored it and its original.

    The third value is the direction of the flip, "" for none.
    """
    metrics = [(id, metric.key) for id, info in aggregator.evaluators.items() for metric in info.flip_metrics]
    for entry in aggregator.perturbed:
        bits = _comparable(aggregator, entry)
        flipped = {(id, metric): direction for id, metric, direction in entry.flips}
        for pair in metrics:
            if bits & aggregator.flip_bit(*pair):
                yield entry, pair, flipped.get(pair, "")


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


def _places(aggregator: Aggregator, entry: Perturbed, pair: tuple[str, str]) -> Iterator[_Place]:
    yield "all", "all"
    for level in sorted({part.partition(":")[2] for part in entry.origin.by} - {""}):
        yield "intensity", level
    for category in sorted(set(entry.categories)):
        yield "category", category
    yield "metric", ".".join(pair)
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
            interval=wilson_interval(count.flips, count.compared),
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
        interval=wilson_interval(count.flips, count.compared),
        meaning_kept=count.meaning_kept,
        noise=noise.flips / noise.compared if noise is not None else None,
        noise_interval=wilson_interval(noise.flips, noise.compared) if noise is not None else None,
    )
