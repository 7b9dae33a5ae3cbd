"""Answers as people see them, and the metrics that their labels calibrate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.labels import Identity, answer_id
from pytest_evalstudio.record.reader import RecordReader, read_run
from pytest_evalstudio.record.schema import EvaluatorEntry, Item
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer
from pytest_evalstudio.stats.types import Floats

TOPIC = "topic:"


class NothingVaries(ConfigurationError):
    """No metric of an evaluation can be calibrated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCase:
    """An answer as people see it.

    Attributes:
        model: its name.
        context: retrieved texts, each with its source, "" for an unknown one.
        scores: by the metrics that are calibrated, `evaluator.metric`.
        verdict: whether all of these pass; None where none of them has a threshold.
        answer_id: of the answer's text.
        place: position among all answers, by which they are drawn: the score, or its mean rank over several
            metrics.
    """

    key: str
    model_key: str
    model: str
    question: str
    answer: str
    expected: str
    context: tuple[tuple[str, str], ...]
    topic: str
    categories: tuple[str, ...]
    scores: Mapping[str, float]
    verdict: bool | None
    answer_id: str
    place: float = 0.0

    @property
    def identity(self) -> Identity:
        """Return key and model key."""
        return self.key, self.model_key

    def as_json(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        return {
            "key": self.key,
            "model_key": self.model_key,
            "model": self.model,
            "question": self.question,
            "answer": self.answer,
            "expected_answer": self.expected,
            "context": [{"source": source, "text": text} for source, text in self.context],
            "topic": self.topic,
            "categories": list(self.categories),
            "scores": dict(self.scores),
            "verdict": self.verdict,
            "answer_id": self.answer_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPopulation:
    """The answers of an evaluation that have all scores asked for.

    Attributes:
        columns: the metrics that are calibrated.
        cases: by key and model key, in order.
        without_score: how many answers lack one of the scores.
        chosen_by: why these metrics, "" where they were asked for by name.
        primaries: primary metrics of all evaluators whose scores vary and say how much.
    """

    scores: Scores
    columns: tuple[Column, ...]
    cases: tuple[LabelledCase, ...]
    without_score: int
    chosen_by: str = ""
    primaries: tuple[str, ...] = ()

    @property
    def indices(self) -> dict[Identity, int]:
        """Return the position of each case by its identity."""
        return {case.identity: at for at, case in enumerate(self.cases)}

    def values(self, rows: Sequence[int]) -> Floats:
        """Return the scores of some cases, cases × metrics."""
        return np.array(
            [[self.cases[at].scores[column.key] for column in self.columns] for at in rows], dtype=np.float64
        )


def choose_population(
    path: Path, scores: Scores, metrics: Sequence[str], order: Sequence[str] = ()
) -> AnswerPopulation:
    """Return the answers in the record of an evaluation.

    Args:
        path: the record.
        scores: read from it.
        metrics: `evaluator.metric`, or metric keys that one evaluator alone has; none: the primary metric of
            the first evaluator whose scores vary and that says how much, not whether.
        order: evaluators in the order in which one is looked for.

    Raises:
        ConfigurationError: if a metric is none of the evaluation's, or nothing can be calibrated.
    """
    evaluators = read_run(path).evaluators
    names, why = (list(metrics), "") if metrics else _selection(scores, evaluators, order)
    population = population_of(path, scores, [scores.column(name) for name in names], chosen_by=why)
    return replace(population, primaries=tuple(_primaries(scores, evaluators, order)))


def population_of(
    path: Path, scores: Scores, columns: Sequence[Column], *, chosen_by: str = ""
) -> AnswerPopulation:
    """Return the answers in a record that have a score by all given metrics.

    Args:
        columns: metrics.
        path: the record.
        scores: read from it.
        chosen_by: why these metrics.
    """
    cases, missing = [], 0
    for item in RecordReader(path).items():
        if not item.rows:
            missing += 1
            continue
        answer = scores.answers[item.file, item.key, item.model_key]
        by_metric = {column.key: answer.score(column.key) for column in columns}
        values = {key: value for key, value in by_metric.items() if value is not None}
        if len(values) < len(by_metric):
            missing += 1
        else:
            cases.append(_case(item, answer, values, columns, scores.model_names))
    # What is drawn must not depend on the order of the run.
    cases.sort(key=lambda case: case.identity)
    placed = [
        replace(case, place=position) for case, position in zip(cases, _ranks(cases, columns), strict=True)
    ]
    return AnswerPopulation(
        scores=scores,
        columns=tuple(columns),
        cases=tuple(placed),
        without_score=missing,
        chosen_by=chosen_by,
    )


def _selection(
    scores: Scores, evaluators: Mapping[str, EvaluatorEntry], order: Sequence[str]
) -> tuple[list[str], str]:
    """Return the metric that is calibrated where none is named, and the reason."""
    for key in _primaries(scores, evaluators, order):
        id = scores.columns[key].evaluator
        name = evaluators[id].name or id
        return [key], f"the primary metric of {name}, the first evaluator whose scores say how much"
    raise NothingVaries(
        "the automated evaluation has no evaluator with graded scores that vary; if the answers"
        " have scores, add such an evaluator, e.g. lexical_groundedness, or name a metric in"
        " `metric`"
    )


def _primaries(
    scores: Scores, evaluators: Mapping[str, EvaluatorEntry], order: Sequence[str]
) -> Iterator[str]:
    """Yield the primary metrics that can be calibrated, those of the named evaluators first."""
    for id in [*(id for id in order if id in evaluators), *(id for id in evaluators if id not in order)]:
        entry = evaluators[id]
        if not says_how_much(entry):
            continue
        key = measured(id, entry)
        values = {answer.score(key) for answer in scores.answers.values()} - {None}
        if key in scores.columns and len(values) > 1:
            yield key


def says_how_much(entry: EvaluatorEntry) -> bool:
    """Return whether an evaluator can be calibrated: its scores are graded, not only pass or fail."""
    return not entry.boolean and entry.scope != "model"


def measured(id: str, entry: EvaluatorEntry) -> str:
    """Return the primary metric of an evaluator; for a calibrated one, the metric that it calibrates."""
    primary = entry.calibration.get("of") or next(
        (metric.key for metric in entry.metrics if metric.primary), ""
    )
    return f"{id}.{primary}"


def _case(
    item: Item,
    answer: TableAnswer,
    scores: Mapping[str, float],
    columns: Sequence[Column],
    names: Mapping[str, str],
) -> LabelledCase:
    row = item.rows[0]
    sources = row.answer.context_sources
    limits = [column for column in columns if math.isfinite(column.metric.threshold)]
    return LabelledCase(
        key=item.key,
        model_key=item.model_key,
        model=names.get(item.model_key, item.model_key),
        question=row.question,
        answer=row.answer.text,
        expected="\n".join((row.expected_output, *(f"or: {output}" for output in row.accepted_outputs))),
        context=tuple(
            (sources[at] if at < len(sources) else "", text) for at, text in enumerate(row.answer.context)
        ),
        topic=next((name.removeprefix(TOPIC) for name in answer.categories if name.startswith(TOPIC)), ""),
        categories=answer.categories,
        scores=scores,
        verdict=all(column.metric.passes(scores[column.key]) for column in limits) if limits else None,
        answer_id=answer_id(row.answer.text),
    )


def _ranks(cases: Sequence[LabelledCase], columns: Sequence[Column]) -> Iterator[float]:
    """Yield the place of each answer."""
    if len(columns) == 1:
        column = columns[0]
        is_open = column.metric.range[0] >= 0 and math.isinf(column.metric.range[1])
        for case in cases:
            score = case.scores[column.key]
            # As the curves take such a score, see `curves._standardised`.
            yield math.log1p(max(0.0, score)) if is_open else score
        return
    shares = np.zeros(len(cases))
    for column in columns:
        values = np.array([case.scores[column.key] for case in cases])
        better = values if column.metric.better == "higher" else -values
        ordered = np.sort(better)
        # Equal scores share the mean of their ranks.
        shares += (
            (np.searchsorted(ordered, better, "left") + np.searchsorted(ordered, better, "right"))
            / 2
            / max(1, len(cases))
        )
    yield from (shares / len(columns)).tolist()
