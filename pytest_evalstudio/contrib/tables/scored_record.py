"""Types of a scored table: what `evalstudio score` leaves behind, and the aggregates of its scores.

A scored table is a folder: `scores/` has a row per answer and metric, `answers/` a row per answer, both in
Parquet; `manifest.json` is a `ScoredManifest` and is written last. A folder without it is incomplete.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from pytest_evalstudio.contrib.tables.sketches import merged_sketch
from pytest_evalstudio.record.codec import portable
from pytest_evalstudio.record.schema import EvaluatorEntry, ModelEntry, Tool

SCORED_VERSION = 1
"""Version of these types and of the columns of `scores/` and `answers/`."""
MAX_WORST = 20
"""Rows that an aggregate refers to as its worst."""
TextsWord = Literal["all", "worst", "none"]


class SourceEntry(Struct, frozen=True, kw_only=True):
    """A file that was scored.

    Attributes:
        path: as fsspec names it, without a login.
        format: parquet, jsonl or csv.
        rows: number of its rows, sampled or not.
        fingerprint: digest of its size, beginning and end.
    """

    path: str
    format: str
    rows: int
    fingerprint: str


class PartEntry(Struct, frozen=True, kw_only=True):
    """A file of the table, relative to its folder, with the first and last `row_id` in it."""

    path: str
    rows: int
    first_row: int
    last_row: int


class ScoredStratum(Struct, frozen=True, kw_only=True):
    """A stratum: its values of the columns `Sampling.by`, its rows, and those that were scored."""

    values: tuple[str, ...]
    population: int
    sample: int


class Sampling(Struct, frozen=True, kw_only=True):
    """Stratified sample of the rows.

    Attributes:
        size: rows that were asked for.
        by: columns whose values make the strata; () for a simple random sample.
    """

    seed: int
    size: int
    by: tuple[str, ...]
    strata: tuple[ScoredStratum, ...]


class WorstRow(Struct, frozen=True):
    """A row with one of the worst values."""

    row_id: int
    value: float


class LabelCount(Struct, frozen=True):
    """Number of answers with this label where that one was expected."""

    expected: str
    answered: str
    count: int


class StratumMoments(Struct, frozen=True, kw_only=True):
    """Scores of the rows of one stratum.

    Attributes:
        stratum: index in `Sampling.strata`.
        n: scored rows with a finite value.
        m2: sum of squared deviations from the mean, unweighted.
        passed, failed: rows whose value meets its threshold or not.
        sketch: of the finite values; "" for none.
    """

    stratum: int
    n: int
    mean: float
    m2: float
    passed: int
    failed: int
    sketch: str


class ErrorExample(Struct, frozen=True):
    """The first row of a table with an error code, and the masked reason of its error."""

    row_id: int
    reason: str


class MetricAggregate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Mergeable figures of one metric of an evaluator for one model, over all rows or one group of them.

    Attributes:
        better: direction of the metric.
        group, group_value: kept column and its value; "" for all rows of the model.
        scored: rows with a value.
        passed, failed: of them, those that meet the threshold or not; other scored rows have no threshold.
        infinite: of the scored rows, those whose value is infinite; the figures below are without them.
        no_answer: rows whose answer is empty, of an evaluator that reads answers.
        errors: number of rows by code.
        error_examples: for each code of `errors`, the first row with it.
        weight: sum of the weights of the scored rows; a weight is the number of rows that a row stands for.
        mean: weighted.
        m2: weighted sum of squared deviations from the mean.
        min, max: None without a finite value.
        sketch: of the values, unweighted; see `sketches.percentiles`. Those of `strata` serve a sample.
        labels: confusion counts, only of the primary metric of an evaluator with labels.
        figure: model-wide value that is not a mean of rows, e.g. a macro F1; None for others.
        strata: the scores by stratum, only of a sample.
        worst: rows with the worst values, the worst first.
    """

    evaluator: str
    metric: str
    model: str
    better: Literal["higher", "lower"]
    group: str = ""
    group_value: str = ""
    scored: int = 0
    passed: int = 0
    failed: int = 0
    not_applicable: int = 0
    no_answer: int = 0
    infinite: int = 0
    errors: dict[str, int] = {}
    error_examples: dict[str, ErrorExample] = {}
    weight: float = 0.0
    mean: float = 0.0
    m2: float = 0.0
    min: float | None = None
    max: float | None = None
    sketch: str = ""
    labels: tuple[LabelCount, ...] = ()
    figure: float | None = None
    strata: tuple[StratumMoments, ...] = ()
    worst: tuple[WorstRow, ...] = ()

    @property
    def identity(self) -> tuple[str, str, str, str, str]:
        """Aggregates with the same identity can be merged."""
        return self.evaluator, self.metric, self.model, self.group, self.group_value

    @property
    def error_count(self) -> int:
        return sum(self.errors.values())

    @property
    def rows(self) -> int:
        """Rows with any outcome."""
        return self.scored + self.not_applicable + self.no_answer + self.error_count

    @property
    def value(self) -> float | None:
        """Model-wide figure, else the mean; None where nothing was scored."""
        if self.figure is not None:
            return self.figure
        return self.mean if self.scored > self.infinite else None


