"""Order of a prompt's parts."""

from __future__ import annotations

import pytest

from pytest_evalstudio.judges.layout import split_at_material, with_options_reversed
from support.processor_time import assert_within

MARK = "c0ffee"
FENCE = f"<<<{MARK} answer\n- yes: I am fine.\n- no: I am not.\n{MARK}>>>"


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("Is it polite?", ("Is it polite?", "")),
        (f"Is it polite?\n\nAnswer:\n{FENCE}", ("Is it polite?", f"Answer:\n{FENCE}")),
        (f"{FENCE}\n\nIs it polite?", ("", f"{FENCE}\n\nIs it polite?")),
        (f"Is\n{FENCE}\npolite?", ("", f"Is\n{FENCE}\npolite?")),
    ],
)
def test_a_task_is_split_before_the_paragraph_of_its_first_fence(task: str, parts: tuple[str, str]) -> None:
    assert split_at_material(task, MARK) == parts


def test_options_are_reversed_with_the_lines_that_belong_to_them() -> None:
    task = (
        "1. Decide:\n   - yes: it is,\n     in any form.\n   - no: it is not.\n2. Say why.\n\n"
        f"{FENCE}\n- yes: fine\n- maybe: no option\n- no: bad"
    )
    assert with_options_reversed(task, ["yes", "no"], MARK) == (
        "1. Decide:\n   - no: it is not.\n   - yes: it is,\n     in any form.\n2. Say why.\n\n"
        f"{FENCE}\n- yes: fine\n- maybe: no option\n- no: bad"
    )


def test_each_list_of_options_is_reversed_by_itself() -> None:
    lists = "A:\n- yes: 1\n- no: 2\n\nB:\n- yes: 3\n- no: 4\nExample. One.\nExample. Two."
    assert with_options_reversed(lists, ["no", "yes"], MARK) == (
        "A:\n- no: 2\n- yes: 1\n\nB:\n- no: 4\n- yes: 3\nExample. Two.\nExample. One."
    )


def test_reversing_twice_changes_nothing() -> None:
    task = f"Criteria:\n- a: 1\n- b: 2\n- c: 3\n\n{FENCE}"
    options = ["a", "b", "c"]
    assert with_options_reversed(with_options_reversed(task, options, MARK), options, MARK) == task


def test_the_time_is_linear_in_the_text() -> None:
    def reverse(turn: int) -> str:
        return with_options_reversed("- yes: it is\n" * (50_000 + turn) + " " * 200_000, ["yes", "no"], MARK)

    assert_within(10, reverse)
