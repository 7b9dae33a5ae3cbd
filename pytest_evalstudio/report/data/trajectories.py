"""Calls and steps of an answer for the page: aligned with the expected calls, cut to what people read."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall, json_text
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, JsonObject, RecordRow

if TYPE_CHECKING:
    from pytest_evalstudio.metrics.call_lines import CallLine, CallRules

CALLS, STEPS = 200, 400
"""Tool calls and steps of an answer that the page lists."""
PART_CHARS = 1_000
"""Characters of an argument, a result or a message of a step: what people read before they open the files."""
ARGUMENTS = 40
MAX_SAFE_INTEGER = 2**53 - 1
"""Larger integers are rounded in JavaScript."""
MAX_DEPTH = 6
"""Levels of steps within steps that the page indents; a phone has room for no more."""
_MATCH = "tool_calls_match"
CallFlags = Mapping[int, Sequence[tuple[str, str]]]
"""Index of a call to the evaluators that blame it, with their reasons."""


class PlainCall(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Call on the page whose arguments are JSON, as nearly all are; see `_call` for the others."""

    name: str
    arguments: Mapping[str, Any] = {}
    result: str = ""


class Trajectory(Struct, frozen=True, kw_only=True):
    """Calls of an answer, or of a turn, with what is wrong with them.

    Attributes:
        lines: of the calls and the expected ones; None where none are expected, or they cannot be compared.
        flags: calls that rules and definitions of tools forbid.
        is_whole: whether it repeats the calls of all turns, which the conversation's expectation is about.
    """

    answer: Answer
    expected: Sequence[ExpectedToolCall] | None
    lines: Sequence[CallLine] | None
    flags: CallFlags
    is_whole: bool = False


class TrajectoryReader:
    """Aligns the calls of rows with the expected ones, by the options of the run's evaluators of calls."""

    def __init__(self, evaluators: Mapping[str, EvaluatorEntry]) -> None:
        self._broken: set[str] = set()
        self._evaluators = {id: info for id, info in evaluators.items() if info.type == "tool_calls"}

    @functools.cached_property
    def _rules(self) -> Mapping[str, CallRules]:
        from pytest_evalstudio.metrics.call_lines import read_rules  # most runs call no tools

        return {
            id: read_rules(info.parameters, _definitions(info.parameters))
            for id, info in self._evaluators.items()
        }

    def read(self, item: Item, row: RecordRow) -> tuple[Trajectory, ...]:
        """Return the trajectory of each turn of a row, or of its only answer; () without calls or steps.

        A conversation with expected calls of its own has one more, of all its turns.
        """
        if not (
            row.answer.tool_calls
            or row.answer.steps
            or row.expected_tool_calls is not None
            or row.answer.turns
        ):
            return ()
        id = self._deciding(item)
        outcome = row.outcomes.get(id)
        flags = dict(_flags(row.outcomes))
        if not row.answer.turns:
            scores = outcome.scores if outcome else {}
            lines = self._lines(id, row.answer, row.expected_tool_calls, scores)
            return (
                Trajectory(answer=row.answer, expected=row.expected_tool_calls, lines=lines, flags=flags),
            )
        scores_of = {turn.turn: turn.outcome.scores for turn in outcome.turns} if outcome else {}
        trajectories = []
        start = 0
        for number, turn in enumerate(row.answer.turns, 1):
            calls = len(turn.answer.tool_calls)
            lines = self._lines(id, turn.answer, turn.expected_tool_calls, scores_of.get(number, {}))
            own_flags = {index - start: texts for index, texts in flags.items() if 0 <= index - start < calls}
            trajectories.append(
                Trajectory(
                    answer=turn.answer, expected=turn.expected_tool_calls, lines=lines, flags=own_flags
                )
            )
            start += calls
        if (expected := row.expected_tool_calls) is not None:
            lines = self._lines(id, row.answer, expected, outcome.scores if outcome else {})
            trajectories.append(
                Trajectory(answer=row.answer, expected=expected, lines=lines, flags={}, is_whole=True)
            )
        return tuple(trajectories)

    def _deciding(self, item: Item) -> str:
        """Return the evaluator of calls that fails the item, else the first one; "" for none."""
        failing = (id for id in self._evaluators if id in item.verdicts and item.verdicts[id].passed is False)
        return next(failing, next((id for id in self._evaluators if id in item.verdicts), ""))

    def _lines(
        self,
        id: str,
        answer: Answer,
        expected: Sequence[ExpectedToolCall] | None,
        scores: Mapping[str, float | None],
    ) -> Sequence[CallLine] | None:
        if expected is None or answer.error or id in self._broken:
            return None
        from pytest_evalstudio.metrics.call_lines import CallLine, CallRules, align_calls

        try:
            lines = align_calls(answer.tool_calls, expected, self._rules.get(id) or CallRules())
        except EvaluationError:
            self._broken.add(id)  # a slow pattern takes seconds in each case that has it
            return None
        if scores.get(_MATCH) != 1.0 or not any(line.is_fault for line in lines):
            return lines
        # Defaults of arguments stand in a file that the record names only: the recorded verdict decides.
        return [
            CallLine(state="matches", expected=line.expected, actual=line.actual) if line.is_fault else line
            for line in lines
        ]