class ScoredManifest(Struct, frozen=True, kw_only=True):
    """The header of a scored table.

    Attributes:
        started, finished: ISO 8601 with time zone.
        mapping: field of a case (`input`, `actual_output`, ...) to the column that it was read from; fields
            that some sources lack are left out.
        groups: kept columns, by whose values the rows are also aggregated.
        ungrouped: kept columns with too many values for aggregates.
        evaluators: as a record's header describes them.
        answers: number of scored answers.
        rows: number of rows in `scores/`.
        texts: answers that `answers/` has.
        sampling: None where all rows were scored.
        scores, answer_parts: files of the two folders; others there do not belong to the table.
        seconds: time of scoring, without interruptions.
    """

    schema_version: int
    producer: Tool
    run_id: str
    started: str
    finished: str
    sources: tuple[SourceEntry, ...]
    mapping: dict[str, str]
    groups: tuple[str, ...]
    ungrouped: tuple[str, ...] = ()
    evaluators: tuple[EvaluatorEntry, ...]
    models: tuple[ModelEntry, ...]
    answers: int
    rows: int
    texts: TextsWord
    sampling: Sampling | None
    aggregates: tuple[MetricAggregate, ...]
    scores: tuple[PartEntry, ...]
    answer_parts: tuple[PartEntry, ...]
    seconds: float = 0.0

    def evaluator(self, id: str) -> EvaluatorEntry | None:
        """Return the entry of an evaluator."""
        return next((entry for entry in self.evaluators if entry.id == id), None)

    def aggregate(
        self, evaluator: str, metric: str, model: str, group: str = "", group_value: str = ""
    ) -> MetricAggregate | None:
        """Return the figures of a metric, None where the table has none."""
        identity = (evaluator, metric, model, group, group_value)
        return next((entry for entry in self.aggregates if entry.identity == identity), None)

    @property
    def empty_answers(self) -> dict[str, int]:
        """Return the number of empty answers of each model that gave any."""
        counts: dict[str, int] = {}
        for entry in self.aggregates:
            if entry.no_answer and not entry.group:
                counts[entry.model] = max(entry.no_answer, counts.get(entry.model, 0))
        # Each evaluator counts the same empty answers; one that does not read answers counts none.
        return counts

    def rows_of(self, model: str) -> int:
        """Return the number of scored rows of a model, whatever their outcome."""
        of_model = (entry for entry in self.aggregates if entry.model == model and not entry.group)
        return max((entry.rows for entry in of_model), default=0)


class AnswerRow(Struct, frozen=True, kw_only=True):
    """An answer of `answers/`; personal data and secrets are masked.

    Attributes:
        row_id: number of the row over all sources, from 0.
        source: index in `ScoredManifest.sources`.
        source_row: number of the row in its source, from 0.
        groups: kept column to value.
        case_digest: of question, expected answer and condition, masked.
        context_digest: of the context, masked.
    """

    row_id: int
    source: int
    source_row: int
    key: str
    model: str
    input: str
    actual_output: str
    expected_output: str
    context: tuple[str, ...]
    groups: dict[str, str]
    case_digest: int
    context_digest: int


