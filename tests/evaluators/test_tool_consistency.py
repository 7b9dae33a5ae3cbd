"""Tools called for a perturbed question and for its original."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.tool_consistency import Compared, ToolConsistency
from pytest_evalstudio.text.sentences import split_sentences
from support.scored_cases import outcomes_of

FIND = {"name": "find", "arguments": {"code": "E1"}}
CANCEL = {"name": "cancel", "arguments": {"code": "E1"}}


def outcome(
    before: list[Any], after: list[Any], answer: str = "Done.", other_answer: str = "Done.", **options: Any
) -> Outcome:
    original = make_case("Cancel it", other_answer, tool_calls=before)
    perturbed = make_case("cancel it", answer, tool_calls=after)
    evaluator = ToolConsistency(**options)
    tools = Tools(split_sentences=split_sentences)
    [scored] = outcomes_of(evaluator, [replace(perturbed, counterpart=original)], tools)
    return scored


def test_the_same_calls_pass() -> None:
    scored = outcome([FIND, CANCEL], [FIND, CANCEL])
    assert (set(scored.scores.values()), scored.reason) == ({1.0}, "")


@pytest.mark.parametrize(
    ("before", "after", "overlap", "reason"),
    [
        ([FIND, CANCEL], [FIND], 1 / 2, "fewer calls than for the original question: cancel"),
        ([FIND], [FIND, FIND, FIND], 1 / 3, "more calls than for the original question: find (2 times)"),
        ([FIND], [], 0.0, "fewer calls than for the original question: find"),
        (
            [FIND],
            [CANCEL],
            0.0,
            "fewer calls than for the original question: find;"
            " more calls than for the original question: cancel",
        ),
    ],
)
def test_other_calls_fail(before: list[Any], after: list[Any], overlap: float, reason: str) -> None:
    scored = outcome(before, after)
    assert scored.scores["tools_unchanged"] == 0.0
    assert scored.scores["tool_call_overlap"] == pytest.approx(overlap)
    assert scored.reason == reason


@pytest.mark.parametrize(
    ("compare", "after", "expected"),
    [
        ("tools", [CANCEL, FIND], 1.0),
        ("order", [CANCEL, FIND], 0.0),
        ("arguments", [CANCEL, FIND], 1.0),
        ("tools", [FIND, {"name": "cancel", "arguments": {"code": "E2"}}], 1.0),
        ("arguments", [FIND, {"name": "cancel", "arguments": {"code": "E2"}}], 0.0),
    ],
)
def test_order_and_arguments_count_where_asked(compare: Compared, after: list[Any], expected: float) -> None:
    assert outcome([FIND, CANCEL], after, compare=compare).scores["tools_unchanged"] == expected


def test_tools_that_are_not_selected_are_free() -> None:
    assert outcome([FIND, CANCEL], [CANCEL], only=("cancel",)).scores["tools_unchanged"] == 1.0
    assert outcome([FIND, CANCEL], [CANCEL], ignore=("find",)).scores["tools_unchanged"] == 1.0


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match='expected "tools", "order" or "arguments"'):
        ToolConsistency(compare="names")  # type: ignore[arg-type]
