"""Items that did not pass: who is to blame, and which terms of a condition the answer decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.analysis.causes import CauseCode, CauseKey
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.report.failed_items import FailedItems
from pytest_evalstudio.report.failure_types import FailedEvaluator, FailedItem, reason_of
from support.records import RecordBuilder, boolean_evaluator, evaluator, score

JUDGED = {"output_condition": '"Paris" AND "France"', "actual_output": "Paris"}


def error(code: str, reason: str) -> dict[str, Any]:
    return {"status": "error", "code": code, "reason": reason, "scores": {}}


def failures_of(builder: RecordBuilder, folder: Path) -> str:
    page = build_report(builder.write(folder), folder, {}).page.read_text(encoding="utf-8")
    return page.partition('id="failures"')[2].partition("</section>")[0]


def test_a_fault_of_the_host_names_no_evaluator_and_shows_no_condition(tmp_path: Path) -> None:
    reason = "model 'app': ConnectionError: refused"
    faults = {id: error("no_answer", reason) for id in ("text_matching", "quality")}
    row = {**JUDGED, "actual_output": "", "error": reason, "outcomes": faults}
    builder = RecordBuilder(boolean_evaluator(), evaluator("quality"))
    builder.add("a", "one", row, reason=reason, code="")

    failures = failures_of(builder, tmp_path)

    assert "Not answered: model &#39;app&#39;: ConnectionError: refused" in failures
    assert reason.replace("'", "&#39;") in failures
    assert "could not score" not in failures
    assert "not met:" not in failures


def test_a_judge_that_does_not_reply_is_named_beside_its_evaluator(tmp_path: Path) -> None:
    row = {**JUDGED, "outcomes": {"quality": error("judge_failed", "HTTP 500")}}
    builder = RecordBuilder(evaluator("quality", method=["judge"]))
    builder.add("a", "one", row, reason="HTTP 500")

    failures = failures_of(builder, tmp_path)

    assert "Quality: no verdict of the judge" in failures
    assert "<strong><bdi>Quality</bdi></strong> got no reply of its judge: " in failures
    assert "not met:" not in failures


def test_the_terms_of_a_condition_are_shown_where_an_answer_has_a_score(tmp_path: Path) -> None:
    builder = RecordBuilder(boolean_evaluator())
    builder.add("a", "one", {**JUDGED, "outcomes": {"text_matching": score(0.0, "model_passes")}})

    failures = failures_of(builder, tmp_path)

    assert failures.count("not met:") == 1
    assert "France" in failures.partition("not met:")[2][:60]


def test_a_name_that_evaluator_and_metric_share_is_given_once():
    miss = FailedEvaluator(
        evaluator="g", name="Groundedness", metric="Groundedness", score=0.4268, threshold=0.75
    )
    cause = CauseKey("failed", CauseCode.THRESHOLD, "g", "g")
    item = FailedItem(
        kind="failed", cause=cause, nodeid="n", file="f", key="k", model="m", model_key="m", misses=(miss,)
    )
    assert reason_of(item) == "Groundedness: 0.4268, threshold ≥ 0.75"


def test_an_error_that_decides_an_item_comes_before_missed_thresholds(tmp_path: Path) -> None:
    outcomes = {"quality": score(0.1), "text_matching": error("", "expected a string after AND")}
    models = ("one", "two")
    builder = RecordBuilder(evaluator("quality"), boolean_evaluator(name="Text matching"), models=models)
    for model in models:
        builder.add("a", model, {**JUDGED, "outcomes": outcomes})
    report = build_report(builder.write(tmp_path), tmp_path, {})
    first = report.page.read_text(encoding="utf-8").partition('class="first-reason"')[2][:200]
    assert "Text matching" in first
    [finding] = [each for each in report.summary.findings if each.evaluator == "text_matching"]
    assert finding.title == (
        "Text matching: 2 answers of 2 of 2 models without a score: expected a string after AND"
    )


def test_equal_answers_of_a_table_are_written_out_once_with_their_number(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"))
    for number, answer in enumerate(["I do not know."] * 70 + ["Five.", "I do not know."]):
        outcomes = {"quality": score(0.1)}
        builder.add(
            f"k{number}", "one", {"input": f"q{number}", "actual_output": answer, "outcomes": outcomes}
        )
    items = FailedItems(builder.run, builder.run.evaluators, folds_answers=True)
    analysis = analyse(builder.write(tmp_path), {}, on_failure=items.add)
    [group] = items.groups(analysis.causes)
    assert [(each.key, each.equal_answers) for each in group.items] == [("k0", 70), ("k70", 0)]
    assert (items.total["failed"], group.cause.total, group.left_out) == (72, 72, 0)
