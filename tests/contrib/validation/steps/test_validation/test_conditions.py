"""Conditions that any answer meets are no test."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.validation.steps.test_validation.method import _condition
from pytest_evalstudio.formats.suite import TestCase


@pytest.mark.parametrize(
    ("condition", "answer", "expected"),
    [
        pytest.param('"£5"', "It costs £5.", 1.0, id="met by the right answer alone"),
        pytest.param('"£5"', "It costs £6.", 0.0, id="not met by the right answer"),
        pytest.param('regexp(".*")', "It costs £5.", 0.0, id="any text"),
        pytest.param('NOT "free of charge"', "It costs £5.", 0.0, id="only an absence"),
        pytest.param('"£5" OR regexp("[a-z]")', "It costs £5.", 0.0, id="an alternative that is always met"),
        pytest.param('regexp("(?i)^\\\\W*Yes\\\\b")', "Yes, it is.", 1.0, id="yes"),
        pytest.param('"fine"', "A fine of £5.", 1.0, id="a word that one unrelated answer has"),
        pytest.param("", "It costs £5.", None, id="without a condition"),
    ],
)
def test_a_condition_is_met_by_the_right_answer_and_not_by_any(
    condition: str, answer: str, expected: float | None
) -> None:
    case = TestCase(prompt="What does it cost?", expected_output=answer, condition=condition)
    assert _condition(case) == expected


def test_a_condition_that_half_of_the_documents_meets_is_no_test() -> None:
    sentences = ["The gate is shut.", "Boats are washed.", "The club is old.", "Guests pay."]
    case = TestCase(prompt="Who pays?", expected_output="Owen Pike", condition='regexp("(?i)the|pike")')
    assert (_condition(case), _condition(case, sentences)) == (1.0, 0.0)
    case = TestCase(prompt="Who pays?", expected_output="Owen Pike", condition='"Pike"')
    assert _condition(case, sentences) == 1.0
