"""The batch function: rows in, the Parquet files and aggregates of their scores out.

It runs in the process itself, in the workers of a pool, and in the actors of a Ray cluster.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pytest_evalstudio.contrib.tables.input.readers import text_array
from pytest_evalstudio.contrib.tables.input.sources import GROUP, RowBatch
from pytest_evalstudio.contrib.tables.scoring.aggregates import (
    EMPTY,
    ERROR,
    FAILED,
    NOT_APPLICABLE,
    PASSED,
    SCORE,
    STATUSES,
    MetricColumn,
    RowNumbers,
    aggregate,
    partitions,
)
from pytest_evalstudio.contrib.tables.scoring.rows import tasks_of
from pytest_evalstudio.contrib.tables.table.columns import answer_schema, score_schema
from pytest_evalstudio.contrib.tables.table.worst import kept_row_ids
from pytest_evalstudio.contrib.tables.table.writer import BatchResult
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError, exception_text
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugin_modules import registry_of
from pytest_evalstudio.core.plugins.evaluator import Labels
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.responses import is_empty_answer

if TYPE_CHECKING:
    from pytest_evalstudio.contrib.tables.scored_record import MetricAggregate, TextsWord
    from pytest_evalstudio.core.cases import Case
    from pytest_evalstudio.scoring.tasks import ModelInfo


# Labels go into the manifest; an answer that is no label can be of any length.
LABEL_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerSetup:
    """Everything that a process needs to score batches; it can be pickled.

    Attributes:
        config: names the evaluators.
        plugin_modules: modules that register plugins.
        cache: folder of stored replies of judges; None for none.
        workers: processes that share limits and budgets of judges.
        run_id: under which they share the budget in the cache; "" where each has its part of it.
        texts: answers to keep: "all", "worst" or "none".
        is_sample: whether the rows are a sample.
    """

    config: Configuration
    plugin_modules: tuple[str, ...] = ()
    cache: Path | None = None
    workers: int = 1
    run_id: str = ""
    texts: TextsWord = "all"
    is_sample: bool = False


class BatchScorer:
    """Scores batches with evaluators and models that are opened once."""

    def __init__(self, setup: ScorerSetup) -> None:
        self._setup = setup
        registry = registry_of(setup.plugin_modules)
        self._provider = ModelProvider(
            cache=setup.cache, workers=setup.workers, registry=registry, run_id=setup.run_id
        )
        lacks = functools.partial(self._provider.lacks, setup.config)
        self.plan = Plan(registry, setup.config, lacks=lacks)
        check_suited(self.plan.selected)
        self._provider.open(setup.config, self.plan.selected)
        self._pipeline = Pipeline.under(setup.config, self.plan, self._provider)
        self._models: dict[str, ModelInfo] = {}

    def score(self, batch: RowBatch) -> BatchResult:
        """Score a batch; if that fails twice, its rows are errors.

        Evaluators, judges and models that fail do not come here: each gives an error for its rows alone.

        Raises:
            EvalStudioError: for a fault that the user can mend.
        """
        reason = ""
        for _ in range(2):
            try:
                return self._scored(batch)
            except EvalStudioError:
                raise
            except Exception as exc:  # a fault of this package: other batches go on
                reason = f"its batch could not be scored: {exception_text(exc)}"
        return self.failed(batch, reason)

    def _scored(self, batch: RowBatch) -> BatchResult:
        with uncollected():  # a tenth of the time, and a batch is small
            tasks = tasks_of(batch.table, self._models)
            results = self._pipeline.evaluate(tasks)
            outcomes = {
                selected: [result.outcomes[0][selected] for result in results]
                # A task of a table has one answer.
                for selected in self.plan.selected
            }
            return self._result(batch, [task.case for task in tasks], outcomes)

    def failed(self, batch: RowBatch, reason: str) -> BatchResult:
        """Return the result of a batch that cannot be scored: all its rows are errors."""
        tasks = tasks_of(batch.table, self._models)
        error = Outcome.error(reason, OutcomeCode.WORKER_FAILED)
        outcomes = {selected: [error] * len(tasks) for selected in self.plan.selected}
        return self._result(batch, [task.case for task in tasks], outcomes)

    def warnings(self) -> list[str]:
        """Return warnings about faults that did not stop the scoring."""
        return self._provider.warnings()

    def close(self) -> None:
        """Close models, judges and caches."""
        self._provider.close()

    def _result(
        self,
        batch: RowBatch,
        cases: Sequence[Case],
        outcomes: Mapping[ConfiguredEvaluator, Sequence[Outcome]],
    ) -> BatchResult:
        table = batch.table
        numbers = RowNumbers(
            row_ids=table["row_id"].to_numpy(),
            weights=table["weight"].to_numpy(),
            strata=table["stratum"].to_numpy(),
            is_sample=self._setup.is_sample,
        )
        groups = {
            name.removeprefix(GROUP): [safe_identifier(value or "") for value in table[name].to_pylist()]
            for name in table.column_names
            if name.startswith(GROUP)
        }
        models = [case.model_key for case in cases]
        reasons = {
            selected: [masked(outcome.reason) for outcome in of_evaluator]
            for selected, of_evaluator in outcomes.items()
        }
        columns = [
            column
            for selected, of_evaluator in outcomes.items()
            for column in metric_columns(selected, of_evaluator, cases, reasons[selected])
        ]
        parts = partitions(models, groups)
        aggregates = tuple(aggregate(column, part, numbers) for column in columns for part in parts)
        scores = _score_table(columns, numbers, models, groups)
        kept_indices = self._kept(aggregates, numbers)
        answers = _answer_table(table, cases, kept_indices, groups) if len(kept_indices) else None
        return BatchResult(
            batch=batch.number,
            source=table["source"][0].as_py(),
            last_source_row=table["source_row"][-1].as_py(),
            answers=len(cases),
            rows=scores.num_rows,
            first_row=int(numbers.row_ids[0]),
            last_row=int(numbers.row_ids[-1]),
            score_file=_parquet(scores),
            answer_file=_parquet(answers) if answers is not None else b"",
            answer_rows=len(kept_indices),
            models=tuple(sorted(set(models))),
            aggregates=aggregates,
        )

    def _kept(self, aggregates: Sequence[MetricAggregate], numbers: RowNumbers) -> Any:
        """Return the indices of the rows whose texts are kept."""
        if self._setup.texts == "none":
            return np.empty(0, dtype=np.int64)
        if self._setup.texts == "all":
            return np.arange(len(numbers.row_ids))
        return np.flatnonzero(np.isin(numbers.row_ids, list(kept_row_ids(aggregates))))


def metric_columns(
    selected: ConfiguredEvaluator,
    outcomes: Sequence[Outcome],
    cases: Sequence[Case],
    reasons: Sequence[str],
) -> list[MetricColumn]:
    """Return the scores of each metric of an evaluator.

    Args:
        reasons: masked reasons of the outcomes.
    """
    columns = []
    for metric in selected.spec.metrics:
        threshold = selected.thresholds[metric.key]
        decides = math.isfinite(threshold)
        values = np.full(len(outcomes), np.nan)
        statuses = np.full(len(outcomes), NOT_APPLICABLE, dtype=np.int8)
        for index, outcome in enumerate(outcomes):
            if outcome.status == "error":
                statuses[index] = ERROR
                continue
            if is_empty_answer(outcome):
                statuses[index] = EMPTY
                continue
            value = outcome.scores.get(metric.key) if outcome.status == "score" else None
            if value is not None:
                values[index] = value
                passes = decides and metric.passes(value, threshold)
                statuses[index] = SCORE
                if decides:
                    statuses[index] = PASSED if passes else FAILED
        columns.append(
            MetricColumn(
                evaluator=selected.id,
                metric=metric,
                values=values,
                statuses=statuses,
                codes=[outcome.code.value for outcome in outcomes],
                reasons=reasons,
                labels=_labels(selected, cases) if selected.spec.labels and metric.primary else None,
            )
        )
    return columns


def _labels(selected: ConfiguredEvaluator, cases: Sequence[Case]) -> list[tuple[str, str] | None]:
    label = cast(Labels, selected.evaluator).label
    return [
        None if case.error else (_short(label(case.expected_output)), _short(label(case.actual_output)))
        for case in cases
    ]


def _short(label: str) -> str:
    # Masked before it is cut: a part of a secret is not recognised as one.
    text = masked(label)
    return text if len(text) <= LABEL_CHARS else f"{text[:LABEL_CHARS]}…"


def _score_table(
    columns: Sequence[MetricColumn],
    numbers: RowNumbers,
    models: Sequence[str],
    groups: Mapping[str, Sequence[str]],
) -> Any:
    """Return the rows of `scores/`: those of the first metric, then those of the second, and so on."""
    import pyarrow as pa

    schema = score_schema(tuple(groups))
    count, repeats = len(models), len(columns)
    statuses = np.concatenate([column.statuses for column in columns])
    values = np.concatenate([column.values for column in columns])
    codes = [code or None for column in columns for code in column.codes]
    texts = [
        (reason or None) if status in (FAILED, ERROR) else None
        for column in columns
        for status, reason in zip(column.statuses, column.reasons, strict=True)
    ]
    arrays = {
        "row_id": pa.array(np.tile(numbers.row_ids, repeats)),
        "model": _words(list(models) * repeats),
        "evaluator": _repeated([column.evaluator for column in columns], count),
        "metric": _repeated([column.metric.key for column in columns], count),
        "value": pa.array(values, mask=np.isnan(values)),
        "status": pa.DictionaryArray.from_arrays(pa.array(statuses, pa.int32()), pa.array(STATUSES)),
        "code": _words(codes),
        "reason": text_array(texts, pa.string()),
        "weight": pa.array(np.tile(numbers.weights, repeats)),
        **{name: _words(list(of_rows) * repeats) for name, of_rows in groups.items()},
    }
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def _answer_table(
    table: Any, cases: Sequence[Case], kept_indices: Any, groups: Mapping[str, Sequence[str]]
) -> Any:
    """Return the rows of `answers/`, masked as records are."""
    import pyarrow as pa

    schema = answer_schema(tuple(groups))
    scored = [cases[index] for index in kept_indices]
    part = table if len(kept_indices) == table.num_rows else table.take(kept_indices)
    texts = {
        "key": [case.key for case in scored],
        "input": [masked(case.question) for case in scored],
        "actual_output": [masked(case.actual_output) for case in scored],
        "expected_output": [masked(case.expected_output) for case in scored],
    }
    arrays = {
        "row_id": part["row_id"].combine_chunks(),
        "source": part["source"].combine_chunks(),
        "source_row": part["source_row"].combine_chunks(),
        **{name: text_array(values, pa.string()) for name, values in texts.items()},
        "model": _words([case.model_key for case in scored]),
        "context": text_array(
            [[masked(chunk) for chunk in case.context] for case in scored], pa.list_(pa.string())
        ),
        "case_digest": pa.array([_case_digest(case) for case in scored], pa.int64()),
        "context_digest": pa.array([_digest(map(masked, case.context)) for case in scored], pa.int64()),
        **{name: _words([values[index] for index in kept_indices]) for name, values in groups.items()},
    }
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def _case_digest(case: Case) -> int:
    return _digest(masked(text) for text in (case.question, case.expected_output, case.condition))


def _digest(texts: Iterable[str]) -> int:
    """Return a digest of texts that is the same in all runs.

    The texts are masked, so that no secret can be guessed from the digest.
    """
    state = blake2b(digest_size=8)
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        # With its length, so that ("ab", "c") and ("a", "bc") differ.
        state.update(len(content).to_bytes(8, "big") + content)
    # Arrow's int64 is signed.
    return int.from_bytes(state.digest(), "big", signed=True)


def _words(values: Sequence[str | None]) -> Any:
    import pyarrow as pa

    return text_array(values, pa.string()).dictionary_encode()


def _repeated(words: Sequence[str], count: int) -> Any:
    """Return each word so many times."""
    import pyarrow as pa

    distinct = list(dict.fromkeys(words))
    indices = np.repeat(np.array([distinct.index(word) for word in words], dtype=np.int32), count)
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(distinct, pa.string()))


def _parquet(table: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def check_suited(evaluators: Sequence[ConfiguredEvaluator]) -> None:
    """Check that evaluators do not need rows together that may be in different batches.

    Model-wide figures that follow from counts of labels are computed from the aggregates.

    Raises:
        ConfigurationError: with the first evaluator that does, and the reason.
    """
    for selected in evaluators:
        reason = _reason(selected)
        if reason:
            raise ConfigurationError(
                f"evaluator {selected.id}: {reason}, and a table is scored in batches; score a lab by"
                " `evaluate` or pytest, or leave it out"
            )


def _reason(selected: ConfiguredEvaluator) -> str:
    spec = selected.spec
    if spec.scope == "group":
        return "needs all answers to a question together"
    if spec.compares:
        return f"compares an answer with the answer to its {spec.compares}"
    if spec.scope == "model" and not spec.labels:
        return "needs all rows of a model together"
    return ""
