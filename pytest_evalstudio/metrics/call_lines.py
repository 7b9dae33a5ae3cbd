"""Expected calls beside the calls of an answer, line by line, for people who read a failing case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.metrics.tool_calls import NO_DEFAULTS, CallComparison, Defaults, Mode, compare_calls
from pytest_evalstudio.metrics.tool_definitions import default_arguments, read_definitions

LineState = Literal[
    "matches",
    "wrong_arguments",
    "missing",
    "unexpected",
    "out_of_order",
    "allowed",
    "optional",
    "not_judged",
]
FAULTS: frozenset[LineState] = frozenset({"wrong_arguments", "missing", "unexpected", "out_of_order"})
_ORDERED: tuple[Mode, ...] = ("exact", "in_order")
_OTHERS_ALLOWED: tuple[Mode, ...] = ("superset", "in_order")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """An expected call and the call that is nearest to it; one of both may be missing.

    Attributes:
        state: "allowed" is a call beyond the expected ones that the mode permits, "optional" an expected one
            that may be left out, "not_judged" a call of a tool that the options leave out.
        expected: index among the expected calls, None for none.
        actual: index among the calls of the answer, None for none.
        wrong: names of the arguments that differ.
    """

    state: LineState
    expected: int | None = None
    actual: int | None = None
    wrong: tuple[str, ...] = ()

    @property
    def is_fault(self) -> bool:
        return self.state in FAULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRules:
    """Options of a comparison of calls; see `evaluators.tool_calls`."""

    mode: Mode = "any_order"
    only: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    forbid_others: bool = False
    defaults: Defaults = field(default_factory=lambda: NO_DEFAULTS)


def read_rules(parameters: Mapping[str, Any], tools: object = ()) -> CallRules:
    """Return the options of an evaluator of calls from its parameters.

    Args:
        parameters: as the record has them; what is no option of such an evaluator is left out.
        tools: definitions of the tools, or the path of their file; () for none. Definitions that cannot be
            read give no defaults.
    """
    mode: Mode = next((each for each in get_args(Mode) if each == parameters.get("mode")), "any_order")
    try:
        defaults = default_arguments(read_definitions(tools)) if tools else NO_DEFAULTS
    except ConfigurationError:
        defaults = NO_DEFAULTS
    return CallRules(
        mode=mode,
        only=tuple(map(str, parameters.get("only") or ())),
        ignore=tuple(map(str, parameters.get("ignore") or ())),
        forbid_others=parameters.get("other_arguments") == "forbid",
        defaults=defaults,
    )


def is_selected(name: str, only: Sequence[str], ignore: Sequence[str]) -> bool:
    """Return whether the patterns of an evaluator's options select the name of a tool."""

    def fits(patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    return (not only or fits(only)) and not fits(ignore)


def align_calls(
    actual: Sequence[ToolCall], expected: Sequence[ExpectedToolCall], rules: CallRules
) -> tuple[CallLine, ...]:
    """Return a line for each call and each expected call, in the order of the calls.

    A missing call stands where it is expected. The pairs are those of `compare_calls`.

    Raises:
        EvaluationError: if a matcher cannot be evaluated.

    >>> calls = [ToolCall(name="find"), ToolCall(name="cancel", arguments={"id": 2})]
    >>> expectations = [ExpectedToolCall(name="cancel", arguments={"id": 1}), ExpectedToolCall(name="mail")]
    >>> [(line.state, line.expected, line.actual) for line in align_calls(calls, expectations, CallRules())]
    [('unexpected', None, 0), ('wrong_arguments', 0, 1), ('missing', 1, None)]
    """
    call_indices = [
        index for index, call in enumerate(actual) if is_selected(call.name, rules.only, rules.ignore)
    ]
    expected_indices = [
        index for index, call in enumerate(expected) if is_selected(call.name, rules.only, rules.ignore)
    ]
    comparison = compare_calls(
        [actual[index] for index in call_indices],
        [expected[index] for index in expected_indices],
        mode=rules.mode,
        forbid_others=rules.forbid_others,
        defaults=rules.defaults,
    )
    line_of = {
        line.actual: line for line in _pair_lines(comparison, call_indices, expected_indices, rules.mode)
    }
    others: LineState = "allowed" if rules.mode in _OTHERS_ALLOWED else "unexpected"
    judged = set(call_indices)
    missing = [expected_indices[index] for index in comparison.missing]
    absent: LineState = "optional" if rules.mode == "subset" else "missing"
    lines = []
    for index in range(len(actual)):
        line = line_of.get(index) or CallLine(state=others if index in judged else "not_judged", actual=index)
        while missing and line.expected is not None and missing[0] < line.expected:
            lines.append(CallLine(state=absent, expected=missing.pop(0)))
        lines.append(line)
    return *lines, *(CallLine(state=absent, expected=index) for index in missing)


def _pair_lines(
    comparison: CallComparison, call_indices: Sequence[int], expected_indices: Sequence[int], mode: Mode
) -> list[CallLine]:
    lines = []
    last = -1
    for pair in comparison.pairs:
        state: LineState = "matches"
        if pair.faults:
            state = "wrong_arguments"
        elif mode in _ORDERED and not comparison.in_order and pair.actual < last:
            state = "out_of_order"
        last = max(last, pair.actual)
        lines.append(
            CallLine(
                state=state,
                expected=expected_indices[pair.expected],
                actual=call_indices[pair.actual],
                wrong=tuple(fault.name for fault in pair.faults),
            )
        )
    return lines


def first_fault(lines: Sequence[CallLine]) -> int | None:
    """Return the index of the first line that is wrong, None where none is."""
    return next((index for index, line in enumerate(lines) if line.is_fault), None)
