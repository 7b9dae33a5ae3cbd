"""End of a run on the terminal: blocks of the first failures, then verdict, counts, command and report."""

from __future__ import annotations

import pytest

from support.project import Project
from support.workers import WORKERS

CASES = 14


def suite(project: Project, failing: int) -> None:
    project.suite(
        *(
            {
                "key": f"k{number}",
                "prompt": f"{number}+{number}?",
                "condition": '"never"' if number < failing else 'NOT "never"',
            }
            for number in range(CASES)
        )
    )


def blocks(text: str) -> int:
    """Return the number of failures that are written out."""
    return sum(line.startswith("question:  ") for line in text.splitlines())


def test_failures_of_one_cause_are_one_block_and_three_lines(project: Project) -> None:
    suite(project, CASES)
    text = project.run().stdout.str()
    assert blocks(text) == 2  # two answers are no refusals
    assert f"{CASES - 2} more failures of these causes; -v writes them out" in text
    assert text.count("\nFAILED sums_suite.json::k") == 3 + 2


def test_verbose_runs_write_out_all_failures(project: Project) -> None:
    suite(project, CASES)
    text = project.run("-v").stdout.str()
    assert blocks(text) == CASES
    assert "more failures of these causes" not in text


def test_each_cause_is_written_out(project: Project) -> None:
    project.suite(
        {"key": "wrong", "prompt": "2+2?", "condition": '"5"'},
        {"key": "refused", "prompt": "unknown", "condition": '"5"'},
    )
    text = project.run().stdout.str()
    assert text.count("\nquestion:  ") == 2
    assert "more failure" not in text


def test_the_run_ends_with_verdict_counts_command_and_report(project: Project) -> None:
    suite(project, 2)
    lines = project.run_with_cache().stdout.lines
    start = next(number for number, line in enumerate(lines) if line.startswith("result: FAILED"))
    assert lines[start : start + 5] == [
        f"result: FAILED – 2 of {CASES} tests",
        '  2  Refused: the answer declines the question, e.g. "0+0?"',
        f"checked: Text matching {CASES}",
        lines[start + 3],
        "report: evalstudio-report/interpretation.html",
    ]
    assert lines[start + 3].startswith("rerun: pytest ")
    assert lines[start + 3].endswith(" --lf")
    assert lines[start + 5].startswith("=")


def test_a_passing_run_proposes_a_baseline_until_there_is_one(project: Project) -> None:
    suite(project, 0)
    lines = project.run().stdout.lines
    assert f"result: PASSED – {CASES} of {CASES} tests" in lines
    assert not any(line.startswith(("rerun:", "  1  ")) for line in lines)
    assert any(line.startswith("next: `evalstudio baseline save`") for line in lines)
    project.write("evalstudio-baseline.jsonl", "")
    assert not any(line.startswith("next:") for line in project.run().stdout.lines)


def test_the_line_of_checks_names_as_many_evaluators_as_it_has_room_for(project: Project) -> None:
    suite(project, 1)
    ids = "text_matching,pii_leakage,sensitive_data_leakage,looping_detection,encoding_guardrail"
    lines = project.run("--evalstudio-evaluators", ids).stdout.lines
    (line,) = [line for line in lines if line.startswith("checked:")]
    assert len(line) <= 80
    assert f"Text matching {CASES}" in line
    assert line.endswith((" more evaluators", " more evaluator"))


def test_expected_failures_are_no_failing_answers(project: Project) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"no such word"', "xfail": "not built yet"})
    result = project.run()
    result.assert_outcomes(xfailed=1)
    lines = result.stdout.lines
    assert "result: PASSED – 0 of 1 test, 1 expected failure" in lines
    assert not any(line.startswith(("rerun:", "  1  ")) for line in lines)


def test_the_end_of_a_run_is_a_line_per_thing_after_pytests_own_summary(project: Project) -> None:
    suite(project, 2)
    lines = project.run_with_cache().stdout.lines
    head = next(number for number, line in enumerate(lines) if line.strip("= ") == "evalstudio")
    assert max(number for number, line in enumerate(lines) if line.startswith("FAILED ")) < head
    kinds = [line.partition(":")[0] for line in lines[head + 1 : -1] if line]
    assert kinds == ["result", "  2  Refused", "checked", "rerun", "report"]


def test_leaderboards_and_findings_are_details_of_a_verbose_run(project: Project) -> None:
    suite(project, 2)
    plain, verbose = project.run().stdout.str(), project.run("-v").stdout.str()
    for detail in ("text_matching: model_passes (threshold >= 0.5)", "  1. app "):
        assert detail not in plain
        assert detail in verbose


KEY = "1f2e3d4c-0000-4000-8000-000000000000"


def test_a_key_that_is_a_uuid_leaves_room_for_the_reason(project: Project) -> None:
    project.suite({"key": KEY, "prompt": "2+2?", "condition": '"no such word"'})
    plain, verbose = project.run(), project.run("-v")
    plain.stdout.fnmatch_lines(
        [
            "*_ 1f2e3d4c[[]app[]] _*",
            'FAILED sums_suite.json::1f2e3d4c[[]app[]] - lacks "no such word"*',
        ]
    )
    verbose.stdout.fnmatch_lines([f"FAILED sums_suite.json::{KEY}[[]app[]]*"])


