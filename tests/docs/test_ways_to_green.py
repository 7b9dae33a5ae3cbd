"""Each row of the table of ways to a green run names what a test shows."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "verdicts-and-statistics.md"
TESTS = Path(__file__).parents[1] / "plugin"
SHOWN_BY = {
    "an expectation has no reader": (
        "test_checked.py",
        "test_a_case_whose_expectation_nothing_reads_is_skipped_by_default",
    ),
    "an answer was cut or filtered": (
        "test_incomplete_answers.py",
        "test_incomplete_answers_are_named_everywhere",
    ),
    "only detectors judged a case": (
        "test_checked.py",
        "test_a_detector_alone_checks_nothing_and_still_fails",
    ),
    "nothing was retrieved": (
        "test_checked.py",
        "test_an_answer_without_chunks_of_a_model_that_retrieves_is_not_retrieved",
    ),
    "all cases are skipped": ("test_checked.py", "test_a_run_in_which_nothing_is_checked_does_not_pass"),
    "a case is expected to fail": ("test_outputs_agree.py", "an_expected_failure"),
    "an expected failure passes": ("test_outputs_agree.py", "an_unexpected_pass"),
    "a test outside of the evaluation fails": ("test_outputs_agree.py", "another_test_fails"),
    "the session ends early, by any exit status": (
        "test_outputs_agree.py",
        "a_session_that_ends_early_with_status_0",
    ),
    "a budget left cases out": ("test_model_budgets.py", "test_a_partial_run_passes_where_that_is_allowed"),
    "a file or case is malformed": ("test_outputs_agree.py", "a_case_is_malformed"),
    "a suite has a name that is not collected": (
        "test_unused_settings.py",
        "test_a_suite_whose_name_is_not_collected_is_named",
    ),
    "a key of a test case is unknown": (
        "test_unused_settings.py",
        "test_an_unknown_key_of_a_case_is_an_error",
    ),
    "a table `[evaluator.ID]` is used by nothing": (
        "test_unused_settings.py",
        "test_a_table_of_an_evaluator_that_nothing_uses_is_refused",
    ),
}
"""First cell of each row, to the file and the function of its test."""


def test_each_row_is_shown_by_a_test() -> None:
    section = (
        PAGE.read_text(encoding="utf-8").partition("## Every way to a green run")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE)[2:]

    assert rows == list(SHOWN_BY)
    for file, function in SHOWN_BY.values():
        assert f"def {function}(" in (TESTS / file).read_text(encoding="utf-8"), f"{file}: {function}"