def merge(first: MetricAggregate, second: MetricAggregate) -> MetricAggregate:
    """Return the figures of the rows of both aggregates.

    Associative and commutative up to rounding, and up to the precision of the sketches. A model-wide figure
    is lost: it is computed again from the labels.

    Raises:
        ValueError: if they do not have the same identity.

    Source: Chan, Golub and LeVeque, 1979 (merging of variances).
    """
    if first.identity != second.identity:
        raise ValueError(f"{first.identity} and {second.identity} are figures of different rows")
    weight, mean, m2 = _merged_moments(
        (first.weight, first.mean, first.m2), (second.weight, second.mean, second.m2)
    )
    return MetricAggregate(
        evaluator=first.evaluator,
        metric=first.metric,
        model=first.model,
        better=first.better,
        group=first.group,
        group_value=first.group_value,
        scored=first.scored + second.scored,
        passed=first.passed + second.passed,
        failed=first.failed + second.failed,
        not_applicable=first.not_applicable + second.not_applicable,
        no_answer=first.no_answer + second.no_answer,
        infinite=first.infinite + second.infinite,
        errors=_summed(first.errors, second.errors),
        error_examples=_first_examples(first.error_examples, second.error_examples),
        weight=weight,
        mean=mean,
        m2=m2,
        min=min((x for x in (first.min, second.min) if x is not None), default=None),
        max=max((x for x in (first.max, second.max) if x is not None), default=None),
        sketch=merged_sketch(first.sketch, second.sketch),
        labels=_merged_labels(first.labels, second.labels),
        strata=_merged_strata(first.strata, second.strata),
        worst=worst_rows((*first.worst, *second.worst), first.better),
    )


def _first_examples(
    first: dict[str, ErrorExample], second: dict[str, ErrorExample]
) -> dict[str, ErrorExample]:
    examples = dict(first)
    for code, example in second.items():
        if code not in examples or example.row_id < examples[code].row_id:
            examples[code] = example
    return examples


def worst_rows(rows: tuple[WorstRow, ...], better: str) -> tuple[WorstRow, ...]:
    """Return the rows with the worst values, at most `MAX_WORST`; of equal ones those that come first."""
    sign = 1.0 if better == "higher" else -1.0
    return tuple(heapq.nsmallest(MAX_WORST, rows, key=lambda row: (sign * row.value, row.row_id)))


def encode_manifest(manifest: ScoredManifest) -> bytes:
    """Return a manifest as JSON; infinities become words."""
    plain = portable(msgspec.to_builtins(manifest))
    # Half a surrogate pair becomes its JSON escape.
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1).encode(
        "utf-8", "backslashreplace"
    )


def decode_manifest(raw: bytes) -> ScoredManifest:
    """Return the manifest of JSON.

    Raises:
        ValueError: if it is not JSON, of another version or not of these types; the message names the place.
    """
    try:
        plain = msgspec.json.decode(raw)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if version != SCORED_VERSION:
        raise ValueError(f"has version {version!r}; this program reads version {SCORED_VERSION}")
    # Not strict, since infinities are written as words.
    return msgspec.convert(plain, ScoredManifest, strict=False)


Moments = tuple[float, float, float]
"""Weight, mean and sum of squared deviations."""


def _merged_moments(first: Moments, second: Moments) -> Moments:
    weight = first[0] + second[0]
    # Two sides without weight would divide by zero.
    if not first[0] or not second[0]:
        return first if first[0] else second
    delta = second[1] - first[1]
    mean = (first[0] * first[1] + second[0] * second[1]) / weight
    return weight, mean, first[2] + second[2] + delta * delta * (first[0] * second[0] / weight)


def _summed(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {key: first.get(key, 0) + second.get(key, 0) for key in sorted({*first, *second})}


def _merged_labels(first: tuple[LabelCount, ...], second: tuple[LabelCount, ...]) -> tuple[LabelCount, ...]:
    counts: dict[tuple[str, str], int] = {}
    for entry in (*first, *second):
        pair = (entry.expected, entry.answered)
        counts[pair] = counts.get(pair, 0) + entry.count
    return tuple(LabelCount(*pair, count) for pair, count in sorted(counts.items()))


def _merged_strata(
    first: tuple[StratumMoments, ...], second: tuple[StratumMoments, ...]
) -> tuple[StratumMoments, ...]:
    by_index = {entry.stratum: entry for entry in first}
    for entry in second:
        previous = by_index.get(entry.stratum)
        by_index[entry.stratum] = entry if previous is None else _merged_stratum(previous, entry)
    return tuple(by_index[index] for index in sorted(by_index))


def _merged_stratum(first: StratumMoments, second: StratumMoments) -> StratumMoments:
    _, mean, m2 = _merged_moments((first.n, first.mean, first.m2), (second.n, second.mean, second.m2))
    return StratumMoments(
        stratum=first.stratum,
        n=first.n + second.n,
        mean=mean,
        m2=m2,
        passed=first.passed + second.passed,
        failed=first.failed + second.failed,
        sketch=merged_sketch(first.sketch, second.sketch),
    )
