"""First wrong call of a failing answer for a terminal: its step, the expected call and the actual one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, call_text
from pytest_evalstudio.metrics.call_lines import CallLine, CallRules, align_calls, first_fault, read_rules
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.results import Result

CALL_CHARS = 300
_READ_CHARS = 20_000
"""Results may be megabytes; of these, more than a line is masked, so that no secret is cut in two."""


def failed_call_lines(result: Result, case: Case) -> Iterator[str]:
    """Yield the step that failed with its expected and its actual call; nothing if no call is wrong."""
    for selected, verdict in result.verdicts.items():
        if selected.spec.id == "tool_calls" and verdict.passed is False and result.decides(selected):
            rules = read_rules(selected.parameters, getattr(selected.evaluator, "tools", ()))
            yield from _first_failure(case, rules)
            return


def _first_failure(case: Case, rules: CallRules) -> Iterator[str]:
    for place, answer, expected in _judged_answers(case):
        try:
            lines = align_calls(answer.tool_calls, expected, rules)
        except EvaluationError:
            return
        fault = first_fault(lines)
        if fault is not None:
            yield from _described(place, answer, expected, lines, fault)
            return


def _judged_answers(case: Case) -> Iterator[tuple[str, Answer, Sequence[ExpectedToolCall]]]:
    """Yield answers that expect calls, with the words that locate them."""
    if case.plan is not None:
        for number, (turn, exchange) in enumerate(zip(case.plan.turns, case.answer.turns, strict=False), 1):
            if turn.expected_tool_calls is not None:
                yield f"turn {number}, ", exchange.answer, turn.expected_tool_calls
    if case.expected_tool_calls is not None:
        yield "", case.answer, case.expected_tool_calls


def _described(
    place: str,
    answer: Answer,
    expected: Sequence[ExpectedToolCall],
    lines: Sequence[CallLine],
    fault: int,
) -> Iterator[str]:
    line = lines[fault]
    count = f"of {len(answer.tool_calls):,}"
    if line.actual is not None:
        step = f"call {line.actual + 1} {count}"
    else:
        earlier = [each.actual for each in lines[:fault] if each.actual is not None]
        step = f"after call {earlier[-1] + 1} {count}" if earlier else "before the first call"
    yield f"failed step: {place}{step}: {line.state.replace('_', ' ')}"
    expected_text = "no call"
    if line.expected is not None:
        expectation = expected[line.expected]
        expected_text = call_text(expectation.name, expectation.arguments)
    yield f"  expected: {_shown(expected_text)}"
    if line.actual is None:
        yield "  actual:   no call"
        return
    call = answer.tool_calls[line.actual]
    yield f"  actual:   {_shown(call_text(call.name, call.arguments, call.arguments_text))}"
    if call.error or call.result:
        yield f"  returned: {_shown(call.error or call.result or '')}"


def _shown(text: str) -> str:
    return one_line(masked(text[:_READ_CHARS]), CALL_CHARS)
