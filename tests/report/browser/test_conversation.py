"""Turns of a conversation in the case view: the first failing one is open, and names its evaluators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.records import RecordBuilder, boolean_evaluator

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>"


def turn(prompt: str, text: str, **expectations: Any) -> dict[str, Any]:
    answer = {
        "context": [],
        "context_sources": [],
        "actual_output": text,
        "actual_duration": 0.1,
        "cost": None,
        "usage": {},
        "retries": 0,
        "error": "",
    }
    return {"prompt": prompt, "answer": answer, **expectations}


@pytest.fixture
def panel(visit: Callable[..., Any], build_page: Callable[[RecordBuilder], Path]) -> Any:
    builder = RecordBuilder(boolean_evaluator(name="Text matching"))
    row = {
        "input": "Cancel E1",
        "actual_output": "Bye",
        "turns": [
            turn("Cancel E1", "Shall I?"),
            turn("yes", HOSTILE, output_condition='"cancelled"', expected_tool_calls=[{"name": "cancel"}]),
            turn("Thanks", "Bye"),
        ],
        "outcomes": {
            "text_matching": {
                "status": "score",
                "scores": {"model_passes": 0.0},
                "turn": 2,
                "turns": [{"turn": 2, "status": "score", "passed": False, "scores": {"model_passes": 0.0}}],
            }
        },
    }
    builder.add("cancel", "agent", row)
    page = visit(build_page(builder), "#matrix")
    page.locator("tr[data-place]").first.click()
    page.wait_for_selector("#panel .turn")
    return page.locator("#panel .turns")


def test_the_first_failing_turn_is_open_and_those_before_are_folded(panel: Any) -> None:
    turns = panel.locator(".turn")
    assert [turns.nth(index).get_attribute("open") is not None for index in range(3)] == [False, True, True]
    assert "Turn 2: fails Text matching" in turns.nth(1).locator("> summary").inner_text()


def test_texts_and_expectations_of_a_turn_are_shown_as_text(panel: Any) -> None:
    text = panel.locator(".turn").nth(1).inner_text()
    assert HOSTILE in text
    assert 'Condition: "cancelled"' in text
    assert "cancel()" in text
    assert panel.locator("img").count() == 0
