"""The first screen, cells with texts, exports, a copied case, and the case view that covers the page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.report import worddiff
from pytest_evalstudio.report.worddiff import changed_words
from support.records import RecordBuilder, boolean_evaluator, evaluator, leak, score

pytestmark = pytest.mark.browser
STATIC = Path(worddiff.__file__).parent / "static"
Page = Any
Visit = Callable[..., Page]


def failing_run(models: tuple[str, ...] = ("one",)) -> RecordBuilder:
    """Return a run whose failures have three causes."""
    builder = RecordBuilder(
        boolean_evaluator(name="Text matching", needs=["actual_output", "condition"]),
        boolean_evaluator("pii", name="PII leakage", problem_type="privacy", domain="privacy"),
        models=models,
    )
    for number in range(12):
        for model in models:
            outcomes: dict[str, Any] = {
                "text_matching": score(1.0, "model_passes"),
                "pii": score(1.0, "model_passes"),
            }
            row: dict[str, Any] = {
                "input": f"What does item {number} cost?",
                "expected_output": f"Item {number} costs 5 USD.",
                "actual_output": f"Item {number} costs 5 USD.",
                "categories": ["fees"],
            }
            if number < 4:
                outcomes["text_matching"] = {**score(0.0, "model_passes"), "reason": "lacks 5 USD"}
                row["actual_output"] = "It is ```free``` | of charge."
            elif number < 6:
                finding = leak("a card")
                outcomes["pii"] = {**score(0.0, "model_passes"), "findings": [finding]}
            elif number == 6:
                fault = {"status": "error", "code": "no_answer", "reason": "HTTP 503"}
                outcomes = {"text_matching": fault, "pii": fault}
                row |= {"actual_output": "", "error": "HTTP 503"}
            builder.add(
                f"k{number}",
                model,
                {**row, "outcomes": outcomes},
                reason="lacks 5 USD" if number < 4 else "",
            )
    return builder


@pytest.fixture
def failing(build_page: Callable[[RecordBuilder], Path]) -> Path:
    return build_page(failing_run())


def test_causes_are_on_the_first_screen_with_an_example_each(visit: Visit, failing: Path) -> None:
    page = visit(failing)
    causes = page.locator(".cause")
    assert causes.count() == 3
    assert causes.locator(".cause-count").all_text_contents() == ["4", "2", "1"]
    last = causes.last.bounding_box()
    assert last["y"] + last["height"] <= 900
    first = causes.first
    assert "Condition not met" in first.inner_text()
    assert "What does item 0 cost?" in first.inner_text()
    first.get_by_role("link", name="Show all 4").click()
    group = page.locator("#cause-1")
    group.wait_for()
    assert group.locator(".failed-item").count() == 4
    page.go_back()
    assert page.locator(".cause").first.is_visible()


def test_the_verdict_says_what_was_asked_answered_and_checked(visit: Visit, failing: Path) -> None:
    page = visit(failing)
    assert page.locator(".coverage").inner_text() == "12 asked, 11 answered, 11 checked"
    assert page.title().startswith("✗ 6 failed, 1 error")


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_on_the_first_screen_overlaps_or_is_cut(visit: Visit, failing: Path, width: int) -> None:
    page = visit(failing, viewport={"width": width, "height": 900})
    parts = page.locator(".verdict-block, .cause, .glance-heat, .glance-eye, #problems")
    boxes = [box for box in (parts.nth(place).bounding_box() for place in range(parts.count())) if box]
    for place, first_box in enumerate(boxes):
        assert first_box["x"] >= 0
        assert first_box["x"] + first_box["width"] <= width
        for second_box in boxes[place + 1 :]:
            is_beside = (
                first_box["x"] + first_box["width"] <= second_box["x"] + 1
                or second_box["x"] + second_box["width"] <= first_box["x"] + 1
            )
            is_below = (
                first_box["y"] + first_box["height"] <= second_box["y"] + 1
                or second_box["y"] + second_box["height"] <= first_box["y"] + 1
            )
            assert is_beside or is_below


def test_cells_have_the_answer_and_the_reason(visit: Visit, failing: Path) -> None:
    page = visit(failing, "#matrix")
    cell = page.locator("tr[data-place='0'] .text-cell")
    cell.locator(".line").first.wait_for()
    assert cell.locator(".line").all_text_contents() == ["It is ```free``` | of charge.", "lacks 5 USD"]
    table = page.locator(".case-table").bounding_box()
    assert cell.bounding_box()["width"] > table["width"] / 3


def test_columns_of_models_can_be_chosen(visit: Visit, build_page: Callable[[RecordBuilder], Path]) -> None:
    models = ("one", "two", "three", "four", "five")
    page = visit(build_page(failing_run(models)), "#matrix")
    assert page.locator(".text-cell").count() == 0
    page.locator("#cases-root").get_by_text("Columns", exact=True).click()
    for name in ("four", "five"):
        page.get_by_role("checkbox", name=name).uncheck()
    page.locator(".text-cell .line").first.wait_for()
    assert set(page.locator(".case-table thead .model-cell").all_text_contents()) == {"one", "two", "three"}


def test_the_exported_view_has_texts_verdicts_and_reasons(visit: Visit, failing: Path) -> None:
    page = visit(failing, "#matrix?verdict=failed")
    files = {}
    for name in ("CSV", "JSON", "Markdown"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name, exact=True).click()
        files[name] = Path(waiting.value.path()).read_text(encoding="utf-8")
    (first, *others) = csv.DictReader(io.StringIO(files["CSV"]))
    assert len(others) == 5
    assert (first["question"], first["expected"], first["verdict"], first["reason"], first["tags"]) == (
        "What does item 0 cost?",
        "Item 0 costs 5 USD.",
        "failed",
        "lacks 5 USD",
        "fees",
    )
    assert first["answer"] == "It is ```free``` | of charge."
    assert json.loads(files["JSON"])[0]["answer"] == first["answer"]
    # The fence is longer than any in the answer.
    assert "````\nIt is ```free``` | of charge.\n````" in files["Markdown"]


def test_a_case_is_copied_whole(visit: Visit, failing: Path) -> None:
    page = visit(failing, "#matrix")
    page.locator("tr[data-place='0'] .text-cell").click()
    copied = page.locator("#panel").get_by_role("button", name="Copy case").get_attribute("data-copy")
    for part in (
        "What does item 0 cost?",
        "Item 0 costs 5 USD.",
        "It is ```free``` | of charge.",
        "lacks 5 USD",
        "pytest ",
    ):
        assert part in copied


def test_focus_stays_in_the_case_view(visit: Visit, failing: Path) -> None:
    page = visit(failing, "#matrix")
    page.locator("tr[data-place='0'] .text-cell").click()
    page.locator("#panel").wait_for()
    assert page.locator("#panel").get_attribute("aria-modal") == "true"
    for _ in range(30):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('#panel')"
        )
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    assert not page.evaluate("document.querySelector('main').inert")


@pytest.mark.parametrize(
    ("base", "other"),
    [
        ("Within 30 days of the purchase.", "It is within thirty days of the purchase."),
        ("The fee is 5 EUR, or 7 EUR.", "The fee is 7 EUR, or 5 EUR."),
        ("a b c a b", "b a c b a"),
        ("one " * 130, "One two " * 100),
        ("Straße Ärger İ", "STRASSE ärger i"),
        ("", "all new"),
    ],
)
def test_page_and_failures_mark_the_same_words(visit: Visit, failing: Path, base: str, other: str) -> None:
    page = visit(failing)
    script = (STATIC / "js" / "words.js").read_text(encoding="utf-8")
    marks = page.evaluate(
        f"([base, other]) => {{ {script}\nreturn changedWords(base, other); }}", [base, other]
    )
    expected = [[[part.text, part.changed] for part in side] for side in changed_words(base, other)]
    assert marks == expected


def test_with_few_answers_a_cell_is_hatched(
    visit: Visit, build_page: Callable[[RecordBuilder], Path]
) -> None:
    builder = RecordBuilder(evaluator("quality"))
    for number in range(3):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(0.9)}})
    page = visit(build_page(builder))
    assert page.locator("#heatmap td.few").count() == 1
    assert "fewer than five answers" in page.locator(".heat-legend").inner_text()


def test_a_case_of_a_judge_shows_its_guidelines(
    visit: Visit, build_page: Callable[[RecordBuilder], Path]
) -> None:
    builder = RecordBuilder(evaluator("quality"))
    row = {
        "guidelines": ["Never promise a refund."],
        "expected_facts": ["The fee is 5 USD."],
        "outcomes": {"quality": {**score(0.1), "reason": "promises a refund"}},
    }
    builder.add("a", "one", row)
    page = visit(build_page(builder), "#matrix")
    page.locator("tr[data-place='0'] .text-cell").click()
    words = page.locator("#panel .pinned").inner_text()
    for part in ("Guidelines", "Never promise a refund.", "Expected facts", "The fee is 5 USD."):
        assert part in words
