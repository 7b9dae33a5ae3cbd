"""JSON Schema: is the answer JSON, and of the shape that was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import boolean_metrics, boolean_outcome, keywords
from pytest_evalstudio.metrics.json_schema import json_fault, read_schema


@evaluator(
    "json_schema",
    name="JSON Schema",
    domain="generation",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based", "capability-answer-highlight"),
)
@dataclass(frozen=True)
class JsonSchema:
    """The whole answer parses as JSON and is valid under a schema.

    `json_schema` is a schema, its JSON text, or the path of its file; {} asks for JSON of any shape.
    OpenAI's form of a response format is unwrapped, unknown keywords are errors, and `format` is checked. A
    case may bring its own under the key `json_schema`. The context is not judged.

    Source: JSON Schema, draft 2020-12.
    """

    json_schema: str | Mapping[str, Any] = "{}"
    path_options: ClassVar[tuple[str, ...]] = ("json_schema",)
    expectations: ClassVar[tuple[str, ...]] = ("json_schema",)
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Valid JSON (pass)", "Invalid JSON (fail)", "Invalid retrieved JSON", "Invalid generated JSON"
    )

    def __post_init__(self) -> None:
        read_schema(self.json_schema, ".")

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        schema = read_schema(self.json_schema, ".")
        return [self._score(case, schema) for case in cases]

    def _score(self, case: Case, schema: str) -> Outcome:
        try:
            of_case = case.extra.get("json_schema")
            fault, location = json_fault(
                case.actual_output, schema if of_case is None else read_schema(of_case, case.folder)
            )
        except (ConfigurationError, EvaluationError) as exc:
            return Outcome.error(str(exc), OutcomeCode.INPUT_INVALID)
        fragments = (
            []
            if location < 0
            else [
                Fragment(
                    # JSON that breaks off is at fault after its last character
                    start=min(location, len(case.actual_output) - 1),
                    end=min(location + 1, len(case.actual_output)),
                    message=fault,
                )
            ]
        )
        return boolean_outcome(self.metrics, fault, fragments=fragments)
