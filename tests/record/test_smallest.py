"""The smallest edit of a flip in words: one sentence for each end of the search."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pytest_evalstudio.core.flips import ShrinkCode, SmallestEdit
from pytest_evalstudio.record.smallest import END_WORDS, describe, equal_edits, wording

EDIT = SmallestEdit(
    code=ShrinkCode.MINIMAL,
    original="What is the fee",
    question="What is the free",
    edits=1,
    total_edits=4,
    calls=3,
    reason="10 calls are used up",
)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (ShrinkCode.MINIMAL, "smallest edit that flips: What is the [-fee-]{+free+} (1 of 4 edits; 3 calls)"),
        (
            ShrinkCode.BUDGET,
            (
                "smallest edit within 3 calls: What is the [-fee-]{+free+}"
                " (1 of 4 edits; 10 calls are used up)"
            ),
        ),
        (
            ShrinkCode.INTERRUPTED,
            (
                "smallest edit so far: What is the [-fee-]{+free+}"
                " (1 of 4 edits; 3 calls; 10 calls are used up)"
            ),
        ),
        (
            ShrinkCode.NOT_CONFIRMED,
            "asked once more, this edit does not flip: What is the [-fee-]{+free+} (1 of 4 edits; 3 calls)",
        ),
        (
            ShrinkCode.NOT_REPRODUCED,
            "not reproduced: the model answers otherwise when it is asked again (3 calls)",
        ),
        (ShrinkCode.NO_MODEL, "not shrunk: the answers are precomputed, and no model can be asked"),
        (ShrinkCode.OTHER_CHANGES, "not shrunk: the cases differ in more than one message"),
    ],
)
def test_each_end_of_the_search_has_its_sentence(code: ShrinkCode, text: str) -> None:
    assert describe([replace(EDIT, code=code)]) == text


def test_a_budget_that_allowed_no_call_says_that_nothing_was_shrunk() -> None:
    assert describe([replace(EDIT, code=ShrinkCode.BUDGET, calls=0)]) == "not shrunk: 10 calls are used up"


def test_equal_edits_are_one_with_the_calls_of_all() -> None:
    other = replace(EDIT, question="What's the fee")
    groups = equal_edits([EDIT, other, replace(EDIT, calls=2)])
    assert [[edit.calls for edit in group] for group in groups] == [[3, 2], [3]]
    assert describe(groups[0]).endswith("(1 of 4 edits; 5 calls)")
    assert wording(EDIT).note == "1 of 4 edits; 3 calls"
    assert wording(EDIT, 1).note == "1 of 4 edits; 1 call"


def test_each_end_of_the_search_has_words() -> None:
    assert END_WORDS.keys() == set(ShrinkCode)
