"""How often a perturbed question turns a verdict: by perturbator, intensity, category, metric and model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.engine.analysis.run_info import model_name
from pytest_evalstudio.engine.analysis.statistics import Interval, wilson_interval
from pytest_evalstudio.engine.analysis.tallies import Perturbed, Tally

Group = Literal["all", "perturbator", "intensity", "category", "metric", "model"]
GROUPS: tuple[Group, ...] = ("all", "perturbator", "intensity", "category", "metric", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRate:
    """Flips among the comparisons of one group; a comparison is one metric of a perturbed case and of its original.

    Attributes:
        group: what the comparisons have in common.
        name: which one of that group.
        compared: comparisons with both scores in this run.
        rate: flips in either direction / compared; the line of `copy` is the models' own noise.
        interval: Wilson's, 95 %.
        meaning_kept: False where the perturbation changes what is asked, None where no flip tells.
    """

    group: Group
    name: str
    compared: int
    pass_to_fail: int
    fail_to_pass: int
    rate: float
    interval: Interval
    meaning_kept: bool | None = None


@dataclass(slots=True)
class _Count:
    compared: int = 0
    pass_to_fail: int = 0
    fail_to_pass: int = 0
    meaning_kept: bool | None = None


def flip_rates(tally: Tally) -> tuple[FlipRate, ...]:
    """The rates of a run, group by group, names in order; empty where nothing was perturbed."""
    counts: dict[tuple[Group, str], _Count] = {}
    metrics = [(id, metric.key) for id, info in tally.evaluators.items() for metric in info.flip_metrics]
    for entry in tally.perturbed:
        bits = _comparable(tally, entry)
        if not bits:
            continue
        groups = list(_groups(tally, entry))
        flipped = {(id, metric): (direction, entry.origin.meaning_kept) for id, metric, direction in entry.flips}
        for pair in metrics:
            if not bits & tally.flip_bit(*pair):
                continue
            direction, kept = flipped.get(pair, ("", None))
            for place in (*groups, ("metric", ".".join(pair))):
                _count(counts.setdefault(place, _Count()), direction, kept)
    order = sorted(counts, key=lambda place: (GROUPS.index(place[0]), place[1]))
    return tuple(_rate(place, counts[place]) for place in order)


def _comparable(tally: Tally, entry: Perturbed) -> int:
    source = tally.cases.ids.get(tally.cases.sources.get(entry.case, ("", "")))
    if source is None:
        return 0
    return tally.scored_bits.get((entry.case, entry.model), 0) & tally.scored_bits.get((source, entry.model), 0)


def _groups(tally: Tally, entry: Perturbed) -> Iterator[tuple[Group, str]]:
    yield "all", "all"
    yield "perturbator", "+".join(entry.origin.by) or "unknown"
    for level in sorted({part.partition(":")[2] for part in entry.origin.by} - {""}):
        yield "intensity", level
    for category in sorted(set(entry.categories)):
        yield "category", category
    yield "model", model_name(tally.header, entry.model)


def _count(count: _Count, direction: str, kept: bool | None) -> None:
    count.compared += 1
    count.pass_to_fail += direction == "pass_to_fail"
    count.fail_to_pass += direction == "fail_to_pass"
    if kept is not None:
        count.meaning_kept = kept


def _rate(place: tuple[Group, str], count: _Count) -> FlipRate:
    flips = count.pass_to_fail + count.fail_to_pass
    return FlipRate(
        group=place[0],
        name=place[1],
        compared=count.compared,
        pass_to_fail=count.pass_to_fail,
        fail_to_pass=count.fail_to_pass,
        rate=flips / count.compared,
        interval=wilson_interval(flips, count.compared),
        meaning_kept=count.meaning_kept if place[0] == "perturbator" else None,
    )
