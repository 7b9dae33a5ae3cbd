"""Values meet literals and matchers as JSON, not as Python, compares."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.matchers import MATCHERS, matcher_fault
from pytest_evalstudio.metrics.matching import ABSENT, matches

CASES: list[tuple[Any, Any, bool]] = [
    (1, 1.0, True),
    (1, True, False),
    (0, False, False),
    ("1", 1, False),
    ("a", "A", False),
    (None, None, True),
    (ABSENT, None, False),
    ({"b": 2, "a": 1}, {"a": 1, "b": 2}, True),
    ({"a": 1, "b": 2}, {"a": 1}, False),
    ({"a": 1}, {"a": 1, "b": {"$absent": True}}, True),
    ([1, 2], [2, 1], False),
    ([1, 2], [1, 2, 3], False),
    (None, {"$any": True}, True),
    (ABSENT, {"$any": True}, False),
    (ABSENT, {"$absent": True}, True),
    (None, {"$absent": True}, False),
    ("b", {"$one_of": ["a", {"$regex": "^b"}]}, True),
    ("c", {"$one_of": ["a", "b"]}, False),
    ("Severe illness", {"$regex": "(?i)ILLNESS"}, True),
    (7, {"$regex": "7"}, False),
    (120.009, {"$approx": 120, "tolerance": 0.01}, True),
    (120.02, {"$approx": 120, "tolerance": 0.01}, False),
    (0.1 + 0.2, {"$approx": 0.3}, True),
    (True, {"$approx": 1}, False),
    ("a fee of 5", {"$contains": "fee"}, True),
    (["x", {"id": 1}], {"$contains": {"id": 1}}, True),
    ({"id": 1, "name": "n"}, {"$contains": {"id": {"$approx": 1}}}, True),
    (5, {"$contains": 5}, False),
    ({"amount": 5}, {"$schema": {"type": "object", "required": ["amount"]}}, True),
    ({}, {"$schema": {"type": "object", "required": ["amount"]}}, False),
    ([{"when": "2024-05-20"}], [{"when": {"$regex": r"^\d{4}"}}], True),
]


@pytest.mark.parametrize(("actual", "expected", "result"), CASES)
def test_a_value_meets_an_expectation(actual: Any, expected: Any, result: bool) -> None:
    assert not matcher_fault(expected)
    assert matches(actual, expected) is result


def test_every_matcher_is_met_and_missed_above() -> None:
    for name in MATCHERS:
        results = {result for _, expected, result in CASES if isinstance(expected, dict) and name in expected}
        assert results == {True, False}, name


@pytest.mark.parametrize(
    ("expected", "fault"),
    [
        ({"$aprox": 1}, "'$aprox' is no matcher. Did you mean '$approx'?"),
        ({"$regex": "("}, "$regex: cannot search for '(': "),
        ({"$regex": 5}, "$regex: write a pattern as a string"),
        ({"$one_of": []}, "$one_of: write a list of values"),
        ({"$one_of": [{"$regex": "("}]}, "$regex: cannot search for '(': "),
        ({"$any": False}, "$any: write true"),
        ({"$approx": "5"}, '$approx: write {"$approx": 120.0, "tolerance": 0.01}'),
        ({"$approx": 5, "tolerance": -1}, '$approx: write {"$approx": 120.0, "tolerance": 0.01}'),
        ({"$approx": 5, "toleranse": 1}, "'toleranse' stands beside '$approx'; a matcher has one key"),
        ({"$schema": "x"}, "$schema: write a JSON Schema"),
        ({"a": [{"$none": 1}]}, "'$none' is no matcher."),
    ],
)
def test_a_faulty_matcher_is_described(expected: Any, fault: str) -> None:
    assert matcher_fault(expected).startswith(fault)


def test_a_slow_pattern_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="takes longer than 2 s; simplify it"):
        matches("a" * 50_000 + "b", {"$regex": "(a|a?)+$"})
