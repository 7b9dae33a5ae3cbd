"""Findings count distinct answers, detections apart; colours show failing answers below a passing mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.analysis.summary.assessment import assess
from pytest_evalstudio.analysis.summary.findings import RunFinding
from pytest_evalstudio.report.build import Report, build_report
from support.compared_runs import long_run
from support.records import RecordBuilder, boolean_evaluator, evaluator, flip, metric, perturbed, score


def report_of(builder: RecordBuilder, folder: Path) -> Report:
    return build_report(builder.write(folder), folder / "report", {})


def finding(report: Report, evaluator: str) -> RunFinding:
    (only,) = [each for each in report.summary.findings if each.evaluator == evaluator]
    return only


def test_two_detections_in_one_answer_are_one_failing_answer(tmp_path):
    leak = finding(report_of(long_run(base=False), tmp_path), "pii")
    assert (leak.answers, leak.detections, leak.listed) == (3, 6, 3)
    assert leak.title == "PII leakage: 3 answers of 1 of 2 models fail, 6 privacy detections"
    assert leak.filters == {"evaluator": "pii", "show": "missed"}


def test_metrics_of_one_evaluator_are_one_finding(tmp_path):
    builder = RecordBuilder(evaluator("rouge", metric("l"), metric("one", primary=False), name="ROUGE"))
    for number in range(10):
        outcome = {"status": "score", "scores": {"l": 0.3, "one": 0.4}}
        builder.add(f"k{number}", "one", {"outcomes": {"rouge": outcome}})
    rouge = finding(report_of(builder, tmp_path), "rouge")
    assert rouge.title == "ROUGE: one below 0.5 (L 0.3; One 0.4)"


def test_a_metric_that_decides_nothing_is_left_out_of_a_finding(tmp_path):
    rouge = finding(report_of(long_run(base=False), tmp_path), "rouge")
    assert rouge.title == "ROUGE: 2 of 2 models below 0.75 (0.31)"


def test_findings_name_questions_instead_of_keys(tmp_path):
    report = report_of(long_run(base=False), tmp_path)
    first = report.analysis.problems[finding(report, "pii").problems[0]]
    assert "question 'What does a transfer abroad cost in branch 3 of the Northfold Bank?'" in (
        first.description
    )
    assert "1f2e3d4c" not in first.description


def test_an_answer_that_flips_on_two_metrics_counts_once(tmp_path):
    builder = RecordBuilder()
    builder.add("a", "one", {"outcomes": {"quality": score(0.9)}})
    flips = [flip("a", metric="score"), flip("a", metric="other")]
    row = {"outcomes": {"quality": score(0.1)}, **perturbed("a", "comma:HIGH")}
    builder.add("b", "one", row, flips=flips)
    (flipped,) = [each for each in report_of(builder, tmp_path).summary.findings if each.show == "flips"]
    assert flipped.answers == 1


def test_failures_without_a_finding_are_not_called_no_problems(tmp_path):
    builder = RecordBuilder(boolean_evaluator())
    for number in range(10):
        builder.add(
            f"k{number}", "one", {"outcomes": {"text_matching": score(float(number > 0), "model_passes")}}
        )
    page = report_of(builder, tmp_path).page.read_text(encoding="utf-8")
    problems = page.partition('id="problems"')[2].partition("</section>")[0]
    assert "No problems were found" not in problems
    assert "1 failing answer" in problems


def test_a_passing_run_without_findings_has_no_problems(tmp_path):
    builder = RecordBuilder(boolean_evaluator())
    builder.add("k", "one", {"outcomes": {"text_matching": score(1.0, "model_passes")}})
    assert "No problems were found." in report_of(builder, tmp_path).page.read_text(encoding="utf-8")


def test_an_evaluator_that_fails_cases_though_its_mean_passes_has_the_share_beside_it(tmp_path):
    builder = RecordBuilder()
    for number in range(10):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(0.1 if number < 2 else 0.9)}})
    report = report_of(builder, tmp_path)
    board = report.analysis.leaderboards["quality"]
    verdict = assess(board, board.standing("m-one"), board.evaluator.primary)
    assert (verdict.state, verdict.failing, verdict.judged, verdict.is_partial) == ("meets", 2, 10, True)
    page = report.page.read_text(encoding="utf-8")
    assert 'class="n h5"' in page
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


def test_an_unsafe_answer_is_a_cause_of_its_own_on_the_first_screen(tmp_path):
    page = report_of(long_run(("one",), base=False), tmp_path).page.read_text(encoding="utf-8")
    causes = page.partition('class="causes"')[2].partition('class="models-glance')[0]
    assert "PII leakage: leak in the answer" in causes


def test_a_metric_that_decides_no_test_gives_no_finding(tmp_path):
    builder = RecordBuilder(evaluator("quality"), evaluator("rouge", metric(asserted=False)))
    for number in range(8):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(0.9), "rouge": score(0.2)}})
    report = report_of(builder, tmp_path)
    assert report.summary.findings == ()
    assert "ROUGE below" not in report.markdown.read_text(encoding="utf-8")


def test_the_advice_names_what_is_there(tmp_path):
    builder = RecordBuilder()
    for number in range(10):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(0.1 if number < 8 else 0.9)}})
    assert finding(report_of(builder, tmp_path), "quality").action == (
        "Read the 8 failures of Quality for a common cause."
    )
