"""Comparison of the calls that a model made with those that are expected."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pytest_evalstudio.core.json_pointers import member
from pytest_evalstudio.core.tool_calls import NO_ARGUMENTS, ExpectedToolCall, ToolCall
from pytest_evalstudio.metrics.assignment import best_assignment
from pytest_evalstudio.metrics.matching import ABSENT, matches

Mode = Literal["exact", "in_order", "any_order", "subset", "superset"]
Defaults = Mapping[str, Mapping[str, Any]]
"""Tool to the default of each optional argument."""
NO_DEFAULTS: Defaults = MappingProxyType({})
MAX_ASSIGNED = 200
"""Calls of one tool up to which the best assignment is searched; its time is cubic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentFault:
    """Argument of a call that differs from the expected one.

    Attributes:
        expected: value or matcher; ABSENT for an argument that is not allowed.
        actual: value; ABSENT for a missing argument.
    """

    name: str
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRules:
    """Rules for arguments that an expectation does not name.

    Attributes:
        forbid_others: whether they are wrong, where the expectation does not say.
        defaults: by tool; an argument with its default counts as absent.
    """

    forbid_others: bool
    defaults: Defaults


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPair:
    """Expected call and the call that is nearest to it.

    Attributes:
        expected: index among the expected calls.
        actual: index among the calls.
        arguments: number of arguments that are compared.
        faults: those that differ.
    """

    expected: int
    actual: int
    arguments: int
    faults: tuple[ArgumentFault, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallComparison:
    """Result of a comparison of calls.

    Attributes:
        matches: whether the calls are as the mode asks.
        pairs: expected calls with the nearest call of the same tool, in the order of expectation.
        missing: indices of expected calls without any call.
        unexpected: indices of calls that no expected call has.
        in_order: whether the matching calls come in the expected order.
        greedy: tools with too many calls for the best assignment.
        precision: matching calls divided by all calls; None without calls.
        recall: matching calls divided by expected calls; None where no call is expected.
        argument_accuracy: matching arguments divided by compared ones, in all pairs; None without any.
    """

    matches: bool
    pairs: tuple[CallPair, ...]
    missing: tuple[int, ...]
    unexpected: tuple[int, ...]
    in_order: bool
    greedy: tuple[str, ...]
    precision: float | None
    recall: float | None
    argument_accuracy: float | None


def compare_calls(
    actual: Sequence[ToolCall],
    expected: Sequence[ExpectedToolCall],
    *,
    mode: Mode,
    forbid_others: bool,
    defaults: Defaults = NO_DEFAULTS,
) -> CallComparison:
    """Compare calls with expected calls.

    Each expected call is paired with one call of the same tool, so that most pairs match, and then most
    arguments.

    Args:
        actual: calls of the model, in order.
        expected: expected calls, in order; repeated calls are expected as often as they stand here.
        mode: exact = these calls in this order and no other; in_order = these calls in this order, others
            may stand between them; any_order = these calls and no other; subset = no call that is not
            expected; superset = these calls, others are allowed.
        forbid_others: whether arguments that an expectation does not name are wrong, where it does not say.
        defaults: of optional arguments; one with its default counts as absent.

    Raises:
        EvaluationError: if a matcher cannot be evaluated.

    >>> calls = [ToolCall(name="search"), ToolCall(name="cancel", arguments={"id": 2})]
    >>> expectations = [ExpectedToolCall(name="cancel", arguments={"id": 1})]
    >>> compare_calls(calls, expectations, mode="superset", forbid_others=False).recall
    0.0
    """
    rules = ArgumentRules(forbid_others=forbid_others, defaults=defaults)
    pairs, greedy = _pairs(actual, expected, rules)
    right = [pair for pair in pairs if not pair.faults]
    call_indices = {pair.actual for pair in pairs}
    compared = sum(pair.arguments for pair in pairs)
    all_expected, none_else = len(right) == len(expected), len(right) == len(actual)
    in_order = (all_expected and _is_ascending(pairs)) or _has_order(actual, expected, rules)
    verdicts = {
        "exact": all_expected and none_else and in_order,
        "in_order": in_order,
        "any_order": all_expected and none_else,
        "subset": none_else,
        "superset": all_expected,
    }
    with_call = {pair.expected for pair in pairs}
    return CallComparison(
        matches=verdicts[mode],
        pairs=tuple(pairs),
        missing=tuple(index for index in range(len(expected)) if index not in with_call),
        unexpected=tuple(index for index in range(len(actual)) if index not in call_indices),
        in_order=in_order,
        greedy=greedy,
        precision=len(right) / len(actual) if actual else None,
        recall=len(right) / len(expected) if expected else None,
        argument_accuracy=1 - sum(len(pair.faults) for pair in pairs) / compared if compared else None,
    )


def argument_faults(
    call: ToolCall, expected: ExpectedToolCall, rules: ArgumentRules
) -> tuple[int, tuple[ArgumentFault, ...]]:
    """Compare the arguments of a call.

    Returns:
        Number of arguments that were compared, and those that differ. Arguments that are not a JSON object
        differ in each.
    """
    forbids = (expected.other_arguments or ("forbid" if rules.forbid_others else "allow")) == "forbid"
    defaults = rules.defaults.get(call.name, NO_ARGUMENTS)
    faults = [
        ArgumentFault(name=name, expected=value, actual=member(call.arguments, name, ABSENT))
        for name, value in expected.arguments.items()
        if not any(matches(actual, value) for actual in _equivalents(call.arguments, name, defaults))
    ]
    compared = len(expected.arguments)
    if forbids:
        others = [
            name
            for name in call.arguments
            if member(expected.arguments, name, ABSENT) is ABSENT
            and ABSENT not in _equivalents(call.arguments, name, defaults)
        ]
        faults += [ArgumentFault(name=name, expected=ABSENT, actual=call.arguments[name]) for name in others]
        compared += len(others)
    if call.arguments_text and (forbids or expected.arguments) and not faults:
        faults = [ArgumentFault(name="arguments", expected=ABSENT, actual=call.arguments_text)]
        compared += 1
    return compared, tuple(faults)


def _equivalents(arguments: Mapping[str, Any], name: str, defaults: Mapping[str, Any]) -> Sequence[Any]:
    """Return the values that an argument stands for: with its default it may as well be absent."""
    actual = member(arguments, name, ABSENT)
    if name not in defaults:
        return (actual,)
    if actual is ABSENT:
        return (ABSENT, defaults[name])
    return (actual, ABSENT) if matches(actual, defaults[name]) else (actual,)


def _pairs(
    actual: Sequence[ToolCall], expected: Sequence[ExpectedToolCall], rules: ArgumentRules
) -> tuple[list[CallPair], tuple[str, ...]]:
    """Return the pairs, and the tools whose calls are too many for the best assignment."""
    calls_of: defaultdict[str, list[int]] = defaultdict(list)
    for index, call in enumerate(actual):
        calls_of[call.name].append(index)
    expected_of: defaultdict[str, list[int]] = defaultdict(list)
    for index, expectation in enumerate(expected):
        expected_of[expectation.name].append(index)
    pairs: list[CallPair] = []
    greedy = []
    for name, indices in expected_of.items():
        calls = calls_of.get(name, [])
        if not calls:
            continue
        if max(len(calls), len(indices)) > MAX_ASSIGNED:
            greedy.append(name)
            pairs += _in_sequence(actual, expected, calls, indices, rules)
        else:
            pairs += _assigned(actual, expected, calls, indices, rules)
    return sorted(pairs, key=lambda pair: pair.expected), tuple(greedy)


def _pair(
    actual: Sequence[ToolCall],
    expected: Sequence[ExpectedToolCall],
    call: int,
    index: int,
    rules: ArgumentRules,
) -> CallPair:
    compared, faults = argument_faults(actual[call], expected[index], rules)
    return CallPair(expected=index, actual=call, arguments=compared, faults=faults)


def _assigned(
    actual: Sequence[ToolCall],
    expected: Sequence[ExpectedToolCall],
    calls: list[int],
    indices: list[int],
    rules: ArgumentRules,
) -> list[CallPair]:
    pairs = _first_matches(actual, expected, calls, indices, rules)
    if len(pairs) == min(len(calls), len(indices)):  # nothing is better, and most agents do as expected
        return pairs
    candidates = [[_pair(actual, expected, call, index, rules) for call in calls] for index in indices]
    # A pair that matches outweighs all arguments of all other pairs together.
    costs = [[_cost(pair, len(indices)) for pair in row] for row in candidates]
    return [candidates[row][column] for row, column in best_assignment(costs)]


def _first_matches(
    actual: Sequence[ToolCall],
    expected: Sequence[ExpectedToolCall],
    calls: list[int],
    indices: list[int],
    rules: ArgumentRules,
) -> list[CallPair]:
    """Pair each expected call with the first free call that matches; leave out those without any."""
    free = list(calls)
    pairs = []
    for index in indices:
        for call in free:
            pair = _pair(actual, expected, call, index, rules)
            if not pair.faults:
                pairs.append(pair)
                free.remove(call)
                break
    return pairs


def _cost(pair: CallPair, count: int) -> float:
    if not pair.faults:
        return 0.0
    return count + 1.0 + len(pair.faults) / max(pair.arguments, 1)


def _in_sequence(
    actual: Sequence[ToolCall],
    expected: Sequence[ExpectedToolCall],
    calls: list[int],
    indices: list[int],
    rules: ArgumentRules,
) -> list[CallPair]:
    """Pair calls in their order: the next one if it matches, else the first one that is free at the end."""
    free = list(calls)
    pairs, waiting = [], []
    for index in indices:
        pair = _pair(actual, expected, free[0], index, rules) if free else None
        if pair is not None and not pair.faults:
            pairs.append(pair)
            free.pop(0)
        else:
            waiting.append(index)
    return pairs + [
        _pair(actual, expected, call, index, rules) for index, call in zip(waiting, free, strict=False)
    ]


def _is_ascending(pairs: Sequence[CallPair]) -> bool:
    return all(first.actual < second.actual for first, second in itertools.pairwise(pairs))


def _has_order(
    actual: Sequence[ToolCall], expected: Sequence[ExpectedToolCall], rules: ArgumentRules
) -> bool:
    """Return whether the expected calls are a subsequence of the calls."""
    remaining = iter(actual)  # each takes the earliest call that matches, which leaves most for the others
    return all(
        any(
            call.name == expectation.name and not argument_faults(call, expectation, rules)[1]
            for call in remaining
        )
        for expectation in expected
    )
