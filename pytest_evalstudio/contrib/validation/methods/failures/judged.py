"""Test cases of an evaluation with the evaluators that they fail, read from its record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from pytest_evalstudio.analysis.aggregators import visible_categories
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.errors import unknown_name
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, RecordRow


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricMiss:
    """A metric beyond its threshold."""

    evaluator: str
    metric: str
    score: float | None
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """A test case with a verdict.

    Attributes:
        missed: the metrics that fail it; none where it passed.
        failed: whether any of the wanted evaluators fails it.
    """

    key: str
    question: str
    answer: str
    categories: tuple[str, ...]
    missed: tuple[MetricMiss, ...]
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The judged test cases of a record, in its order.

    Attributes:
        left_out: how many were not judged, by reason.
    """

    cases: tuple[JudgedCase, ...]
    evaluators: Mapping[str, EvaluatorEntry]
    left_out: Mapping[str, int]


def read_evaluation(
    path: Path, metric_keys: Sequence[str] = (), thresholds: Mapping[str, float] = NOTHING
) -> Evaluation:
    """Return the cases of a record that passed or failed, without perturbed ones.

    Args:
        path: of the record.
        metric_keys: `evaluator` or `evaluator.metric` whose verdicts count; all evaluators' where not given.
        thresholds: `evaluator.metric` to threshold, in place of the record's.

    Raises:
        ConfigurationError: for an evaluator or metric that the record does not have.
        DataError: if the record cannot be read.
    """
    record = RecordReader(path)
    evaluators = {id: _with(info, thresholds) for id, info in record.run.evaluators.items()}
    _check(metric_keys, evaluators)
    cases = []
    left_out = {"perturbed": 0, "without a verdict": 0}
    for item in record.items():
        row = next(iter(item.rows), None)
        if row is None:
            left_out["without a verdict"] += 1
        elif any(link.type == SOURCE for link in row.relationships):
            left_out["perturbed"] += 1
        else:
            judged = _judged(item, row, evaluators, metric_keys, thresholds)
            if judged is None:
                left_out["without a verdict"] += 1
            else:
                cases.append(judged)
    return Evaluation(cases=tuple(cases), evaluators=evaluators, left_out=left_out)


def _check(metric_keys: Iterable[str], evaluators: Mapping[str, EvaluatorEntry]) -> None:
    names = [
        *evaluators,
        *(f"{id}.{metric.key}" for id, info in evaluators.items() for metric in info.judged_metrics),
    ]
    for name in metric_keys:
        if name not in names:
            raise unknown_name(
                "evaluator or metric with a threshold", name, names, "The automated evaluation had others."
            )


def _with(info: EvaluatorEntry, thresholds: Mapping[str, float]) -> EvaluatorEntry:
    metrics = tuple(
        structs.replace(metric, threshold=thresholds.get(f"{info.id}.{metric.key}", metric.threshold))
        for metric in info.metrics
    )
    return structs.replace(info, metrics=metrics)


def _judged(
    item: Item,
    row: RecordRow,
    evaluators: Mapping[str, EvaluatorEntry],
    metric_keys: Sequence[str],
    thresholds: Mapping[str, float],
) -> JudgedCase | None:
    names = metric_keys or tuple(evaluators)
    verdicts = [
        misses
        for name in names
        if (misses := _verdict(name, item.verdicts, evaluators, thresholds)) is not None
    ]
    if not verdicts:
        return None
    missed = tuple(miss for misses in verdicts for miss in misses)
    return JudgedCase(
        key=item.key,
        question=row.question,
        answer=row.answer.text,
        categories=tuple(visible_categories(row.categories)),
        missed=missed,
        failed=bool(missed),
    )


def _verdict(
    name: str,
    verdicts: Mapping[str, Verdict],
    evaluators: Mapping[str, EvaluatorEntry],
    thresholds: Mapping[str, float],
) -> list[MetricMiss] | None:
    """Return the misses of an evaluator or of one of its metrics; None where there is no verdict."""
    id, _, key = name.partition(".") if name not in evaluators else (name, "", "")
    verdict = verdicts.get(id)
    if verdict is None or verdict.status != "score" or (not key and verdict.passed is None):
        return None
    return list(_misses(evaluators[id], key, verdict, thresholds))


def _misses(
    info: EvaluatorEntry, key: str, verdict: Verdict, thresholds: Mapping[str, float]
) -> Iterator[MetricMiss]:
    """Yield the metrics that a case fails.

    Deciding metrics count as in the verdict; those named, or with another threshold, by their score.
    """
    for metric in info.metrics:
        if key not in ("", metric.key) or not (key or metric.key in info.asserted):
            continue
        score = verdict.scores.get(metric.key)
        fails = metric.key in verdict.missed
        if metric.key not in info.asserted or f"{info.id}.{metric.key}" in thresholds:
            fails = score is not None and math.isfinite(metric.threshold) and not metric.passes(score)
        if fails:
            yield MetricMiss(evaluator=info.id, metric=metric.key, score=score, threshold=metric.threshold)
