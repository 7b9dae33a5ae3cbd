"""Tool calls in the case view: expected ones beside actual ones, as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.records import RecordBuilder, boolean_evaluator

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x1b[2J"


def agent_run(calls: list[dict[str, Any]], expected: list[dict[str, Any]] | None) -> RecordBuilder:
    builder = RecordBuilder(boolean_evaluator(name="Text matching"))
    row = {
        "input": "Cancel E1",
        "actual_output": "Done.",
        "tool_calls": calls,
        "outcomes": {"text_matching": {"status": "score", "scores": {"model_passes": 0.0}}},
        **({} if expected is None else {"expected_tool_calls": expected}),
    }
    builder.add("cancel", "agent", row)
    return builder


Visit = Callable[..., Any]
Built = Callable[[RecordBuilder], Path]


def opened(visit: Visit, path: Path) -> Any:
    page = visit(path, "#matrix")
    page.locator("tr[data-place]").first.click()
    page.wait_for_selector("#panel .answer-column")
    return page.locator("#panel .calls")


def test_expected_calls_stand_beside_actual_ones(visit: Visit, built: Built) -> None:
    calls = [
        {"name": "find", "arguments": {"id": "E1"}, "result": '{"open": true}'},
        {"name": "cancel", "arguments_text": "{broken", "error": "no such booking"},
    ]
    box = opened(visit, built(agent_run(calls, [{"name": "cancel", "arguments": {"id": "E1"}}])))
    assert box.get_attribute("open") is not None
    assert [line for line in box.inner_text().split("\n") if line] == [
        *("Tool calls: 2 calls", "Expected", 'cancel(id="E1")', "Actual", 'find(id="E1")'),
        *('→ {"open": true}', "cancel({broken)", "Error: no such booking"),
    ]


@pytest.mark.parametrize(("calls", "shown"), [(1, 1), (201, 200)])
def test_long_lists_are_cut_and_counted(calls: int, shown: int, visit: Visit, built: Built) -> None:
    box = opened(visit, built(agent_run([{"name": f"f{n}"} for n in range(calls)], None)))
    assert box.locator("li").count() == shown
    assert box.locator("summary").text_content() == f"Tool calls: {'1 call' if calls == 1 else '201 calls'}"
    assert box.locator(".left-out").count() == (0 if calls == shown else 1)


def test_no_expected_call_is_said_and_no_call_is_no_list(visit: Visit, built: Built) -> None:
    box = opened(visit, built(agent_run([], [])))
    assert box.locator(".quiet").all_inner_texts() == ["no call", "no call"]


def test_without_calls_there_is_no_list(visit: Visit, built: Built) -> None:
    assert opened(visit, built(agent_run([], None))).count() == 0


def test_hostile_calls_are_text(visit: Visit, built: Built) -> None:
    call = {"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}, "result": HOSTILE, "error": HOSTILE}
    box = opened(visit, built(agent_run([call], [{"name": HOSTILE}])))
    assert box.locator("img").count() == 0
    assert box.locator("bdi", has_text="<img src=x").count() == 4  # no text turns its surroundings round
    assert "<img src=x" in box.inner_text()
