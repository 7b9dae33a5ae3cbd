"""An agent's case: the failed step, expected calls beside actual ones, the timeline, tools by models."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.sides import read_side
from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder, evaluator, metric
from tests.report.browser.test_conversation import turn

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x1b[2J"
MATCH = "tool_calls_match"
CANCEL = {"name": "cancel", "arguments": {"id": "E1", "reason": "the passenger is ill"}}
FIND = {"name": "find", "arguments": {"id": "E1"}, "result": '{"open": true}'}
WRONG = {
    "name": "cancel",
    "arguments": {"id": "E1", "reason": "the passenger is late"},
    "error": "no such booking",
}

Visit = Callable[..., Any]
Built = Callable[[RecordBuilder], Path]


def agent_run(*rows: dict[str, Any], models: Sequence[str] = ("agent",)) -> RecordBuilder:
    builder = RecordBuilder(
        evaluator("tool_calls", metric(MATCH, threshold=1.0)),
        evaluator("tool_rules", metric("tool_rules_kept", threshold=1.0)),
        models=tuple(models),
    )
    for number, row in enumerate(rows):
        outcomes = {"tool_calls": {"status": "score", "scores": {MATCH: row.pop("match", 0.0)}}}
        case = {"input": f"Cancel E{number}", "actual_output": "Done.", **row}
        case["outcomes"] = {**outcomes, **row.get("outcomes", {})}
        builder.add(f"case-{number // len(models)}", models[number % len(models)], case)
    return builder


def open_page(visit: Visit, path: Path, **context: Any) -> Any:
    page = visit(path, "#matrix", **context)
    page.locator("tr[data-place]").first.click()
    page.wait_for_selector("#panel .answer-column")
    return page


def words(locator: Any) -> str:
    return " ".join(str(locator.inner_text()).split())


def test_the_first_screen_names_the_failed_step_and_marks_the_words_that_differ(
    visit: Visit, build_page: Built
) -> None:
    page = open_page(
        visit, build_page(agent_run({"tool_calls": [FIND, WRONG], "expected_tool_calls": [FIND, CANCEL]}))
    )
    assert words(page.locator(".failed-step")) == "Failed at call 2 of 2: cancel wrong arguments (reason)"
    assert page.locator(".failed-step").bounding_box()["y"] < 500
    line = page.locator(".call-line.fault")
    assert words(line.locator(".call-state")) == "≠ wrong arguments"
    assert line.locator("del").all_inner_texts() == ["ill"]
    assert line.locator("ins").all_inner_texts() == ["late"]
    expected, actual = (line.locator(".call-side").nth(place).bounding_box() for place in (0, 1))
    assert expected["y"] == actual["y"]
    assert expected["x"] < actual["x"]


def test_missing_and_unexpected_calls_have_words_and_signs(visit: Visit, build_page: Built) -> None:
    page = open_page(visit, build_page(agent_run({"tool_calls": [FIND], "expected_tool_calls": [CANCEL]})))
    assert [words(each) for each in page.locator(".call-line").all()] == [
        '+ unexpected Expected not expected Call 1 find(id="E1")',
        '− missing Expected cancel(id="E1", reason="the passenger is ill") Call not called',
    ]


def test_a_conversation_names_its_turn(visit: Visit, build_page: Built) -> None:
    first = turn("Cancel E1", "Shall I?", expected_tool_calls=[FIND])
    first["answer"]["tool_calls"] = [FIND]
    row = {"turns": [first, turn("yes", "Done", expected_tool_calls=[CANCEL])]}
    page = open_page(visit, build_page(agent_run(row)))
    assert words(page.locator(".failed-step")) == "Failed at turn 2, before the first call: cancel missing"


def test_a_broken_rule_names_its_call(visit: Visit, build_page: Built) -> None:
    broken = [{"call": 1, "text": "call 1, find is never allowed"}]
    rules = {"status": "score", "scores": {"tool_rules_kept": 0.0}, "details": {"broken": broken}}
    page = open_page(visit, build_page(agent_run({"tool_calls": [FIND], "outcomes": {"tool_rules": rules}})))
    failed = "Failed at call 1 of 1: Tool Rules: call 1, find is never allowed"
    assert words(page.locator(".failed-step")) == failed
    assert words(page.locator(".trace-step.fault .step-name")).startswith("✗ breaks a rule tool find")


STEPS = [
    {
        "kind": "model",
        "name": "small",
        "agent": "desk",
        "started_s": 5.0,
        "duration_s": 1.0,
        "usage": {"input_tokens": 9},
    },
    {"kind": "tool", "call": 0, "agent": "desk", "started_s": 6.0, "duration_s": 3.0, "id": "t"},
    {"kind": "message", "text": "Done.", "agent": "billing", "parent": "t", "cost_usd": 0.5},
]


def test_the_timeline_has_bars_by_agent_and_a_step_opens_its_input_and_output(
    visit: Visit, build_page: Built
) -> None:
    page = open_page(visit, build_page(agent_run({"tool_calls": [FIND], "steps": STEPS})))
    box = page.locator(".timeline")
    assert words(box.locator("> summary")) == "Timeline: 3 steps, 4 s, 9 tokens, 0.5 USD"
    bars = [bar.bounding_box() for bar in box.locator("rect").all()]
    assert bars[1]["width"] == pytest.approx(3 * bars[0]["width"], abs=1)
    assert bars[1]["x"] == pytest.approx(bars[0]["x"] + bars[0]["width"], abs=1)
    assert [words(agent) for agent in box.locator(".agent").all()] == ["desk", "billing"]
    assert box.locator(".depth-1").count() == 1
    step = box.locator(".trace-step").nth(1)
    assert step.locator(".step-body").count() == 0
    step.locator("summary").focus()
    page.keyboard.press("Enter")
    text = words(step.locator(".step-body"))
    assert 'Input find(id="E1")' in text
    assert 'Output {"open": true}' in text


def test_without_start_times_the_timeline_is_a_list_and_says_so(visit: Visit, build_page: Built) -> None:
    page = open_page(visit, build_page(agent_run({"tool_calls": [FIND, WRONG]})))
    assert "Start times are not recorded" in words(page.locator(".timeline"))
    assert page.locator(".step-bar").count() == 0
    assert [words(each) for each in page.locator(".step-name").all()] == ["tool find", "! error tool cancel"]


def long_row(count: int = 200) -> dict[str, Any]:
    calls = [{"name": "page", "arguments": {"n": number}} for number in range(count)]
    expected = [
        {"name": "page", "arguments": {"n": number if number != 150 else -1}} for number in range(count)
    ]
    steps = [
        {"kind": "tool", "call": n, "agent": f"agent {n % 3}", "started_s": 1.0 * n, "duration_s": 1.0}
        for n in range(count)
    ]
    return {"tool_calls": calls, "expected_tool_calls": expected, "steps": steps}


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_two_hundred_steps_are_folded_and_the_failed_one_is_in_view(
    width: int, visit: Visit, build_page: Built
) -> None:
    page = open_page(visit, build_page(agent_run(long_row())), viewport={"width": width, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert words(page.locator(".failed-step")).startswith("Failed at call 151 of 200: page wrong arguments")
    assert page.locator(".call-fold > details > summary").all_inner_texts() == [
        "150 calls without a difference",
        "49 calls without a difference",
    ]
    frame = page.locator(".steps-frame").bounding_box()
    step = page.locator(".trace-step.fault").bounding_box()
    assert frame["y"] <= step["y"] <= frame["y"] + frame["height"]


def comparison_page(tmp_path: Path, *before: dict[str, Any], current: list[dict[str, Any]]) -> Path:
    base = agent_run({"tool_calls": list(before), "match": 1.0})
    new = agent_run({"tool_calls": current, "expected_tool_calls": [CANCEL]})
    result = compare(read_side(base.run, base.typed_items), read_side(new.run, new.typed_items))
    return build_report(new.write(tmp_path), tmp_path / "report", {}, comparison=result).page


@pytest.mark.parametrize("place", ["#compare", "#case=suite.json%3A%3Acase-0%5Bagent%5D"])
def test_calls_of_the_baseline_stand_beside_those_of_now_with_differences_first(
    place: str, visit: Visit, tmp_path: Path
) -> None:
    path = comparison_page(tmp_path, FIND, CANCEL, current=[FIND, WRONG, {"name": HOSTILE}])
    page = visit(path, place, viewport={"width": 390, "height": 844})
    box = page.locator(".calls-since:visible")
    box.wait_for()
    lines = box.locator("> .call-lines > .call-line")
    assert [words(each) for each in lines.locator(".call-state").all()] == ["≠ changed", "+ new"]
    assert lines.nth(0).locator("del").all_inner_texts() == ["ill"]
    assert lines.nth(0).locator("ins").all_inner_texts() == ["late"]
    assert "<img" in lines.nth(1).inner_text()
    assert page.locator(".calls-since img").count() == 0
    assert re.search("1 (more call is|call) the same", words(box))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_in_the_case_of_an_agent(
    width: int, scheme: str, visit: Visit, build_page: Built, axe: str
) -> None:
    rows = [
        long_row(60),
        {"tool_calls": [FIND, WRONG], "expected_tool_calls": [FIND, CANCEL], "steps": STEPS},
    ]
    path = build_page(agent_run(*rows))
    for place in (
        "#case=suite.json%3A%3Acase-0%5Bagent%5D",
        "#case=suite.json%3A%3Acase-1%5Bagent%5D",
        "#matrix",
    ):
        page = visit(
            path, place, viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True
        )
        page.wait_for_selector("tr[data-place]" if place == "#matrix" else ".call-line", state="attached")
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        page.wait_for_timeout(100)
        page.evaluate(axe)
        result = page.evaluate("axe.run()")["violations"]
        assert [(entry["id"], entry["nodes"][0]["html"]) for entry in result] == []


@pytest.mark.parametrize(("calls", "line_count"), [(1, 1), (201, 200)])
def test_long_lists_are_cut_and_counted(calls: int, line_count: int, visit: Visit, build_page: Built) -> None:
    row = {"tool_calls": [{"name": f"f{n}"} for n in range(calls)], "expected_tool_calls": []}
    box = open_page(visit, build_page(agent_run(row))).locator("#panel .calls")
    assert box.locator(".call-line").count() == line_count
    count = "1 call, 0 expected, 1 difference" if calls == 1 else "201 calls, 0 expected, 201 differences"
    assert box.locator("> summary").text_content() == f"Tool calls: {count}"
    assert box.locator(".left-out").count() == (0 if calls == line_count else 1)


def test_no_call_where_none_is_expected_is_said(visit: Visit, build_page: Built) -> None:
    page = open_page(
        visit, build_page(agent_run({"tool_calls": [], "expected_tool_calls": [], "match": 1.0}))
    )
    assert words(page.locator(".calls .quiet")) == "No call, and none expected."
    assert page.locator(".timeline, .failed-step").count() == 0


def test_without_calls_there_is_no_list(visit: Visit, build_page: Built) -> None:
    page = open_page(visit, build_page(agent_run({"match": 1.0})))
    assert page.locator(".calls, .timeline, .failed-step").count() == 0


def test_hostile_calls_and_steps_are_text(visit: Visit, build_page: Built) -> None:
    call = {"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}, "result": HOSTILE, "error": HOSTILE}
    expected = [{"name": HOSTILE, "arguments": {HOSTILE: "other"}}]
    steps = [
        {"kind": "tool", "call": 0, "agent": HOSTILE, "error": HOSTILE},
        {"kind": "message", "text": HOSTILE, "name": HOSTILE, "agent": "b"},
    ]
    page = open_page(
        visit, build_page(agent_run({"tool_calls": [call], "expected_tool_calls": expected, "steps": steps}))
    )
    page.evaluate("document.querySelectorAll('#panel details').forEach((part) => { part.open = true; })")
    page.wait_for_selector(".step-body")
    assert page.locator("#panel img, #tools img").count() == 0
    assert "<img src=x" in page.locator(".call-line").inner_text()
    assert page.locator("#panel code bdi").count() >= 4  # no text turns its surroundings round


def test_tools_by_models_are_counted_and_open_their_cases(visit: Visit, build_page: Built) -> None:
    good = {"tool_calls": [FIND, CANCEL], "expected_tool_calls": [FIND, CANCEL], "match": 1.0}
    bad = {"tool_calls": [FIND, WRONG], "expected_tool_calls": [FIND, CANCEL]}
    lazy = {"tool_calls": [], "expected_tool_calls": [FIND, CANCEL]}
    page = visit(build_page(agent_run(good, bad, good, lazy, models=("a", "b"))), "#matrix")
    rows = [words(row) for row in page.locator(".tool-table tbody tr").all()]
    assert rows == [
        "cancel 100 % 2 calls 50 % 1 call ✗ 1 missing ✗ 1 wrong arguments ! 1 failed",
        "find 100 % 2 calls 50 % 1 call ✗ 1 missing",
    ]
    page.locator(".tool-fault", has_text="1 wrong arguments").click()
    page.locator("#cases [role=status]", has_text="1 case, 1 answer of 4").wait_for()
    assert page.locator(".chips").inner_text().split("\n")[::2] == [
        "model: b",
        "tool: cancel, wrong arguments",
        "Clear filters",
    ]
    assert page.locator("tr[data-place]").count() == 1


def test_the_failed_step_is_a_link_to_its_call(visit: Visit, build_page: Built) -> None:
    page = open_page(visit, build_page(agent_run(long_row())))
    page.locator(".failed-step").get_by_role("button").click()
    call = page.locator(".call-line.fault")
    box = call.bounding_box()
    assert 0 <= box["y"] <= 900
    assert call.evaluate("(line) => line === document.activeElement")


def test_calls_and_steps_stand_within_their_turn(visit: Visit, build_page: Built) -> None:
    first = turn("Cancel E1", "Shall I?", expected_tool_calls=[FIND])
    first["answer"]["tool_calls"] = [FIND]
    row = {"turns": [first, turn("yes", "Done", expected_tool_calls=[CANCEL])]}
    page = open_page(visit, build_page(agent_run(row)))
    assert page.locator(".turn").first.locator(".timeline").count() == 1
    assert page.locator(".answer-column .timeline").count() == page.locator(".turn .timeline").count()
