"""Verdict, findings and failures of a run in words."""

from __future__ import annotations

import re

import pytest

from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.sides import read_side
from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder, boolean_evaluator, evaluator, score
from support.report_runs import lab_run


def page(builder, folder, **more):
    return build_report(builder.write(folder), folder / "report", {}, **more).page.read_text(encoding="utf-8")


def title(text):
    return re.search("<title>(.*?)</title>", text).group(1)


def run(*values, **header):
    builder = RecordBuilder(**header)
    for number, value in enumerate(values):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(value)}})
    return builder


@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (run(0.9, 0.1), "✗ 1 failed – Suite"),
        (run(0.9), "✓ 1 passed – Suite"),
        (run(0.9, gates=["quality >= 0.95"]), "✗ 1 gate not met – Suite"),
        (run(0.9, name="Northfold Bank"), "✓ 1 passed – Northfold Bank"),
        (run(0.9, interrupted=True), "… interrupted – Suite"),
        (run(), "… nothing evaluated – Suite"),
    ],
)
def test_the_title_is_the_verdict(tmp_path, builder, expected):
    assert title(page(builder, tmp_path)) == expected


def test_errors_are_grouped_by_cause(tmp_path):
    broken = {"status": "error", "reason": "no connection"}
    builder = RecordBuilder(evaluator("quality"), evaluator("safety"))
    for number, id in enumerate(["safety", "quality", "quality"]):
        builder.add(f"k{number}", "one", {"outcomes": {id: broken}, "error": "" if number else "timeout"})
    text = page(builder, tmp_path)
    assert "ERROR – 3 errors in 3 tests" in text
    causes = re.findall(r'class="cause-count">(\d)</span> <span dir="auto">(.*?)</span>', text)
    assert causes == [("2", "Quality: could not be scored"), ("1", "Not answered: timeout")]


@pytest.mark.part("validation")
def test_steps_that_ran_are_no_model_that_passed(tmp_path):
    step = {
        "workflow": "Bank",
        "step": "weakness",
        "number": 7,
        "name": "Weakness detection",
        "description": "",
        "status": "completed",
        "lacks": [],
        "parameters": {},
        "summary": "1 weak cell",
        "notes": [],
        "waits": "",
        "figures": {"weak": 1},
        "problems": [
            {"description": "weak", "severity": "high", "problem_type": "accuracy", "avid": "P0200"}
        ],
        "pictures": {},
        "finished": "",
        "seconds": 1.0,
    }
    builder = RecordBuilder(files=[], steps={"bank_workflow.json::weakness": step})
    text = page(builder, tmp_path)
    assert title(text) == "• 1 of 1 step completed, 1 finding of high severity – Bank"
    assert "<td>completed</td>" in text
    assert "✓ completed" not in text
    builder = RecordBuilder(files=[], steps={"bank_workflow.json::weakness": {**step, "figures": {}}})
    assert "<td>no result</td>" in page(builder, tmp_path)


def side(builder):
    return read_side(builder.run, builder.typed_items)


def with_answers(values, answer):
    builder = RecordBuilder(boolean_evaluator())
    for number, value in enumerate(values):
        outcome = {"status": "score", "scores": {"model_passes": value}}
        row = {
            "actual_output": answer if value == 0 else "It is 5 USD.",
            "outcomes": {"text_matching": outcome},
        }
        builder.add(f"k{number}", "one", row)
    return builder


def test_with_a_baseline_regressed_cases_come_first_with_the_earlier_answer(tmp_path):
    base = with_answers([0.0, 1.0, 1.0, 0.0], "I do not know.")
    new = with_answers([0.0, 1.0, 0.0, 1.0], "It is 7 USD.")
    comparison = compare(side(base), side(new))
    report = build_report(new.write(tmp_path), tmp_path / "report", {}, comparison=comparison)
    text = report.page.read_text(encoding="utf-8")
    assert text.count("Since the baseline: 1 of 4 cases regressed; 1 fixed. 4 cases are too few to tell") == 1
    first = text.partition('class="cause failed"')[2].partition("</article>")[0]
    assert "regressed" in first
    assert "<bdi>k2</bdi>" in first
    failures = text.partition('id="failures"')[2]
    assert re.findall(r'<span class="key"><bdi>(k\d)</bdi>', failures) == ["k2", "k0"]
    assert "<dt>Since the baseline</dt>" in failures
    assert "It is <del>5</del><ins>7</ins> USD." in failures
    summary = report.markdown.read_text(encoding="utf-8")
    assert "- **regressed** What about k2? (one, k2)" in summary
    assert "Since the baseline: It is ~~5~~ **7** USD." in summary


def test_findings_of_a_lab_are_grouped_over_its_models(tmp_path):
    builder = lab_run(cases=20)
    text = page(builder, tmp_path)
    findings = text.partition('id="problems"')[2].partition("</section>")[0]
    assert re.search(r"ROUGE: 16 of 16 models below 0.75 \(0.\d+–0.\d+\)", findings)
    assert "320 of 320 answers miss it: is the threshold right for this data?" in findings
    assert findings.count('<li class="card') < 12
    assert all(step.strip() for step in re.findall("Next step</span> <bdi>(.*?)</bdi>", findings, re.DOTALL))


def test_failed_cases_come_before_errors_and_expected_failures(tmp_path):
    builder = RecordBuilder()
    builder.add("expected", "one", {"outcomes": {"quality": score(0.1)}}, verdict="xfailed")
    builder.add("broken", "one", {"outcomes": {"quality": {"status": "error", "reason": "no reply"}}})
    builder.add("failed", "one", {"outcomes": {"quality": score(0.1)}})
    builder.add("fine", "one", {"outcomes": {"quality": score(0.9)}})
    failures = page(builder, tmp_path).partition('id="failures"')[2].partition("</section>")[0]
    assert re.findall(r'<span class="key"><bdi>(\w+)</bdi>', failures) == ["failed", "broken", "expected"]


def test_terms_of_a_condition_that_the_answer_misses_are_marked(tmp_path):
    builder = RecordBuilder(boolean_evaluator())
    outcome = {"status": "score", "scores": {"model_passes": 0.0}}
    row = {
        "actual_output": "It costs 7 USD.",
        "output_condition": '("5 USD" OR regexp("(?i)five")) AND NOT "7 USD" AND "costs"',
        "outcomes": {"text_matching": outcome},
    }
    builder.add("a", "one", row)
    failures = page(builder, tmp_path).partition('id="failures"')[2].partition("</section>")[0]
    terms = re.findall(r'class="term (\w+)".*?</span>(?:<span.*?</span>)?([^<]*)</code>', failures)
    assert terms == [
        ("unmet", "&#34;5 USD&#34;"),
        ("unmet", "regexp(&#34;(?i)five&#34;)"),
        ("unmet", "NOT &#34;7 USD&#34;"),
        ("met", "&#34;costs&#34;"),
    ]


def test_an_evaluator_whose_means_pass_names_the_answers_that_fail(tmp_path):
    builder = run(0.9, 0.9, 0.9, 0.1)
    text = page(builder, tmp_path)
    state = re.search(r'<span class="glance-state"><span class="(\w+)">(.*?)</span>', text)
    assert state.groups() == ("miss", "✗ 1 of 4 answers misses ≥ 0.5, the mean meets it")
    (tmp_path / "good").mkdir()
    assert "✓ meets ≥ 0.5" in page(run(0.9, 0.9), tmp_path / "good")
    (tmp_path / "bad").mkdir()
    assert "✗ 1 of 1 model misses ≥ 0.5" in page(run(0.1, 0.1), tmp_path / "bad")
