"""Results show themselves as frames, as text and as HTML."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import pytest

from pytest_evalstudio import ConfigurationError, Model, Results, TestLab, build_report, evaluate


@pytest.fixture(scope="module")
def results() -> Results:
    lab = TestLab(name="Fees")
    for name, answer in (("first", "It costs 5 USD."), ("<b>second</b>", "It is free.")):
        model = lab.add_model(name)
        for key in ("card", "transfer"):
            model.add_input(
                f"What does a {key} cost?", key=key, output_condition='"5 USD"', actual_output=answer
            )
    return evaluate(lab, ["text_matching"])


def test_the_leaderboard_frame_has_the_numbers_of_the_leaderboard(results: Results) -> None:
    frame = results.leaderboard_frame()
    passes = frame[frame.metric == "model_passes"].set_index("model")
    assert passes.value.to_dict() == {"first": 1.0, "<b>second</b>": 0.0}
    assert passes.n.to_dict() == {"first": 2, "<b>second</b>": 2}
    assert passes["rank"].to_dict() == {"first": 1, "<b>second</b>": 2}
    # Wilson's interval of 2 of 2: 1 / (1 + 1.96² / 2)
    assert passes.low["first"] == pytest.approx(1 / (1 + 1.959964**2 / 2), abs=1e-6)


def test_a_frame_without_pandas_names_the_package(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for frame in (results.leaderboard_frame, results.to_frame):
        with pytest.raises(ConfigurationError, match="a data frame needs pandas: pip install pandas"):
            frame()


def test_the_frame_of_answers_has_a_column_per_metric(results: Results) -> None:
    frame = results.to_frame()
    assert list(frame.columns[:6]) == ["key", "model", "run", "verdict", "input", "actual_output"]
    assert frame["text_matching.model_passes"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert frame.verdict.tolist() == ["passed", "passed", "failed", "failed"]


def test_the_frame_of_answers_shows_calls_and_turns() -> None:
    lab = TestLab(name="Bookings")
    model = lab.add_model("desk")
    call = {"name": "find", "arguments": {"code": "E1"}}
    turns = [{"prompt": "Cancel E1", "actual_output": "Done.", "tool_calls": [call], "condition": '"Done"'}]
    fields = {"output_condition": '"Done"', "actual_output": "Done."}
    model.add_input("Cancel E1", key="single", tool_calls=[call], **fields)
    model.add_input("Cancel E1", key="conversation", turns=turns, **fields)
    frame = evaluate(lab, ["text_matching"]).to_frame()
    assert frame.tool_calls.tolist() == [['find(code="E1")'], ['find(code="E1")']]
    assert frame.turns.tolist()[1] == ["Cancel E1 → Done."]


def test_the_html_escapes_names(results: Results) -> None:
    html = results._repr_html_()
    assert "&lt;b&gt;second&lt;/b&gt;" in html
    assert "<b>" not in html
    assert "2 failed, 2 passed" in html


def test_the_text_has_a_line_per_model(results: Results) -> None:
    head, first, second, counts = repr(results).splitlines()
    assert head.split()[:3] == ["model", "evaluator", "metric"]
    assert (first.split()[0], second.split()[0]) == ("first", "<b>second</b>")
    assert counts == "2 failed, 2 passed"


def test_progress_is_reported() -> None:
    lab = TestLab()
    model = lab.add_model("m")
    for number in range(3):
        model.add_input(f"Question {number}?", actual_output="Yes.", output_condition='"Yes"')
    calls: list[tuple[int, int]] = []
    evaluate(lab, ["text_matching"], progress=lambda count, total: calls.append((count, total)))
    assert calls[-1] == (3, 3)


def test_a_model_outside_of_a_lab_takes_no_answers() -> None:
    with pytest.raises(ConfigurationError, match="belongs to no lab"):
        Model(name="alone", key="alone").add_input("Question?")


def test_a_lab_has_each_key_once() -> None:
    lab = TestLab()
    lab.add_model("m")
    with pytest.raises(ConfigurationError, match="has a model with the key 'm'"):
        lab.add_model("m")


def test_pictures_show_the_primary_metric_of_each_model_with_interval_and_threshold(results: Results) -> None:
    pictures = results.plot()
    assert list(pictures.svgs) == ["text_matching"]
    svg = pictures.svgs["text_matching"]
    low = 1 / (1 + 1.959964**2 / 2)  # Wilson's interval of 2 of 2
    assert f"first: 1 ({low:.4g} to 1); &lt;b&gt;second&lt;/b&gt;: 0 (0 to {1 - low:.4g})" in svg
    assert "Text matching: Model passes, threshold ≥ 0.5" in svg
    assert "<b>second" not in pictures._repr_html_()
    assert results.plot("text_matching").svgs == pictures.svgs
    with pytest.raises(ConfigurationError, match="Did you mean 'text_matching'"):
        results.plot("text_match")


def test_a_report_shows_its_verdict_findings_and_page(results: Results, tmp_path: Path) -> None:
    report = build_report(results.write_record(tmp_path / "a <b>"), tmp_path / "a <b>", {})
    html = report._repr_html_()
    assert "✗ FAILED – 2 of 4 tests" in html
    assert "a%20%3Cb%3E/interpretation.html" in html
    assert "<b>" not in html
    assert "<li>2 × Condition not met</li>" in html
    for finding in report.summary.findings[:3]:
        assert finding.title in html
    for sentence in report.summary.ranking:
        assert escape(sentence) in html
