"""Final state: expectations by pointers, and changes that nobody expects."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.states import ApplicationState, state_text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.final_state import FinalState
from pytest_evalstudio.metrics.state_changes import changed_pointers

BEFORE = {"cards": {"4417": {"status": "active"}, "8820": {"status": "active"}}, "log": []}


def scored(after: Any, expected: dict[str, Any], *, before: Any = BEFORE, **options: Any) -> Any:
    state = ApplicationState(after=state_text(after), before=None if before is None else state_text(before))
    case = Case(key="k", question="q", answer=Answer(text="a", state=state), expected_state=expected)
    [outcome] = FinalState(**options).score([case], Tools(split_sentences=str.splitlines))
    return outcome


def with_status(**cards: str) -> dict[str, Any]:
    return {**BEFORE, "cards": {digits[1:]: {"status": status} for digits, status in cards.items()}}


def test_a_state_that_meets_all_expectations_passes() -> None:
    outcome = scored(with_status(c4417="frozen", c8820="active"), {"/cards/4417/status": "frozen"})
    assert outcome.scores == {"state_met": 1.0, "unexpected_changes": 0.0}
    assert outcome.reason == ""


def test_unmet_expectations_are_named_with_both_values() -> None:
    expected = {"/cards/4417/status": {"$one_of": ["frozen"]}, "/cards/9999": {"$absent": True}, "/x": 1}
    outcome = scored(BEFORE, expected)
    assert outcome.scores["state_met"] == pytest.approx(1 / 3)
    assert outcome.reason == (
        '/cards/4417/status is "active", expected {"$one_of": ["frozen"]}, /x is not there, expected 1'
    )


def test_a_change_that_nobody_expects_is_counted_and_may_be_forbidden() -> None:
    after = {**with_status(c4417="frozen", c8820="frozen"), "log": ["frozen"]}
    expected = {"/cards/4417": {"status": "frozen"}}
    assert scored(after, expected).scores == {"state_met": 1.0, "unexpected_changes": 2.0}
    outcome = scored(after, expected, ignore=("/log*",), forbid_changes=True)
    assert outcome.scores == {"state_met": 0.0, "unexpected_changes": 1.0}
    assert outcome.reason == "/cards/8820/status changed"


def test_without_the_state_before_changes_are_not_measured() -> None:
    outcome = scored(BEFORE, {"/log": []}, before=None, forbid_changes=True)
    assert outcome.scores == {"state_met": 1.0, "unexpected_changes": None}


def test_a_host_without_a_state_is_an_error() -> None:
    case = Case(key="k", question="q", answer=Answer(text="a"), expected_state={"/a": 1})
    [outcome] = FinalState().score([case], Tools(split_sentences=str.splitlines))
    assert (outcome.status, outcome.code) == ("error", "input_invalid")


def test_a_case_without_expected_state_is_not_scored() -> None:
    assert FinalState().not_applicable(Case(key="k", question="q")) == "no expected state"


@pytest.mark.parametrize(
    ("before", "after", "pointers"),
    [
        ({}, {}, []),
        (1, 1.0, []),
        (1, True, [""]),
        (None, 0, [""]),
        ({"a": None}, {}, ["/a"]),
        ([1, 2, 3], [1, 3], ["/1", "/2"]),
        ({"a/b~": {"c": [{"d": 1}]}}, {"a/b~": {"c": [{"d": 2}]}}, ["/a~1b~0/c/0/d"]),
    ],
)
def test_changes_are_the_outermost_pointers_that_differ(before: Any, after: Any, pointers: list[str]) -> None:
    assert changed_pointers(before, after) == pointers


def test_a_state_nested_50000_deep_is_compared() -> None:
    deep: Any = 0
    for _ in range(50_000):
        deep = {"a": deep}
    assert changed_pointers(deep, deep) == []
