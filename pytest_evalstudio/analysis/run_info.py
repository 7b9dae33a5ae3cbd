"""Types of a run: its evaluators and models as the header describes them, its stored and traced answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.judge_checks import JudgeCheckEntry
from pytest_evalstudio.record.schema import EvaluatorEntry, EvaluatorSpan, ParameterEntry, Run, StepEntry

Kind = Literal["bool", "classification", "heatmap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorInfo:
    """Description of one evaluator in the header.

    Attributes:
        id: name in this run; differs from the type for a named instance.
        asserted: keys of the metrics that decide items.
        embedder: the embedding model that its scores and thresholds are of, "" for none.
        judge: models, vote and versions of the prompts that its scores come from; empty for none.
        judge_check: measured errors of its judge; None without.
        calibration: by which its primary metric is a probability; empty for none.
        difference: sentence on the difference from other tools' metrics of the same name, "" for none.
        min_test_cases: a model with fewer scored cases is a problem; None for the run's number.
        save_llm_result: whether the report has the files with its rows and scores.
        sentence_level_metrics: whether parts of answers are recorded with their scores.
        started, finished: its first start and last end, ISO 8601; "" where the record has none.
    """

    id: str
    type: str
    name: str
    metrics: tuple[Metric, ...]
    asserted: frozenset[str]
    description: str = ""
    domain: str = ""
    method: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    scope: str = "row"
    boolean: bool = False
    model_types: tuple[str, ...] = ()
    parameters: Mapping[str, Any]
    parameters_meta: tuple[ParameterEntry, ...] = ()
    embedder: str = ""
    judge: Mapping[str, Any] = field(default_factory=dict)
    judge_check: JudgeCheckEntry | None = None
    calibration: Mapping[str, Any] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    problem_type: str = "accuracy"
    avid: str = "P0200"
    difference: str = ""
    min_test_cases: int | None = None
    save_llm_result: bool = True
    sentence_level_metrics: bool = True
    started: str = ""
    finished: str = ""

    @property
    def primary(self) -> Metric:
        return next((metric for metric in self.metrics if metric.primary), self.metrics[0])

    @property
    def sentence_metric(self) -> Metric:
        """Metric that scores sentences of answers: the calibrated one, else the primary one."""
        return next(
            (metric for metric in self.metrics if metric.key == self.calibration.get("of")), self.primary
        )

    @property
    def kind(self) -> Kind:
        if self.boolean:
            return "bool"
        return "classification" if self.domain == "classification" else "heatmap"

    @property
    def judged_metrics(self) -> tuple[Metric, ...]:
        """Metrics with a threshold that can be missed; for a boolean evaluator, only the primary one.

        The other metrics of a boolean evaluator are complements of it.
        """
        metrics = (self.primary,) if self.boolean else self.metrics
        return tuple(metric for metric in metrics if metric.can_decide)

    @property
    def flip_metrics(self) -> tuple[Metric, ...]:
        """Metrics whose pass state is compared between a question and its perturbations."""
        return tuple(metric for metric in self.judged_metrics if metric.primary or self.kind == "heatmap")


def evaluators_of(run: Run) -> dict[str, EvaluatorInfo]:
    """Return the run's evaluators by id, in the header's order."""
    return {id: _evaluator(id, entry, run.spans.get(id)) for id, entry in run.evaluators.items()}


def _evaluator(id: str, entry: EvaluatorEntry, span: EvaluatorSpan | None) -> EvaluatorInfo:
    return EvaluatorInfo(
        id=id,
        type=entry.type,
        name=entry.name or id,
        metrics=entry.metrics,
        asserted=frozenset(metric.key for metric in entry.metrics if metric.decides),
        description=entry.description,
        domain=entry.domain,
        method=entry.method,
        needs=entry.needs,
        scope=entry.scope,
        boolean=entry.boolean,
        model_types=entry.model_types,
        parameters=entry.parameters,
        parameters_meta=entry.parameters_meta,
        embedder=entry.embedder,
        judge=entry.judge,
        judge_check=entry.judge_check,
        calibration=entry.calibration,
        keywords=entry.keywords,
        problem_type=entry.problem_type,
        avid=entry.avid,
        difference=entry.difference,
        min_test_cases=entry.min_test_cases,
        save_llm_result=entry.save_llm_result,
        sentence_level_metrics=entry.sentence_level_metrics,
        started=span.started if span is not None else "",
        finished=span.finished if span is not None else "",
    )


class TracedAnswers(Struct, frozen=True, kw_only=True):
    """Answers for which spans of the application were awaited.

    Attributes:
        total: number of these answers.
        missing: answers without any span.
        incomplete: answers some of whose spans had not arrived when the wait ended.
    """

    total: int = 0
    missing: int = 0
    incomplete: int = 0

    @property
    def sentence(self) -> str:
        """Return what is missing, "" if nothing is.

        >>> TracedAnswers(total=5, missing=2).sentence
        'none arrived for 2 of 5 answers'
        """
        of_total = f"of {self.total:,} answers"
        facts = [f"none arrived for {self.missing:,} {of_total}"] if self.missing else []
        if self.incomplete:
            verb = "lacks" if self.incomplete == 1 else "lack"
            facts.append(
                f"{self.incomplete:,} {of_total} {verb} spans that had not arrived when the wait ended"
            )
        return "; ".join(facts)


NO_TRACED_ANSWERS = TracedAnswers()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswers:
    """Answers that an earlier run stored.

    Attributes:
        count: number of stored answers.
        total: number of all answers.
        first, last: earliest and latest time at which one was stored, ISO 8601 in UTC; "" without any.
        continues: start of the interrupted run that was continued, ISO 8601 in UTC; "" for none.
    """

    count: int = 0
    total: int = 0
    first: str = ""
    last: str = ""
    continues: str = ""

    @property
    def sentence(self) -> str:
        """Return the fact in one sentence, "" where all answers are of this run.

        >>> StoredAnswers(count=2, total=5, first="2026-11-23T12:03:00+00:00", last="2026-11-23T12:03:59+00:00").sentence
        '2 of 5 answers are stored answers of an earlier run (2026-11-23 12:03 UTC); the model was not asked again.'
        """  # noqa: E501
        if not self.count:
            return ""
        first, last = _minute(self.first), _minute(self.last)
        period = f"{first} UTC" if first == last else f"{first} to {last} UTC"
        origin = "of the interrupted run that this one continues" if self.continues else "of an earlier run"
        verb = "is a stored answer" if self.count == 1 else "are stored answers"
        count = f"{self.count:,} of {self.total:,} answers"
        return f"{count} {verb} {origin} ({period}); the model was not asked again."


NO_STORED_ANSWERS = StoredAnswers()


def stored_steps_sentence(steps: Iterable[StepEntry], created: str) -> str:
    """Return which steps of a workflow have answers of an earlier run, "" for none.

    Args:
        steps: of the workflow.
        created: start of this run, ISO 8601 with time zone.
    """
    start = datetime.fromisoformat(created).replace(microsecond=0)
    stored = [
        step
        for step in sorted(steps, key=lambda step: step.number)
        if step.asks
        and step.status == "completed"
        and datetime.fromisoformat(step.finished or created) < start
    ]
    if not stored:
        return ""
    times = sorted({_minute(step.finished) for step in stored})
    period = times[0] if len(times) == 1 else f"{times[0]} to {times[-1]}"
    names = ", ".join(step.step for step in stored)
    return (
        f"{names}: results of an earlier run ({period} UTC); the model was not asked again. After a change of"
        f" the application: --evalstudio-from {stored[0].step}"
    )


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")