def test_80_columns_show_the_whole_reason_beside_a_long_name_of_a_model(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    project.write(
        "evalstudio.toml",
        '[[model]]\nname = "h2oai/h2ogpt-4096-llama2-70b-chat"\nhost = "python"\ntarget = "app:ask"\n',
    )
    project.suite({"key": KEY, "prompt": "2+2?", "condition": '"15 USD"'})
    lines = project.run().outlines
    line = next(line for line in lines if line.startswith("FAILED "))
    assert len(line) <= 80
    assert 'lacks "15 USD"' in line


def test_annotations_shorten_keys_that_are_uuids(project: Project) -> None:
    project.suite({"key": KEY, "prompt": "2+2?", "condition": '"no such word"'})
    annotations = [line for line in project.run("-o", "evalstudio_github=yes").outlines if "::error" in line]
    assert "title=sums_suite.json%3A%3A1f2e3d4c[app]::" in annotations[0]


CHECKS = """
def test_twice(eval_text_matching, eval_case):
    for answer in ("four", "4"):
        eval_text_matching.check(eval_case("2+2?", answer, condition='"4" OR "four"'))
"""


def test_tests_are_counted_as_pytest_counts_them_and_their_checks_are_named(project: Project) -> None:
    project.write("test_checks.py", CHECKS)
    result = project.run()
    result.assert_outcomes(passed=1)
    assert "result: PASSED – 2 of 2 checks in 1 test" in result.stdout.lines


def fails_with_copies(project: Project, answers: str) -> None:
    """A case whose two copies repeat its question; each gets the next answer."""
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching", "json_schema"]\n[evaluator.json_schema]\n'
        'json_schema = \'{"type": "object"}\'\n[[model]]\nname = "m"\nhost = "scripted"\n'
        f"[model.answers]\n{answers}\n",
    )
    copies = [
        {
            "key": f"copy{number}",
            "prompt": f"q{number}",
            "condition": '"fee"',
            "categories": ["perturbed", "perturbed_by:comma:MEDIUM"],
            "relationships": [
                {"type": "perturbation_source", "target": "original", "target_type": "test_case"}
            ],
        }
        for number in (1, 2)
    ]
    project.suite({"key": "original", "prompt": "q", "condition": '"fee"'}, *copies)


@pytest.mark.parametrize("workers", WORKERS)
def test_copies_that_fail_like_their_original_are_one_failure(
    project: Project, workers: tuple[str, ...]
) -> None:
    fails_with_copies(project, 'q = "{}"\nq1 = "{}"\nq2 = "{}"')
    result = project.run(*workers)
    text = result.stdout.str()
    result.assert_outcomes(failed=3)
    assert blocks(text) == 1
    assert "2 perturbed copies fail like the original, [+N]; -v lists them" in text
    assert text.count("\nFAILED ") == 1
    assert "FAILED sums_suite.json::original[m] - [+2] lacks" in text
    assert "result: FAILED – 3 of 3 tests" in text
    verbose = project.run("-v").stdout.str()
    assert blocks(verbose) == 3
    assert "perturbed cop" not in verbose.partition("short test summary")[0].partition("FAILURES")[2]


def test_copies_that_fail_otherwise_are_failures_of_their_own(project: Project) -> None:
    fails_with_copies(project, 'q = "{}"\nq1 = "fee, no JSON"\nq2 = \'{"fee": 5}\'')
    text = project.run().stdout.str()
    assert blocks(text) == 2
    assert "[+" not in text
    assert text.count("\nFAILED ") == 2


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("broken", [True, False], ids=["a broken file", "none"])
def test_a_run_without_all_of_its_files_is_no_pass(
    project: Project, broken: bool, workers: tuple[str, ...]
) -> None:
    suite(project, 0)
    (project.folder / "broken_suite.json").write_text(
        '{"tests": [' if broken else '{"tests": []}', encoding="utf-8"
    )
    files = ("sums_suite.json", "broken_suite.json")
    text = project.run("--continue-on-collection-errors", *files, *workers).stdout.str()
    if not broken:
        assert f"result: PASSED – {CASES} of {CASES} tests" in text
        return
    assert "result: INCOMPLETE – 1 file not collected" in text
    summary = (project.folder / "evalstudio-report" / "summary.md").read_text(encoding="utf-8")
    assert "Not collected, so that their tests are missing: broken\\_suite.json." in summary


def test_malformed_test_cases_are_not_counted_as_files(project: Project) -> None:
    good = {"key": "sum", "prompt": "2+2?", "condition": '"4"'}
    project.suite(good, *({"key": f"k{number}", "promptt": "3+3?"} for number in range(2)))

    result = project.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["result: INCOMPLETE – 2 test cases not collected"])
    project.write("broken_suite.json", '{"tests": [')
    files = ("sums_suite.json", "broken_suite.json")
    project.run("--continue-on-collection-errors", *files).stdout.fnmatch_lines(
        ["result: INCOMPLETE – 1 file and 2 test cases not collected"]
    )
