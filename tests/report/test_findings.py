"""Findings count distinct answers, detections apart; colours show failing answers below a passing mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.report.assessment import assess
from pytest_evalstudio.report.build import Report, build_report
from pytest_evalstudio.report.findings import ReportFinding
from support.compared_runs import long_run
from support.records import RecordBuilder, boolean_evaluator, flip, perturbed, score


def built(builder: RecordBuilder, folder: Path) -> Report:
    return build_report(builder.write(folder), folder / "report", {})


def finding(report: Report, evaluator: str) -> ReportFinding:
    (only,) = [each for each in report.findings if each.evaluator == evaluator]
    return only


def test_two_detections_in_one_answer_are_one_failing_answer(tmp_path):
    leak = finding(built(long_run(base=False), tmp_path), "pii")
    assert (leak.answers, leak.detections, leak.listed) == (3, 6, 3)
    assert leak.title == "PII leakage: 3 answers of 1 of 2 models fail, 6 privacy detections"
    assert leak.filters == {"evaluator": "pii", "show": "missed"}


def test_metrics_of_one_evaluator_are_one_finding(tmp_path):
    rouge = finding(built(long_run(base=False), tmp_path), "rouge")
    assert rouge.title == "ROUGE: 2 of 2 models below 0.75 (ROUGE-L 0.31; ROUGE-1 0.42; ROUGE-2 0.2–0.21)"


def test_findings_name_questions_instead_of_keys(tmp_path):
    leak = finding(built(long_run(base=False), tmp_path), "pii")
    assert "question 'What does a transfer abroad cost in branch 3 of the Northfold Bank?'" in (
        leak.problems[0].description
    )
    assert "1f2e3d4c" not in leak.problems[0].description


def test_an_answer_that_flips_on_two_metrics_counts_once(tmp_path):
    builder = RecordBuilder()
    builder.add("a", "one", {"outcomes": {"quality": score(0.9)}})
    flips = [flip("a", metric="score"), flip("a", metric="other")]
    row = {"outcomes": {"quality": score(0.1)}, **perturbed("a", "comma:HIGH")}
    builder.add("b", "one", row, flips=flips)
    (flipped,) = [each for each in built(builder, tmp_path).findings if each.show == "flips"]
    assert flipped.answers == 1


def test_failures_without_a_finding_are_not_called_no_problems(tmp_path):
    builder = RecordBuilder(boolean_evaluator())
    for number in range(10):
        builder.add(
            f"k{number}", "one", {"outcomes": {"text_matching": score(float(number > 0), "model_passes")}}
        )
    page = built(builder, tmp_path).page.read_text(encoding="utf-8")
    problems = page.partition('id="problems"')[2].partition("</section>")[0]
    assert "No problems were found" not in problems
    assert "1 failing answer" in problems


def test_a_passing_run_without_findings_has_no_problems(tmp_path):
    builder = RecordBuilder(boolean_evaluator())
    builder.add("k", "one", {"outcomes": {"text_matching": score(1.0, "model_passes")}})
    assert "No problems were found." in built(builder, tmp_path).page.read_text(encoding="utf-8")


def test_an_evaluator_that_fails_cases_though_its_mean_passes_is_hatched_with_its_share(tmp_path):
    builder = RecordBuilder()
    for number in range(10):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(0.1 if number < 2 else 0.9)}})
    report = built(builder, tmp_path)
    board = report.analysis.leaderboards["quality"]
    verdict = assess(board, board.standing("m-one"), board.evaluator.primary)
    assert (verdict.state, verdict.failing, verdict.judged, verdict.is_partial) == ("meets", 2, 10, True)
    page = report.page.read_text(encoding="utf-8")
    assert 'class="n h5 partial"' in page
    assert '<span class="share" aria-hidden="true">20 %</span>' in page


@pytest.mark.parametrize(("unsafe", "heat"), [(0, "h6"), (1, "h2"), (4, "h1"), (8, "h0")])
def test_safety_is_shaded_by_the_share_of_unsafe_answers(tmp_path, unsafe, heat):
    builder = RecordBuilder(boolean_evaluator("pii", domain="privacy", problem_type="privacy"))
    for number in range(60):
        builder.add(
            f"k{number}", "one", {"outcomes": {"pii": score(float(number >= unsafe), "model_passes")}}
        )
    board = analyse(builder.write(tmp_path), {}).leaderboards["pii"]
    assert assess(board, board.standing("m-one"), board.evaluator.primary).heat == heat


def test_an_unsafe_answer_is_shown_before_other_failures(tmp_path):
    page = built(long_run(("one",), base=False), tmp_path).page.read_text(encoding="utf-8")
    first = page.partition('class="first-failure"')[2].partition("</article>")[0]
    assert "PII leakage" in first
