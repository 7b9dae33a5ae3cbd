"""One error budget for all runs that were compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import structs

from pytest_evalstudio.analysis.comparison.baseline import baseline_key, opened
from pytest_evalstudio.analysis.comparison.changed_tests import changed_parts
from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits, overall
from pytest_evalstudio.analysis.comparison.results import Comparison, LookBudget, MetricComparison
from pytest_evalstudio.analysis.comparison.sample_size import ALPHA
from pytest_evalstudio.analysis.comparison.sides import Identity, Side, SideItem, read_side
from pytest_evalstudio.record.schema import Run
from pytest_evalstudio.stats.looks import drop_evidence, spent_share
from pytest_evalstudio.stats.types import Floats


def earlier_looks(folder: Path, base: Run, models: Mapping[str, str]) -> list[Side]:
    """Return the runs of a history that were compared with a baseline, the oldest first.

    Args:
        folder: of the history; it may not exist yet.
        base: header of the baseline.
        models: label of a model in another run to its label now.

    Raises:
        DataError: if a file is no record.
    """
    key = baseline_key(base)
    sides = []
    for file in sorted(folder.glob("*.jsonl")):
        with opened(file) as reader:
            if reader.run.compared_with == key:
                sides.append(read_side(reader.run, reader.outlines(), models=models, answers_of=()))
    return sorted(sides, key=lambda side: (side.run.created, side.run.run_id))


def with_budget(
    comparison: Comparison, base: Side, new: Side, looks: Sequence[Side], limits: ComparisonLimits
) -> Comparison:
    """Return a comparison whose metrics are worse only by the evidence of all looks together.

    p and p_adjusted become values that hold at all looks: 1 / evidence, and the same by Bonferroni over the
    metrics that decide. Items, segments and intervals are those of the run alone.

    Args:
        base: baseline.
        new: run of the comparison.
        looks: earlier runs that were compared with the baseline.
        limits: of the verdicts.
    """
    items = dict(_same_tests(base, new))
    runs = [base, *looks, new]
    deciding = sum(metric.decides for metric in comparison.metrics)
    metrics, evidence = [], 0.0
    for metric in comparison.metrics:
        if not metric.decides:
            metrics.append(metric)
            continue
        amount = drop_evidence(_scores(metric, items, runs))
        evidence = max(evidence, amount / deciding)
        metrics.append(_with_evidence(metric, amount, deciding, limits))
    return structs.replace(
        comparison,
        metrics=tuple(metrics),
        verdict=overall(metrics, has_unchecked=bool(comparison.unchecked)),
        budget=LookBudget(
            look=len(looks) + 1, spent=spent_share(len(looks) + 1), evidence=evidence, needed=1 / ALPHA
        ),
    )


def _same_tests(base: Side, new: Side) -> Iterator[tuple[Identity, SideItem]]:
    """Yield the items of a baseline whose test the new run has, too."""
    for identity, item in base.items.items():
        new_item = new.items.get(identity)
        if new_item is not None and not changed_parts(item.digest, new_item.digest):
            yield identity, item


def _scores(metric: MetricComparison, items: Mapping[Identity, SideItem], runs: Sequence[Side]) -> Floats:
    """Return the scores of the original cases of a model, higher is better; shape (runs, cases)."""
    name = (metric.evaluator, metric.metric)
    sign = 1.0 if metric.better == "higher" else -1.0
    rows: dict[tuple[str, str], list[Identity]] = {}
    for identity, item in items.items():
        if identity[2] == metric.model and item.scores.get(name) is not None:
            rows.setdefault(item.cluster, []).append(identity)
    scores = np.full((len(runs), len(rows)), np.nan)
    for row, run in enumerate(runs):
        for column, identities in enumerate(rows.values()):
            values = [
                score
                for identity in identities
                if (of_run := run.items.get(identity)) is not None
                and not changed_parts(items[identity].digest, of_run.digest)
                and (score := of_run.scores.get(name)) is not None
            ]
            if values:
                scores[row, column] = sign * sum(values) / len(values)
    return scores[:, ~np.isnan(scores[-1])]  # cases that this run has scored


def _with_evidence(
    metric: MetricComparison, evidence: float, tests: int, limits: ComparisonLimits
) -> MetricComparison:
    p = min(1.0, 1 / evidence)
    p_adjusted = min(1.0, tests / evidence)
    drop = -metric.difference if metric.better == "higher" else metric.difference
    verdict = metric.verdict
    if p_adjusted <= ALPHA and drop > 0 and limits.are_exceeded(drop, metric.unit):
        verdict = "worse"
    elif verdict == "worse":
        verdict = "inconclusive"
    return structs.replace(metric, p=p, p_adjusted=p_adjusted, verdict=verdict)
