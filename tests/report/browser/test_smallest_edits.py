"""The smallest edit of a flip on the page: two questions with the differing word marked."""

from __future__ import annotations

import pytest

from support.records import RecordBuilder, flip, perturbed, score

pytestmark = pytest.mark.browser

SMALLEST = {
    "code": "minimal",
    "original": "What does a <b>card</b> cost?",
    "question": "What does a <b>crad</b> cost?",
    "edits": 1,
    "total_edits": 9,
    "calls": 7,
}


def run(*edits):
    builder = RecordBuilder(models=("one",))
    builder.add("k", "one", {"outcomes": {"quality": score(1.0)}})
    builder.add(
        "k-comma",
        "one",
        {"outcomes": {"quality": score(0.0)}, **perturbed("k", "comma:HIGH")},
        flips=[flip("k", smallest=edit) for edit in edits],
    )
    return builder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_two_questions_differ_in_one_marked_word(build_page, visit, width, scheme):
    page = visit(
        build_page(run(SMALLEST)),
        "#robustness",
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
    )
    edit = page.locator(".smallest")
    edit.wait_for()
    assert edit.locator(".smallest-head").inner_text() == "Smallest edit that flips (1 of 9 edits; 7 calls)"
    assert edit.locator(".smallest-question").all_inner_texts() == [
        SMALLEST["original"],
        SMALLEST["question"],
    ]
    assert edit.locator("del").all_inner_texts() == ["card"]
    assert edit.locator("ins").all_inner_texts() == ["crad"]
    box = edit.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert "Searched the smallest edits of 1 flip with 7 calls: 1 minimal." in page.inner_text("main")


def test_the_panel_of_the_case_shows_it_too(build_page, visit):
    page = visit(build_page(run(SMALLEST)), "#robustness")
    page.locator(".flip a", has_text="Open").click()
    edit = page.locator("#panel .smallest")
    edit.wait_for()
    assert edit.locator("ins").all_inner_texts() == ["crad"]


def test_equal_edits_of_several_metrics_are_one_and_other_ends_say_why(build_page, visit):
    other = {**SMALLEST, "code": "not_reproduced", "calls": 2}
    page = visit(build_page(run(SMALLEST, {**SMALLEST, "calls": 0}, other)), "#robustness")
    page.locator(".smallest-head").first.wait_for()
    assert page.locator(".smallest-head").all_inner_texts() == [
        "Smallest edit that flips (1 of 9 edits; 7 calls)",
        "Not reproduced: the model answers otherwise when it is asked again (2 calls)",
    ]
    assert page.locator(".smallest-question").count() == 2


def test_flips_that_were_not_shrunk_have_no_edit(build_page, visit):
    page = visit(build_page(run(None)), "#robustness")
    page.locator(".flip").wait_for()
    assert page.locator(".smallest-head").count() == 0
    assert "smallest" not in page.inner_text("main").lower()
