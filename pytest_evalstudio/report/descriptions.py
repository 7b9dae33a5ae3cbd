"""Descriptions of evaluators and models for exports, under the names of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from pytest_evalstudio.asking.limits import AnswerFigures
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.record.schema import EvaluatorEntry, EvaluatorSpan, JsonObject, ModelEntry, RecordRow

_MODEL_KEYS = tuple(
    name for name in (field.name for field in msgspec.structs.fields(ModelEntry)) if name != "stopping"
)


class ModelRequests:
    """Counts of the requests to one model, added up from its rows."""

    def __init__(self) -> None:
        self._calls = self._answered = self._failed = self._retries = 0
        self._figures = AnswerFigures()

    def add(self, row: RecordRow) -> None:
        """Count one row."""
        self._calls += max(1, len(row.answer.turns)) + row.answer.retries
        self._retries += row.answer.retries
        if row.answer.error:
            self._failed += 1
            return
        self._answered += 1
        self._figures.add(row.answer.duration_s, row.answer.first_token_s, row.answer.usage)

    def as_meta(self) -> JsonObject:
        """Return the counts under the names of a lab's `llm_model_meta`."""
        return {
            "call_count": self._calls,
            "success_count": self._answered,
            "retry_count": self._retries,
            "failure_count": self._failed,
            **self._figures.as_dict(),
        }


def describe_model(entry: ModelEntry, requests: ModelRequests | None = None) -> JsonObject:
    """Describe a model for an export; keys without a value are present, too.

    Args:
        requests: counted from the rows; used where the record has no `llm_model_meta`.
    """
    described = {name: msgspec.to_builtins(getattr(entry, name)) for name in _MODEL_KEYS}
    if not entry.llm_model_meta and requests is not None:
        described["llm_model_meta"] = requests.as_meta()
    if entry.stopping is not None:
        described["stopping"] = msgspec.to_builtins(entry.stopping)
    return described


def _common_parameters(info: EvaluatorEntry) -> list[dict[str, Any]]:
    """Return the parameters that the guide gives to every evaluator; `threshold` has the guide's name."""
    values = (
        (
            "metric_threshold",
            "Threshold of the primary metric; `metrics_meta` has those of all metrics.",
            "float",
            None,
            info.primary.threshold,
        ),
        (
            "save_llm_result",
            "Whether the report has the files with each row and its scores.",
            "bool",
            True,
            info.save_llm_result,
        ),
        (
            "sentence_level_metrics",
            "Whether parts of answers are recorded with their scores.",
            "bool",
            True,
            info.sentence_level_metrics,
        ),
        (
            "min_test_cases",
            "A model with fewer scored cases is reported as a problem; null for the run's number.",
            "int",
            None,
            info.min_test_cases,
        ),
    )
    keys = ("name", "description", "type", "default_value", "value")
    return [{**dict(zip(keys, each, strict=True)), "value_range": []} for each in values]


def describe_evaluator(
    info: EvaluatorEntry, explanations: Sequence[str], log: str = "", span: EvaluatorSpan | None = None
) -> dict[str, Any]:
    """Describe an evaluator for an export.

    Args:
        explanations: names of the explanations that the evaluator created.
        log: path of its log file in its folder, "" to leave it out.
        span: time in which it scored, None where the record has none.
    """
    specified = [
        {
            "name": parameter.name,
            "description": parameter.description,
            "type": parameter.type,
            "default_value": parameter.default,
            "value": info.parameters.get(parameter.name, parameter.default),
            "value_range": list(parameter.choices),
        }
        for parameter in info.parameters_meta
    ]
    names = {parameter.name for parameter in info.parameters_meta}
    specified += [parameter for parameter in _common_parameters(info) if parameter["name"] not in names]
    return {
        "id": info.id,
        "name": info.type,
        "display_name": info.name,
        "type": info.type,
        "description": info.description,
        **non_empty(difference_from_other_tools=info.difference),
        "model_types": list(info.model_types),
        "parameters": specified,
        "parameters_meta": specified,
        "parameter_values": dict(info.parameters),
        **non_empty(embedder=info.embedder, judge=dict(info.judge), calibration=dict(info.calibration)),
        "metrics_meta": [
            {
                "key": metric.key,
                "name": metric.name,
                "display_name": metric.name,
                "description": metric.description,
                "data_type": "float",
                "value_range": list(metric.range),
                "higher_is_better": metric.better == "higher",
                "threshold": metric.threshold,
                "is_primary_metric": metric.primary,
                "asserted": metric.key in info.asserted,
            }
            for metric in info.metrics
        ],
        "keywords": list(info.keywords),
        "explanation_scopes": ["global"],
        "explanations": list(explanations),
        "started": None if span is None else span.started,
        "finished": None if span is None else span.finished,
        **non_empty(log=log),
    }
