"""Tool arguments: validity of calls under the definitions of the tools, and support of their identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import keywords, listed
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.tool_definitions import call_fault, read_definitions, unsupported_values

_SHOWN = 5


@evaluator(
    "tool_arguments",
    name="Tool arguments",
    domain="generation",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based", "evaluation-method-agents"),
)
@dataclass(frozen=True)
class ToolArguments:
    """The model calls tools that exist, with arguments that their definitions permit.

    `tools` is a JSON file or list with the definitions of the tools, in the form of OpenAI, Anthropic,
    Bedrock or MCP. Unknown tools, unknown parameters and invalid arguments are faults; without definitions,
    only the form of the arguments is checked. An answer without calls is not scored.

    The second metric is the share of identifiers in the arguments that occur in the question, the
    conversation, the context or the result of an earlier call. It decides only with a threshold of yours.

    Source: JSON Schema, draft 2020-12; own definition of support.
    """

    applies_without_text: ClassVar[bool] = True
    reads_trace: ClassVar[bool] = True
    applies_to_refusals: ClassVar[bool] = True
    judges_conversations: ClassVar[bool] = True
    tools: str | tuple[Mapping[str, Any], ...] = ()
    path_options: ClassVar[tuple[str, ...]] = ("tools",)
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "valid_tool_calls",
            "Valid tool calls",
            threshold=1.0,
            primary=True,
            description="Valid calls divided by all calls.",
        ),
        Metric(
            "supported_identifiers",
            "Supported identifiers",
            threshold=0.0,
            description="Identifiers that stand in what came before, divided by all identifiers.",
        ),
    )

    def __post_init__(self) -> None:
        read_definitions(self.tools)  # a fault of the definitions is to be seen before the run

    def not_applicable(self, case: Case) -> str:
        return "" if case.tool_calls else "the answer has no tool calls"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        definitions = read_definitions(self.tools)
        return [self._score(case, definitions) for case in cases]

    def _score(self, case: Case, definitions: Mapping[str, str]) -> Outcome:
        try:
            faults = [call_fault(call, definitions) for call in case.tool_calls]
        except EvaluationError as exc:
            return Outcome.error(str(exc), OutcomeCode.INPUT_INVALID)
        invalid = [
            {"call": number, "tool": call.name, "text": one_line(fault)}
            for number, (call, fault) in enumerate(zip(case.tool_calls, faults, strict=True), 1)
            if fault
        ]
        wrong = [one_line("call {call}, {tool}: {text}".format_map(entry)) for entry in invalid]
        texts = [case.question, *(turn.content for turn in case.conversation), *case.context]
        count, unsupported = unsupported_values(case.tool_calls, texts)
        parts = [f"not valid: {listed(wrong, _SHOWN)}"] if wrong else []
        if unsupported:
            parts.append(f"without support: {listed([one_line(word) for word in unsupported], _SHOWN)}")
        return Outcome.score(
            {
                "valid_tool_calls": 1 - len(wrong) / len(faults),
                # Calls without identifiers say nothing of support.
                "supported_identifiers": 1 - len(unsupported) / count if count else None,
            },
            reason="; ".join(parts),
            details={"invalid": invalid} if invalid else {},
        )
