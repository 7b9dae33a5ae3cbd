"""Tool calls: the calls that the model made against those that the case expects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall, call_text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import keywords, listed
from pytest_evalstudio.metrics.call_lines import is_selected
from pytest_evalstudio.metrics.matching import ABSENT
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.tool_calls import (
    MAX_ASSIGNED,
    NO_DEFAULTS,
    ArgumentFault,
    CallComparison,
    Defaults,
    Mode,
    compare_calls,
)
from pytest_evalstudio.metrics.tool_definitions import default_arguments, read_definitions

_SHOWN_CALLS = 5
_READ_CHARS = 2_000
"""Arguments that are not a JSON object may be megabytes; a message shows a line of them."""
_EXPORTED_CALLS = 100
"""Differences of a kind that exports list; the record has all calls."""


def _share(key: str, name: str, description: str) -> Metric:
    return Metric(key, name, threshold=0.0, description=description)


@evaluator(
    "tool_calls",
    name="Tool calls",
    domain="generation",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based", "evaluation-method-agents"),
)
@dataclass(frozen=True)
class ToolCalls:
    """The model calls the tools that the case expects, with the expected arguments.

    The key `expected_tool_calls` of a test case lists the calls; arguments are literals or matchers. A case
    without the key is not scored; an empty list expects no call. `mode` is "any_order", "exact", "in_order",
    "superset" or "subset": whether order and further calls count. `only` and `ignore` are patterns of names.
    `other_arguments`: "allow" or "forbid" arguments that no expectation has. `tools` has definitions of the
    tools: an argument with its default counts as absent.

    Source: trajectory matching of ADK, Vertex AI and agentevals, with a best assignment for repeated calls.
    """

    applies_without_text: ClassVar[bool] = True
    reads_trace: ClassVar[bool] = True
    applies_to_refusals: ClassVar[bool] = True
    expectations: ClassVar[tuple[str, ...]] = ("expected_tool_calls",)
    mode: Mode = "any_order"
    only: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    other_arguments: str = "allow"
    tools: str | tuple[Mapping[str, Any], ...] = ()
    path_options: ClassVar[tuple[str, ...]] = ("tools",)
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "tool_calls_match",
            "Tool calls match",
            threshold=1.0,
            primary=True,
            boolean=True,
            description="1.0 where the calls are as the mode asks, else 0.0.",
        ),
        _share("tool_call_precision", "Precision of calls", "Matching calls divided by all calls."),
        _share("tool_call_recall", "Recall of calls", "Matching calls divided by expected calls."),
        _share(
            "tool_argument_accuracy",
            "Accuracy of arguments",
            "Matching arguments divided by compared ones, over calls of an expected tool.",
        ),
    )

    def __post_init__(self) -> None:
        if self.other_arguments not in ("allow", "forbid"):
            raise ValueError(f'other_arguments: expected "allow" or "forbid", found {self.other_arguments!r}')
        self._defaults()  # a fault of the definitions is to be seen before the run

    def not_applicable(self, case: Case) -> str:
        return "the case has no expected_tool_calls" if case.expected_tool_calls is None else ""

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        defaults = self._defaults()
        return [self._score(case, defaults) for case in cases]

    def _defaults(self) -> Defaults:
        return default_arguments(read_definitions(self.tools)) if self.tools else NO_DEFAULTS

    def _score(self, case: Case, defaults: Defaults) -> Outcome:
        assert case.expected_tool_calls is not None  # see `not_applicable`
        expected = [
            call for call in case.expected_tool_calls if is_selected(call.name, self.only, self.ignore)
        ]
        # The numbers among all calls, as the report lists
        # them, also where `only` and `ignore` leave calls out.
        numbered = [
            (number, call)
            for number, call in enumerate(case.tool_calls, 1)
            if is_selected(call.name, self.only, self.ignore)
        ]
        actual, numbers = [call for _, call in numbered], [number for number, _ in numbered]
        try:
            comparison = compare_calls(
                actual,
                expected,
                mode=self.mode,
                forbid_others=self.other_arguments == "forbid",
                defaults=defaults,
            )
        except EvaluationError as exc:
            return Outcome.error(str(exc), OutcomeCode.INPUT_INVALID)
        return Outcome.score(
            {
                "tool_calls_match": float(comparison.matches),
                "tool_call_precision": comparison.precision,
                "tool_call_recall": comparison.recall,
                "tool_argument_accuracy": comparison.argument_accuracy,
            },
            reason="" if comparison.matches else self._explanation(comparison, actual, expected, numbers),
            code=OutcomeCode.NONE if comparison.matches else OutcomeCode.CALLS_DIFFER,
            details=_details(comparison, actual, expected, numbers),
        )

    def _explanation(
        self,
        comparison: CallComparison,
        actual: Sequence[ToolCall],
        expected: Sequence[ExpectedToolCall],
        numbers: Sequence[int],
    ) -> str:
        parts = []
        # In the other modes an expected call may not be missing.
        if self.mode != "subset":
            missing = [_shown(expected[index]) for index in comparison.missing]
            parts += [f"missing: {listed(missing, _SHOWN_CALLS)}"] if missing else []
        wrong = [
            f"{expected[pair.expected].name} (call {numbers[pair.actual]}): "
            + listed([_difference(fault) for fault in pair.faults])
            for pair in comparison.pairs
            if pair.faults
        ]
        parts += [f"wrong arguments: {listed(wrong, _SHOWN_CALLS)}"] if wrong else []
        # These modes allow further calls.
        if self.mode not in ("superset", "in_order"):
            others = [_shown(actual[index]) for index in comparison.unexpected]
            parts += [f"unexpected: {listed(others, _SHOWN_CALLS)}"] if others else []
        # Where nothing is missing, wrong or unexpected, only the order is left.
        if not parts or (self.mode in ("exact", "in_order") and not comparison.in_order and not wrong):
            names = one_line(", ".join(call.name for call in expected))
            parts.append(f"another order than {names}")
        if comparison.greedy:
            parts.append(f"paired in sequence: more than {MAX_ASSIGNED} calls of {listed(comparison.greedy)}")
        return "; ".join(parts)


def _shown(call: ToolCall | ExpectedToolCall) -> str:
    text = call.arguments_text[:_READ_CHARS] if isinstance(call, ToolCall) else ""
    return one_line(call_text(call.name, call.arguments, text))


def _value(value: object) -> str:
    if value is ABSENT:
        return "nothing"
    return json.dumps(value, ensure_ascii=False, default=str)


def _difference(fault: ArgumentFault) -> str:
    if fault.expected is ABSENT:
        return one_line(f"{fault.name}={_value(fault.actual)} is not expected")
    return one_line(f"{fault.name}={_value(fault.actual)}, expected {_value(fault.expected)}")


def _details(
    comparison: CallComparison,
    actual: Sequence[ToolCall],
    expected: Sequence[ExpectedToolCall],
    numbers: Sequence[int],
) -> dict[str, Any]:
    """Return the differences for exports; {} where there are none.

    Args:
        numbers: of the judged calls among all calls of the answer, from 1.
    """

    def wrong() -> Iterator[dict[str, Any]]:
        for pair in comparison.pairs:
            for fault in pair.faults:
                yield {
                    "tool": expected[pair.expected].name,
                    "call": numbers[pair.actual],
                    "argument": fault.name,
                    "expected": None if fault.expected is ABSENT else fault.expected,
                    "actual": None if fault.actual is ABSENT else fault.actual,
                }

    parts = {
        "missing": [expected[index].to_dict() for index in comparison.missing],
        "unexpected": [actual[index].to_dict() for index in comparison.unexpected],
        "wrong_arguments": list(wrong()),
    }
    return {name: value[:_EXPORTED_CALLS] for name, value in parts.items() if value}