def _definitions(parameters: Mapping[str, object]) -> object:
    """Return the tools' definitions that the record has; a file that it names is not read."""
    tools = parameters.get("tools")
    return tools if isinstance(tools, list | tuple) else ()


def _flags(outcomes: Mapping[str, Outcome]) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Yield the calls that evaluators name in their details, with the reasons."""
    flags: dict[int, list[tuple[str, str]]] = {}
    for id, outcome in outcomes.items():
        for name in ("broken", "invalid"):
            for fault in outcome.details.get(name) or () if outcome.details else ():
                number = fault.get("call") if isinstance(fault, dict) else None
                if isinstance(number, int):
                    flags.setdefault(number - 1, []).append((id, str(fault.get("text", ""))[:PART_CHARS]))
    yield from flags.items()


def trajectory_entry(trajectory: Trajectory) -> JsonObject:
    """Return a trajectory as data of the page; {} where nothing is known of it."""
    calls = trajectory.answer.tool_calls
    entry: JsonObject = {}
    if calls:
        entry["calls"] = [_plain_call(call) or _call(call) for call in calls[:CALLS]]
    if len(calls) > CALLS:
        entry["calls_left_out"] = len(calls) - CALLS
    if trajectory.expected is not None:
        entry["expected_calls"] = [
            {"name": _cut(call.name), "args": _arguments(call.arguments)}
            for call in trajectory.expected[:CALLS]
        ]
        if len(trajectory.expected) > CALLS:
            entry["expected_count"] = len(trajectory.expected)
    if trajectory.lines is not None:
        entry |= _line_entries(trajectory.lines)
    if flags := {str(index): list(texts) for index, texts in trajectory.flags.items() if index < CALLS}:
        entry["flags"] = flags
    if trajectory.is_whole:
        return entry
    if steps := trajectory.answer.steps:
        entry["steps"] = _steps(steps[:STEPS], calls)
        if len(steps) > STEPS:
            entry["steps_left_out"] = len(steps) - STEPS
    elif any(
        call.agent or call.started_s is not None or call.duration_s is not None for call in calls[:CALLS]
    ):
        # Else the page makes a step of each call, which keeps files of many calls small.
        own_steps = [
            Step(kind="tool", name=call.name, agent=call.agent, call=index)
            for index, call in enumerate(calls[:CALLS])
        ]
        entry["steps"] = _steps(own_steps, calls)
    return entry


def _line_entries(lines: Sequence[CallLine]) -> JsonObject:
    """Return lines as [state, expected, actual, wrong arguments], and the one to read first."""
    shown = [line for line in lines if (line.expected or 0) < CALLS and (line.actual or 0) < CALLS]
    entry: JsonObject = {
        "lines": [
            [
                line.state,
                -1 if line.expected is None else line.expected,
                -1 if line.actual is None else line.actual,
                *(([name[:PART_CHARS] for name in line.wrong[:ARGUMENTS]],) if line.wrong else ()),
            ]
            for line in shown
        ]
    }
    from pytest_evalstudio.metrics.call_lines import first_fault

    fault = first_fault(shown)
    if fault is not None:
        entry["fault"] = fault
    if hidden := sum(line.is_fault for line in lines) - sum(line.is_fault for line in shown):
        entry["faults_left_out"] = hidden
    return entry


def _plain_call(call: ToolCall) -> PlainCall | None:
    """Return a call as it is, if nothing of it is cut, and JavaScript writes its arguments as Python does."""
    arguments, result = call.arguments, call.result or ""
    if call.error or call.arguments_text or len(arguments) > ARGUMENTS:
        return None
    for name, value in arguments.items():
        kind = value.__class__
        if kind is str:
            if len(value) >= PART_CHARS:
                return None
        elif kind is int:
            if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
                return None
        elif kind is not bool:  # Python writes a float as 1.0, JavaScript as 1
            return None
        # The engine sorts names that are numbers before all others.
        if len(name) > PART_CHARS or name.isdigit():
            return None
    if len(call.name) > PART_CHARS or len(result) > PART_CHARS:
        return None
    return PlainCall(name=call.name, arguments=arguments, result=result)


def _call(call: ToolCall) -> JsonObject:
    arguments = call.arguments
    args = _arguments(arguments) if arguments or not call.arguments_text else _cut(call.arguments_text)
    entry: JsonObject = {"name": _cut(call.name), "args": args}
    if call.result:
        entry["result"] = _cut(call.result)
    if call.error:
        entry["error"] = _cut(call.error)
    return entry


def _arguments(arguments: Mapping[str, object]) -> list[list[object]]:
    """Return names and values as JSON; a last entry without a value counts those that are left out."""
    parts: list[list[object]] = []
    for name, value in arguments.items():
        if len(parts) == ARGUMENTS:
            parts.append([len(arguments) - ARGUMENTS])
            break
        text = json_text(value)
        # Written out: a run can have a million arguments, and a call of `_cut` doubles the time.
        is_short = len(name) <= PART_CHARS and len(text) <= PART_CHARS
        parts.append([name, text] if is_short else [_cut(name), _cut(text)])
    return parts


def _steps(steps: Sequence[Step], calls: Sequence[ToolCall]) -> list[JsonObject]:
    depths = _depths(steps)
    starts = [_started(step, calls) for step in steps]
    origin = min((start for start in starts if start is not None), default=0.0)
    return [
        _step(step, calls[step.call] if step.call is not None and step.call < len(calls) else None, depth)
        | ({} if start is None else {"at": round(start - origin, 4)})
        for step, depth, start in zip(steps, depths, starts, strict=True)
    ]


def _step(step: Step, call: ToolCall | None, depth: int) -> JsonObject:
    """Return a step as data of the page; the name, agent and seconds of a call stand for missing ones."""
    entry: JsonObject = {"kind": step.kind}
    if depth:
        entry["depth"] = depth
    if step.call is not None and step.call < CALLS:
        entry["call"] = step.call
    if name := step.name or (call.name if call else ""):
        entry["name"] = _cut(name)
    if agent := step.agent or (call.agent if call else ""):
        entry["agent"] = _cut(agent)
    if step.text:
        entry["text"] = _cut(step.text)
    duration = step.duration_s if step.duration_s is not None or call is None else call.duration_s
    if duration is not None:
        entry["took"] = round(duration, 4)
    if step.usage:
        from pytest_evalstudio.core.usage import INPUT, OUTPUT

        entry["tokens"] = sum(step.usage.get(kind, 0) for kind in (INPUT, OUTPUT))
    if step.cost_usd:
        entry["cost"] = step.cost_usd
    if step.error:
        entry["error"] = _cut(step.error)
    return entry


def _started(step: Step, calls: Sequence[ToolCall]) -> float | None:
    if step.started_s is not None or step.call is None or step.call >= len(calls):
        return step.started_s
    return calls[step.call].started_s


def _depths(steps: Sequence[Step]) -> list[int]:
    """Return how deep each step is nested, at most `MAX_DEPTH`; parents that go in circles end there."""
    parents = {step.id: step.parent for step in steps if step.id}
    depths = []
    for step in steps:
        depth, parent = 0, step.parent
        while parent in parents and depth < MAX_DEPTH:
            depth, parent = depth + 1, parents[parent]
        depths.append(depth)
    return depths


def _cut(text: str) -> str | list[object]:
    """Return a text, or its beginning and the number of characters left out."""
    return text if len(text) <= PART_CHARS else [text[:PART_CHARS], len(text) - PART_CHARS]


def trajectory_chars(trajectories: Sequence[Trajectory]) -> int:
    """Return about how many characters the entries of trajectories take."""
    return sum(map(_chars, trajectories))


def _chars(trajectory: Trajectory) -> int:
    calls = trajectory.answer.tool_calls[:CALLS]
    results = sum([len(call.result or "") for call in calls])
    arguments = sum([len(call.arguments) for call in calls])
    return (
        60 * (len(calls) + len(trajectory.answer.steps[:STEPS]) + len(trajectory.expected or ()))
        + min(PART_CHARS * len(calls), results)
        + 40 * min(ARGUMENTS * len(calls), arguments)
    )
