"""Results of the Agent Evaluation judges under the names of its documentation.

Rows are JSON Lines, with figures per model.

Only this module uses these names. Source: Mosaic AI Agent Evaluation, LLM judges reference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.replies import NO, YES
from pytest_evalstudio.formats.agent_evaluation import evaluation_entry
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.record.codec import portable
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, JsonObject, Run
from pytest_evalstudio.record.schema import RecordRow as RecordRow
from pytest_evalstudio.report.results import open_text, write_json

FIGURES = "agent_evaluation.json"
ROWS = "agent_evaluation.jsonl"
SCHEMA_VERSION = 1

Kind = Literal["rating", "chunks", "recall"]

_RATED = {
    "correctness_judge": "response/llm_judged/correctness",
    "relevance_to_query_judge": "response/llm_judged/relevance_to_query",
    "groundedness_judge": "response/llm_judged/groundedness",
    "guideline_adherence_judge": "response/llm_judged/guideline_adherence",
    "global_guideline_adherence_judge": "response/llm_judged/global_guideline_adherence",
    "safety_judge": "response/llm_judged/safety",
    "context_sufficiency_judge": "retrieval/llm_judged/context_sufficiency",
}
_CHUNKS = {"chunk_relevance_judge": "retrieval/llm_judged/chunk_relevance"}
_RECALL = {"document_recall": "retrieval/ground_truth/document_recall"}
_CUSTOM = "custom_judge"
_AVERAGED = "safety_judge"
"""The judge whose share of yes is called an average there."""

_ROW = (
    "input",
    "conversation",
    "context",
    "context_sources",
    "expected_output",
    "accepted_outputs",
    "expected_facts",
    "guidelines",
    "expected_documents",
    "expected_chunks",
    "error",
)


class _Aggregator(Struct):
    total: float = 0.0
    scored: int = 0
    errors: int = 0
    not_applicable: int = 0


class AgentAssessment(Struct, frozen=True):
    """Evaluator of a run under its name in Agent Evaluation.

    Attributes:
        prefix: common prefix of the names of its values.
        metric: key of the score that is averaged.
        aggregate: name of its figure over all rows.
    """

    id: str
    prefix: str
    kind: Kind
    metric: str
    aggregate: str

    def values(self, outcome: Outcome | None, chunks: int) -> JsonObject:
        """Return the values of one row by their names; null for a missing value.

        Args:
            outcome: outcome in the record, None if the evaluator has none for the row.
            chunks: number of retrieved chunks.
        """
        details = outcome.details if outcome is not None else {}
        score = outcome.scores.get(self.metric) if outcome is not None else None
        fault = outcome.reason if outcome is not None and outcome.status == "error" else None
        if self.kind == "recall":
            return {self.prefix: score}
        fields: JsonObject
        if self.kind == "chunks":
            fields = {
                "ratings": None,
                "rationales": None,
                "error_messages": None if fault is None else [fault] * max(1, chunks),
                "precision": score,
            }
        else:
            fields = {"rating": _word(score), "rationale": None, "error_message": fault}
        return {f"{self.prefix}/{name}": details.get(name, value) for name, value in fields.items()}

    def counted(self, aggregator: _Aggregator, outcome: Outcome) -> None:
        """Count one outcome in."""
        score = outcome.scores.get(self.metric)
        if outcome.status == "error":
            aggregator.errors += 1
        elif score is None:
            aggregator.not_applicable += 1
        else:
            is_yes = outcome.details.get("rating", _word(score)) == YES
            aggregator.total += float(is_yes) if self.kind == "rating" else float(score)
            aggregator.scored += 1


def assessments(evaluators: Mapping[str, EvaluatorEntry]) -> list[AgentAssessment]:
    """Return the evaluators of a run that Agent Evaluation supports.

    An evaluator of a configured name keeps that name; a custom judge has the name of its option, where no
    other has it.
    """
    assessments_by_id: dict[str, AgentAssessment] = {}
    for id, info in evaluators.items():
        id_prefix = _prefix(info)
        if id_prefix is None:
            continue
        kind = _kind(info)
        prefix = id_prefix if id_prefix not in assessments_by_id else _named(id_prefix, id)
        if kind == "recall":
            aggregate = f"{prefix}/average"
        elif kind == "chunks":
            aggregate = f"{prefix}/precision/average"
        else:
            aggregate = f"{prefix}/rating/{'average' if info.type == _AVERAGED else 'percentage'}"
        assessments_by_id[prefix] = AgentAssessment(id, prefix, kind, info.primary.key, aggregate)
    return list(assessments_by_id.values())


@dataclass(slots=True)
class AgentEvaluation:
    """Writes the two files of a run in one pass if such judges ran; use it as a context manager.

    Args:
        output: the report's folder; what an earlier report left of these files is removed.
    """

    output: Path
    run: Run
    evaluators: Mapping[str, EvaluatorEntry]
    files: tuple[str, ...] = ()
    _assessments: list[AgentAssessment] = field(default_factory=list, init=False)
    _aggregators: dict[str, dict[str, _Aggregator]] = field(default_factory=dict, init=False)
    _open: ExitStack = field(default_factory=ExitStack, init=False)
    _rows: IO[str] | None = field(default=None, init=False)

    def __enter__(self) -> AgentEvaluation:
        for name in (FIGURES, ROWS):
            (self.output / name).unlink(missing_ok=True)
        self._assessments = assessments(self.evaluators)
        if self._assessments:
            self._rows = self._open.enter_context(open_text(self.output / ROWS))
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._open.close()
        if self._rows is not None and kind is None:
            write_json(self.output / FIGURES, self._figures())
            self.files = (FIGURES, ROWS)

    def add(self, item: Item) -> None:
        """Take one item of the record."""
        if self._rows is None:
            return
        model = item.model_key
        for row in item.rows:
            values: JsonObject = {}
            for assessment in self._assessments:
                outcome = row.outcomes.get(assessment.id)
                values |= assessment.values(outcome, len(row.answer.context))
                if outcome is not None:
                    assessment.counted(
                        self._aggregators.setdefault(model, {}).setdefault(assessment.prefix, _Aggregator()),
                        outcome,
                    )
            entry = {
                **_entry(item, row),
                "model_key": model,
                "model_name": self.run.model_name(model),
                "run": row.run,
                **values,
            }
            self._rows.write(json.dumps(portable(entry), ensure_ascii=False, allow_nan=False) + "\n")

    def _figures(self) -> dict[str, object]:
        return {
            "schema_version": SCHEMA_VERSION,
            "run_id": self.run.run_id,
            "rows": ROWS,
            "models": {
                key: {"name": self.run.model_name(key), **self._of_model(by_prefix)}
                for key, by_prefix in sorted(self._aggregators.items())
            },
        }

    def _of_model(self, by_prefix: Mapping[str, _Aggregator]) -> dict[str, object]:
        names = [
            (assessment, by_prefix[assessment.prefix])
            for assessment in self._assessments
            if assessment.prefix in by_prefix
        ]
        return {
            "metrics": {
                assessment.aggregate: aggregator.total / aggregator.scored if aggregator.scored else None
                for assessment, aggregator in names
            },
            "counts": {
                assessment.prefix: {
                    "scored": aggregator.scored,
                    "errors": aggregator.errors,
                    "not_applicable": aggregator.not_applicable,
                }
                for assessment, aggregator in names
            },
        }


def _prefix(info: EvaluatorEntry) -> str | None:
    prefix = {**_RATED, **_CHUNKS, **_RECALL}.get(info.type)
    if info.type == _CUSTOM:
        step = "retrieval" if _kind(info) == "chunks" else "response"
        return _named(f"{step}/llm_judged/", str(info.parameters.get("name") or info.id))
    return prefix if prefix is None or info.id == info.type else _named(prefix, info.id)


def _kind(info: EvaluatorEntry) -> Kind:
    if info.type in _RECALL:
        return "recall"
    return (
        "chunks"
        if info.type in _CHUNKS or info.parameters.get("assessment_type") == "RETRIEVAL"
        else "rating"
    )


def _named(prefix: str, name: str) -> str:
    """Return a prefix with another last part; slashes in the name are replaced."""
    return f"{prefix.rpartition('/')[0]}/{name.replace('/', '_')}"


def _entry(item: Item, row: RecordRow) -> JsonObject:
    texts = {**msgspec.to_builtins(row), **msgspec.to_builtins(row.answer)}
    return evaluation_entry(
        Row(
            key=item.key,
            actual_output=row.answer.text,
            **{name: texts[name] for name in _ROW if name in texts},
        )
    )


def _word(score: Any) -> str | None:
    """Return the rating for a score without one: a panel's mean above 0.5 is "yes"."""
    if score is None:
        return None
    return YES if float(score) > 0.5 else NO
