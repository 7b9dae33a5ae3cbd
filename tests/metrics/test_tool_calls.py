"""Verdicts on calls, by hand: c = cancel(id), s = search, in all modes."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.tool_calls import ToolCalls
from pytest_evalstudio.metrics.tool_calls import MAX_ASSIGNED, Mode, compare_calls
from pytest_evalstudio.metrics.tool_definitions import default_arguments, read_definitions

MODES: tuple[Mode, ...] = ("exact", "in_order", "any_order", "subset", "superset")


def calls(text: str) -> list[ToolCall]:
    """Return calls by letters: "s c1 c2" is search, cancel(id=1), cancel(id=2)."""
    return [
        ToolCall(name=word[0], arguments={"id": int(word[1:])} if word[1:] else {}) for word in text.split()
    ]


def expected_calls(text: str) -> list[ExpectedToolCall]:
    return [ExpectedToolCall(name=call.name, arguments=call.arguments) for call in calls(text)]


@pytest.mark.parametrize(
    ("actual", "expected", "verdicts"),
    [
        # exact, in_order, any_order, subset, superset
        ("", "", "yyyyy"),
        ("s", "", "nynny"),
        ("", "s", "nnnyn"),
        ("s c1", "s c1", "yyyyy"),
        ("c1 s", "s c1", "nnyyy"),
        ("s s c1", "s c1", "nynny"),
        ("s c1", "s s c1", "nnnyn"),
        ("s c2", "s c1", "nnnnn"),
        ("c2 c1", "c1 c2", "nnyyy"),
        ("s x c1", "s c1", "nynny"),
        ("c1 x s", "s c1", "nnnny"),
        ("c1 c1", "c1", "nynny"),
    ],
)
def test_the_verdict_of_each_mode(actual: str, expected: str, verdicts: str) -> None:
    results = [
        compare_calls(calls(actual), expected_calls(expected), mode=mode, forbid_others=False).matches
        for mode in MODES
    ]
    assert "".join("ny"[result] for result in results) == verdicts


def test_shares_by_hand() -> None:
    result = compare_calls(
        calls("s c1 c3 x"), expected_calls("c1 c2 m"), mode="any_order", forbid_others=False
    )
    assert result.precision == 1 / 4, "c1 of s, c1, c3, x"
    assert result.recall == 1 / 3, "c1 of c1, c2, m"
    assert result.argument_accuracy == 1 / 2, "id of c1, not of c2"
    assert (result.missing, result.unexpected) == ((2,), (0, 3))
    [fault] = [fault for pair in result.pairs for fault in pair.faults]
    assert (fault.name, fault.expected, fault.actual) == ("id", 2, 3)


def test_shares_of_nothing_are_none() -> None:
    result = compare_calls([], [], mode="exact", forbid_others=False)
    assert (result.precision, result.recall, result.argument_accuracy) == (None, None, None)


def test_the_best_assignment_beats_the_first_one() -> None:
    """The matcher takes any call; only the second expectation needs the first call."""
    expected = [
        ExpectedToolCall(name="c", arguments={"id": {"$any": True}}),
        ExpectedToolCall(name="c", arguments={"id": 1}),
    ]
    assert compare_calls(calls("c1 c2"), expected, mode="any_order", forbid_others=False).matches


@pytest.mark.parametrize(
    ("other_arguments", "forbid_others", "matches"),
    [("", False, True), ("", True, False), ("allow", True, True), ("forbid", False, False)],
)
def test_other_arguments(other_arguments: str, forbid_others: bool, matches: bool) -> None:
    call = ToolCall(name="c", arguments={"id": 1, "force": True})
    expected = ExpectedToolCall(name="c", arguments={"id": 1}, other_arguments=other_arguments)  # type: ignore[arg-type]
    result = compare_calls([call], [expected], mode="exact", forbid_others=forbid_others)
    assert result.matches is matches
    assert result.argument_accuracy == (1.0 if matches else 0.5)


@pytest.mark.parametrize(("expected", "matches"), [("c", True), ("c1", False)])
def test_arguments_that_are_no_object_match_only_where_none_is_named(expected: str, matches: bool) -> None:
    call = ToolCall(name="c", arguments_text="{broken")
    assert (
        compare_calls([call], expected_calls(expected), mode="exact", forbid_others=False).matches is matches
    )


@pytest.mark.parametrize("count", [MAX_ASSIGNED, MAX_ASSIGNED + 1])
def test_many_calls_of_one_tool_are_paired_in_sequence(count: int) -> None:
    text = " ".join(f"c{number}" for number in range(count))
    reversed_text = " ".join(f"c{number}" for number in reversed(range(count)))
    result = compare_calls(calls(text), expected_calls(text), mode="exact", forbid_others=False)
    assert result.matches
    other = compare_calls(calls(reversed_text), expected_calls(text), mode="any_order", forbid_others=False)
    assert other.greedy == (() if count == MAX_ASSIGNED else ("c",))
    assert other.matches is (count == MAX_ASSIGNED), "beyond the limit the pairs need not be the best"


def test_ten_thousand_calls_are_compared() -> None:
    text = "s " * 10_000
    result = compare_calls(calls(text), expected_calls(text), mode="any_order", forbid_others=False)
    assert (result.matches, result.greedy) == (True, ("s",))


DEFAULTS = {"search": {"page": 1, "exact": False}}


@pytest.mark.parametrize(
    ("expected", "actual", "matches"),
    [
        ({"q": "fee"}, {"q": "fee", "page": 1}, True),
        ({"q": "fee"}, {"q": "fee", "page": 2}, False),
        ({"q": "fee", "page": 1}, {"q": "fee"}, True),
        ({"q": "fee", "page": 2}, {"q": "fee"}, False),
        ({"q": "fee", "page": {"$absent": True}}, {"q": "fee", "page": 1.0}, True),
        ({"q": "fee", "exact": {"$one_of": [True]}}, {"q": "fee", "exact": False}, False),
        ({"q": "fee"}, {"q": "fee", "exact": 0}, False),
    ],
)
def test_an_argument_with_its_default_counts_as_absent(expected: Any, actual: Any, matches: bool) -> None:
    comparison = compare_calls(
        [ToolCall(name="search", arguments=actual)],
        [ExpectedToolCall(name="search", arguments=expected)],
        mode="exact",
        forbid_others=True,
        defaults=DEFAULTS,
    )
    assert comparison.matches is matches


def test_the_defaults_come_from_the_definitions_of_the_tools() -> None:
    definition = {
        "name": "search",
        "parameters": {
            "type": "object",
            "properties": {"q": {}, "page": {"default": 1}, "exact": {"default": False}},
        },
    }
    assert default_arguments(read_definitions([definition, {"name": "ping"}])) == {**DEFAULTS, "ping": {}}
    case = Case(
        key="k",
        question="q",
        answer=Answer(tool_calls=(ToolCall(name="search", arguments={"q": "fee", "page": 1}),)),
        expected_tool_calls=(ExpectedToolCall(name="search", arguments={"q": "fee"}),),
    )
    judged = ToolCalls(other_arguments="forbid", tools=(definition,)), ToolCalls(other_arguments="forbid")
    tools = Tools(split_sentences=str.splitlines)
    assert [evaluator.score([case], tools)[0].scores["tool_calls_match"] for evaluator in judged] == [
        1.0,
        0.0,
    ]
