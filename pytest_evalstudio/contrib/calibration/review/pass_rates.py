"""Pass rates of a run by an evaluator's verdicts, corrected by people's labels of some answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct

from pytest_evalstudio.contrib.calibration.labelling.agreement import Agreement, agreement_lines
from pytest_evalstudio.contrib.calibration.labelling.cases import AnswerPopulation
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn
from pytest_evalstudio.contrib.calibration.labelling.segments import (
    SegmentLabels,
    segment_labels,
    segment_lines,
)
from pytest_evalstudio.contrib.calibration.labelling.state import labelling_of
from pytest_evalstudio.contrib.calibration.review.sample import check_sample, population_strata
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.labels import read_inclusion, read_ratings
from pytest_evalstudio.record.score_table import TableAnswer, originals
from pytest_evalstudio.stats.prediction_powered import PoweredEstimate, PredictionPowered
from pytest_evalstudio.stats.types import Booleans, Floats, Integers

_MIN_LABELS = 8
"""For an estimate of a model; the interval relies on the variance of this many labels."""


class PassRate(Struct, frozen=True, kw_only=True):
    """Rate of good answers, or its difference between two models.

    Attributes:
        model: name; "" for all.
        other: the model whose rate is subtracted; "" for none.
        answers: number of answers.
        labels: number of labelled ones.
        uncorrected: the same by the evaluator's verdicts; None for a metric without a threshold.
        value, low, high: estimate and 95 % interval; None for too few labels.
    """

    model: str
    other: str = ""
    answers: int
    labels: int
    uncorrected: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None


class PassRates(Struct, frozen=True, kw_only=True):
    """Corrected pass rates of a run.

    Attributes:
        metrics: `evaluator.metric`, whose verdicts are corrected.
        stratified: True for the sample of `--budget`, with inclusion probabilities in the file of labels;
            False for labels that are taken for a random sample of all answers.
        tuning: weight λ of the evaluator's predictions, 0.0 to 1.0, beyond the means of the strata.
        agreement: of the raters; their disagreement is not part of the intervals.
        segments: labels of each model and category, those with the smallest share first.
    """

    metrics: tuple[str, ...]
    stratified: bool
    tuning: float
    rates: tuple[PassRate, ...]
    differences: tuple[PassRate, ...]
    agreement: Agreement
    segments: tuple[SegmentLabels, ...]


def corrected_pass_rates(population: AnswerPopulation, labels: Path) -> PassRates:
    """Estimate the rate of good answers of all models, of each, and of pairs of models.

    Raises:
        DataError: if there are too few labels, or they are of a sample of other answers.
    """
    inclusion = read_inclusion(labels)
    every = [Drawn(at=at, round=1, part="conformal", reason="random") for at in range(len(population.cases))]
    labelling = labelling_of(population, read_ratings(labels) if labels.is_file() else (), every)
    labelled = labelling.labels
    strata = np.zeros(len(population.cases), dtype=np.int64)
    if inclusion:
        strata = population_strata(population)
        check_sample(population, strata, inclusion, labels)
        # Other labels were not drawn with these probabilities.
        labelled = {identity: label for identity, label in labelled.items() if identity in inclusion}
    truths = np.array([labelled.get(case.identity, np.nan) for case in population.cases], dtype=np.float64)
    counts = np.bincount(strata[~np.isnan(truths)], minlength=int(strata.max(initial=0)) + 1)
    if len(labelled) < _MIN_LABELS or counts.min() < 2:
        raise DataError(
            f"{labels}: {len(labelled)} of {len(population.cases)} answers have a label that counts; an"
            f" estimate needs at least {_MIN_LABELS}, and two in each stratum: label more answers"
        )
    powered = PredictionPowered(_predictions(population), truths, strata, _questions(population))
    keys = np.array([case.model_key for case in population.cases])
    names = {case.model_key: case.model for case in population.cases}
    models = [(name, keys == key) for key, name in names.items()] if len(names) > 1 else []
    rates = [
        _rate(population, truths, powered.rate(rows), rows, model=name)
        for name, rows in [("", np.ones(len(keys), dtype=bool)), *models]
    ]
    differences = [
        _rate(population, truths, powered.difference(rows, others), rows, others, name, other)
        for (name, rows), (other, others) in itertools.combinations(models, 2)
    ]
    return PassRates(
        metrics=tuple(column.key for column in population.columns),
        stratified=bool(inclusion),
        tuning=powered.tuning,
        rates=tuple(rates),
        differences=tuple(differences),
        agreement=labelling.results().agreement,
        segments=segment_labels(_answers(population), labelled),
    )


def pass_rate_lines(result: PassRates) -> list[str]:
    """Return the estimates as lines for people."""
    every = result.rates[0]
    sample = (
        "drawn by --budget, weighted by the inclusion probabilities in the file"
        if result.stratified
        else "taken for a random sample of all answers; labels of uncertain answers bias the estimate"
    )
    lines = [f"{', '.join(result.metrics)}: {every.labels} labels of {every.answers} answers, {sample}"]
    rows = [*result.rates, *result.differences]
    names = [f"{row.model} − {row.other}" if row.other else row.model or "all answers" for row in rows]
    width = max(map(len, names))
    for name, row in zip(names, rows, strict=True):
        raw = "" if row.uncorrected is None else f"  (by verdict {row.uncorrected:.3f})"
        if row.value is None or row.low is None or row.high is None:
            text = f"no estimate: needs {_MIN_LABELS} labels of each model"
        else:
            text = f"{row.value:.3f}  95% interval {row.low:.3f} to {row.high:.3f}"
        lines.append(f"{name:{width}}  {text}{raw}  {row.labels} labels")
    return [*lines, *agreement_lines(result.agreement), *segment_lines(result.segments)]


def _rate(
    population: AnswerPopulation,
    truths: Floats,
    estimate: PoweredEstimate | None,
    rows: Booleans,
    others: Booleans | None = None,
    model: str = "",
    other: str = "",
) -> PassRate:
    # One answer without a verdict makes the mean NaN, and the figure None.
    verdicts = np.array([np.nan if case.verdict is None else case.verdict for case in population.cases])
    sides = [rows] if others is None else [rows, others]
    labels = [int((~np.isnan(truths[side])).sum()) for side in sides]
    raw = [float(verdicts[side].astype(np.float64).mean()) for side in sides]
    uncorrected = raw[0] - raw[1] if others is not None else raw[0]
    usable = estimate if min(labels) >= _MIN_LABELS else None
    return PassRate(
        model=model,
        other=other,
        answers=sum(int(side.sum()) for side in sides),
        labels=sum(labels),
        uncorrected=None if np.isnan(uncorrected) else uncorrected,
        value=usable.value if usable else None,
        low=usable.interval[0] if usable else None,
        high=usable.interval[1] if usable else None,
    )


def _answers(population: AnswerPopulation) -> Iterator[TableAnswer]:
    """Yield the answers of a population, with their categories."""
    identities = {case.identity for case in population.cases}
    for answer in population.scores.answers.values():
        if (answer.key, answer.model_key) in identities:
            yield answer


def _predictions(population: AnswerPopulation) -> Floats:
    """Return calibrated probabilities, else verdicts, else scores of a metric without a threshold."""
    column = population.columns[0]
    if column.is_calibrated and len(population.columns) == 1:
        return population.values(range(len(population.cases)))[:, 0]
    return np.array(
        [case.place if case.verdict is None else float(case.verdict) for case in population.cases]
    )


def _questions(population: AnswerPopulation) -> Integers:
    """Return the number of each answer's question; perturbed cases belong to their original."""
    questions = {
        (answer.key, answer.model_key): case for answer, case in originals(population.scores.answers.values())
    }
    numbers: dict[tuple[str, str], int] = {}
    return np.array(
        [numbers.setdefault(questions[case.identity], len(numbers)) for case in population.cases],
        dtype=np.int64,
    )
