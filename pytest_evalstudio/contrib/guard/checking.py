"""A guardrail configuration at work: answers in, verdicts out."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.contrib.guard.results import CheckRequest, GuardVerdict, GuardWord, MetricCheck
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration, with_guardrails
from pytest_evalstudio.formats.guardrails import Guardrails, read_guardrails
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from pytest_evalstudio.text.figures import unequal

_ANSWERER = ModelInfo(key="guard", label="guard")
_WARM = CheckRequest(
    question="What does the card cost?", context=["The card costs 5 euros."], answer="It costs 5 euros."
)
_NEEDED_ELSEWHERE = ("expected_output", "condition")
"""Inputs that no answer in production has."""


class Guard:
    """The evaluators of a guardrail configuration, with their models open.

    Args:
        file: guardrail configuration, with the ids of this package or of the reference engine.
        settings: configuration with models, judge, calibrations and options; the defaults where not given.
        registry: registry of plugins; by default a new one.
        cache: folder of the caches of embeddings and of judges' replies; None for none.
        guardrails: content of the file; read from it by default.
        workers: processes that share the cores, and the limits and budget of judges.
        run_id: the same for processes that spend from one budget of judges, which is in the cache.

    Raises:
        ConfigurationError: if the file is malformed, an evaluator is unknown, lacks its model, or needs an
            expected answer or condition, which answers in production do not have.

    >>> import json, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "guardrails.json"
    ...     _ = file.write_text(json.dumps({"evaluator_ids": ["pii_leakage"]}))
    ...     with Guard(file) as guard:
    ...         guard.check(CheckRequest(answer="Write to jane@bank.com.")).verdict
    'unreliable'
    """

    def __init__(
        self,
        file: Path,
        *,
        settings: Configuration | None = None,
        registry: Registry | None = None,
        cache: Path | None = None,
        guardrails: Guardrails | None = None,
        workers: int = 1,
        run_id: str = "",
    ) -> None:
        plugins = registry or Registry()
        base = settings or Configuration(folder=file.absolute().parent)
        content = guardrails or read_guardrails(file)
        # The file alone names the evaluators, and a gate is about runs.
        config = with_guardrails(base.model_copy(update={"evaluators": None, "gate": []}), content)
        self._plan = Plan(plugins, config)
        if not self._plan.selected:
            raise ConfigurationError(f"{file}: no evaluator is listed; add ids to evaluator_ids")
        for selected in self._plan.selected:
            _check_needs(selected, file)
        self._optional = frozenset(content.optional)
        self._calibrated = _calibrated_metrics(content, self._plan.selected)
        _check_optional(self._optional, self._plan.selected, file)
        self._provider = ModelProvider(cache=cache, registry=plugins, workers=workers, run_id=run_id)
        try:
            self._provider.open(config, self._plan.selected)
        except BaseException:
            self._provider.close()
            raise
        self._pipeline = Pipeline.under(config, self._plan, self._provider)

    @property
    def evaluators(self) -> list[str]:
        """Return the ids of the evaluators."""
        return [selected.id for selected in self._plan.selected]

    @property
    def uncalibrated(self) -> list[str]:
        """Return the metrics with a threshold that nobody has calibrated, as `ID.METRIC`."""
        return [
            name
            for selected in self._plan.selected
            for key in selected.asserted
            if math.isfinite(selected.thresholds[key])
            and (name := f"{selected.id}.{key}") not in self._calibrated
        ]

    def warm(self) -> None:
        """Load all models by checking an answer."""
        self.check(_WARM)

    def check(self, request: CheckRequest) -> GuardVerdict:
        """Return the verdict on one answer."""
        return self.check_all([request])[0]

    def check_all(self, requests: Sequence[CheckRequest]) -> list[GuardVerdict]:
        """Return the verdicts on several answers, which are evaluated in one batch."""
        tasks = [self._task(number, request) for number, request in enumerate(requests)]
        return [
            _verdict(result, self._optional, self._calibrated) for result in self._pipeline.evaluate(tasks)
        ]

    def close(self) -> None:
        """Close the models."""
        self._provider.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _task(self, number: int, request: CheckRequest) -> EvalTask:
        case = make_case(
            request.question,
            request.answer,
            key=str(number),
            context=request.context,
            is_rag=bool(request.context),  # clients send [] where the application does not retrieve
            model_key=_ANSWERER.key,
        )
        return EvalTask(
            name=case.key, model=_ANSWERER, case=case, answers=(case,), chosen=self._plan.selected
        )


def _check_needs(selected: ConfiguredEvaluator, file: Path) -> None:
    lacking = [need for need in selected.needs if need in _NEEDED_ELSEWHERE]
    if lacking:
        raise ConfigurationError(
            f"{file}: evaluator {selected.id} needs {' and '.join(lacking)}, which answers in production do"
            " not have; remove it"
        )
    if selected.spec.scope != "row":
        raise ConfigurationError(
            f"{file}: evaluator {selected.id} compares several answers, and a guard has one; remove it"
        )


def _check_optional(optional: Collection[str], evaluators: Sequence[ConfiguredEvaluator], file: Path) -> None:
    """Check that `optional` names evaluators of the guard, or metrics of them.

    Raises:
        ConfigurationError: for the first name that does not, with the nearest known one.
    """
    ids = {selected.id for selected in evaluators} | {
        f"{selected.id}.{metric.key}" for selected in evaluators for metric in selected.spec.metrics
    }
    for name in sorted(optional):
        if name not in ids:
            fact = f"{file}: optional: the guard has no evaluator or metric {name!r}."
            raise ConfigurationError(f"{fact} {nearest(name, ids)}".strip())


def _calibrated_metrics(content: Guardrails, evaluators: Sequence[ConfiguredEvaluator]) -> frozenset[str]:
    """Return the metrics, as `ID.METRIC`, whose threshold follows from people's labels or needs none.

    A threshold of the configuration counts as calibrated unless `not_calibrated` names it; one that the
    configuration does not have is a default.
    """
    names = {
        f"{id}.{metric}" for id, thresholds in content.calibrated_thresholds.items() for metric in thresholds
    }
    for selected in evaluators:
        if selected.attached is not None:
            names.add(f"{selected.id}.{selected.spec.primary.key}")
        names |= {f"{selected.id}.{metric.key}" for metric in selected.spec.metrics if metric.boolean}
    marked = {f"{id}.{metric}" for id, metrics in content.not_calibrated.items() for metric in metrics}
    return frozenset(names - marked)


def _verdict(result: Result, optional: Collection[str], calibrated: Collection[str]) -> GuardVerdict:
    metrics: list[MetricCheck] = []
    failures = [result.response.reason] if result.response.fails else []
    doubts: list[str] = []
    for selected, verdict in result.verdicts.items():
        metrics += _metrics(selected, verdict, calibrated)
        if verdict.status == "error":
            doubts.append(f"{selected.id}: no verdict: {verdict.reason}")
        elif verdict.uncertain:
            doubts.append(f"{selected.id}: people may call the answer good or bad")
        elif verdict.missed:
            failures.append(f"{selected.id}: {_missed(selected, verdict)}")
        else:
            doubts += _inapplicable(selected, verdict, optional)
    if not (result.applicable or doubts):
        doubts.append("no evaluator applies to this answer")
    reasons = [masked(reason) for reason in (*failures, *doubts)]
    word: GuardWord = "uncertain" if doubts else "reliable"
    if failures:
        word = "unreliable"
    uncalibrated = any(metric.uncalibrated for metric in metrics)
    return GuardVerdict(verdict=word, metrics=metrics, reasons=reasons, uncalibrated=uncalibrated)


def _inapplicable(
    selected: ConfiguredEvaluator, verdict: Verdict, optional: Collection[str]
) -> Iterator[str]:
    """Yield a reason for each configured metric that does not apply to the answer and must.

    That the answer is empty is said once, by the failure.
    """
    if selected.id in optional or verdict.code == OutcomeCode.ANSWER_EMPTY:
        return
    if verdict.status == "not_applicable":
        yield f"{selected.id}: does not apply: {verdict.reason}"
        return
    for metric in selected.spec.metrics:
        name = f"{selected.id}.{metric.key}"
        if (
            metric.key in selected.asserted
            and verdict.scores.get(metric.key) is None
            and name not in optional
        ):
            yield f"{name}: does not apply to this answer"


def _metrics(
    selected: ConfiguredEvaluator, verdict: Verdict, calibrated: Collection[str]
) -> list[MetricCheck]:
    checks = []
    for metric in selected.spec.metrics:
        if not metric.primary and metric.key not in selected.asserted:
            continue
        score = verdict.scores.get(metric.key)
        limit = selected.thresholds[metric.key]
        # JSON has no infinity.
        threshold = limit if math.isfinite(limit) else None
        has_verdict = score is not None and threshold is not None
        checks.append(
            MetricCheck(
                evaluator=selected.id,
                metric=metric.key,
                score=score if score is not None and math.isfinite(score) else None,
                threshold=threshold,
                passed=metric.passes(score, threshold) if has_verdict and score is not None else None,
                conformal_set=None if verdict.conformal_set is None else list(verdict.conformal_set),
                uncalibrated=has_verdict and f"{selected.id}.{metric.key}" not in calibrated,
            )
        )
    return checks


def _missed(selected: ConfiguredEvaluator, verdict: Verdict) -> str:
    parts = []
    for key in verdict.missed:
        metric = selected.spec.metric(key)
        # "0 < 1" of a yes/no metric says less than its reason.
        if metric is not None and metric.boolean and verdict.reason:
            parts.append("failed")
            continue
        sign = "<" if metric is None or metric.better == "higher" else ">"
        parts.append(f"{key} {f' {sign} '.join(unequal(verdict.scores.get(key), selected.thresholds[key]))}")
    return ", ".join(parts) + (f": {verdict.reason}" if verdict.reason else "")
