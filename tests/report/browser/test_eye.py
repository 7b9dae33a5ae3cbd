"""The evaluation eye: every level, by mouse and by keyboard, and the dots at its end."""

from __future__ import annotations

import pytest

from support.records import RecordBuilder, evaluator, score
from support.report_runs import CASES, lab_run, many_rows

pytestmark = pytest.mark.browser


def names(page, ring):
    return [
        title.text_content()
        for title in page.locator(f"#eye-root [data-stop]:has(> g > .segment.{ring}) > title").all()
    ]


def title(page):
    return " ".join(line.text_content() for line in page.locator("#eye-root .centre-title").all())


def enter(page, name):
    page.locator("#eye-root").get_by_role("button", name=name).first.dispatch_event("click")


def test_every_level_has_its_rings(visit, varied):
    page = visit(varied, "#explore")
    assert title(page) == "All domains"
    assert [name.partition(":")[0] for name in names(page, "inner")] == ["Generation", "Retrieval", "Privacy"]
    assert [name.partition(":")[0] for name in names(page, "outer")] == [
        "Answer quality",
        "Groundedness",
        "Recall",
        "Pii",
    ]
    enter(page, "Generation:")
    assert title(page) == "Generation"
    assert [name.partition(":")[0] for name in names(page, "outer")] == [
        "Quality",
        "Brevity",
        "Facet 0",
        "Facet 1",
        "Facet 2",
        "Facet 3",
    ]
    enter(page, "Answer quality:")
    assert [name.partition(" 0.")[0] for name in names(page, "inner")] == ["Quality", "Brevity"]
    assert [name.partition(" 0.")[0] for name in names(page, "outer")] == ["alpha", "beta", "gamma"] * 2
    enter(page, "Quality 0.")
    assert [name.partition(" 0.")[0] for name in names(page, "inner")] == ["alpha", "beta", "gamma"]
    assert page.locator(".segment.inner .fill").count() == 3
    page.locator("#eye-root").get_by_role("button", name="beta 0.").first.dispatch_event("click")
    assert page.locator(".dots .dot").count() == CASES
    assert page.locator(".crumbs [aria-current]").inner_text() == "beta"
    assert page.evaluate("location.hash") == "#eye=generation/quality/quality/m-beta"


def test_what_misses_is_grey_with_a_count_and_agrees_with_the_heatmap(visit, varied):
    page = visit(varied, "#explore")
    words = {name.partition(":")[0]: name for name in names(page, "inner")}
    assert words["Retrieval"] == "Retrieval: meets the threshold"
    assert words["Privacy"] == "Privacy: 3 of 3 miss the threshold"
    privacy = page.locator("#eye-root [data-stop]:has(> title:text('Privacy: 3'))")
    assert privacy.locator(".badge text").text_content() == "3"
    assert privacy.locator(".segment").get_attribute("class") == "segment inner misses"
    misses = page.locator("#heatmap td .cross").count()
    counts = [int(name.split(": ")[1].split(" ")[0]) for name in words.values() if " of " in name]
    assert sum(counts) == misses


def test_an_evaluator_that_scored_nothing_is_not_scored(visit, build_page):
    builder = RecordBuilder(evaluator("quality"), evaluator("agent", domain="agents"))
    outcome = {"status": "not_applicable", "reason": "no agent"}
    builder.add("a", "one", {"outcomes": {"quality": score(0.9), "agent": outcome}})
    page = visit(build_page(builder), "#explore")
    assert "Agents: not scored" in names(page, "inner")
    assert page.locator(".item.unscored .item-state").inner_text() == "not scored"


def test_a_name_at_the_side_of_the_ring_fits_its_depth(visit, build_page):
    builder = RecordBuilder(evaluator("short", domain="summarization"), evaluator("other", domain="privacy"))
    builder.add("a", "one", {"outcomes": {"short": score(0.2), "other": score(0.2)}})
    page = visit(build_page(builder), "#explore")
    lengths = page.locator("#eye-root .inner .label").evaluate_all(
        "labels => labels.map((label) => [label.textContent, label.getBBox().x, label.getBBox().width])"
    )
    assert "Summarization" in [text for text, _, _ in lengths]
    for text, x, width in lengths:
        near, far = sorted((abs(x), abs(x + width)))
        assert 80 <= near < far <= 184, text


def test_above_eight_models_the_eye_gives_way_to_ranked_dots(visit, build_page):
    page = visit(build_page(lab_run(cases=6)), "#eye=retrieval")
    assert page.locator(".plot").count() == 2
    labels = page.locator(".plot").first.locator("text.name").all_text_contents()
    assert len(set(labels)) == 16
    page.locator(".plot").first.locator("[data-stop]").first.dispatch_event("click")
    page.locator(".dots .dot").first.wait_for()
    page.go_back()
    page.locator(".plot").first.wait_for()


def test_a_selection_leads_to_its_failures_and_cases(visit, varied):
    page = visit(varied, "#eye=generation/quality/quality/m-beta")
    page.get_by_role("link", name="Failures of this selection").click()
    page.locator("#failures .chip", has_text="evaluator: Answer quality").wait_for()
    failures = page.locator("#failures .failed-item:visible")
    assert {item.get_attribute("data-model") for item in failures.all()} == {"m-beta"}
    page.go_back()
    page.get_by_role("link", name="Its cases in the matrix").click()
    page.locator("#cases .chip", has_text="model: beta").wait_for()


def test_the_red_border_blinks_unless_motion_is_unwanted(visit, varied):
    path = varied
    look = "getComputedStyle(document.querySelector('#eye-root .segment.misses .body')).animationName"
    assert visit(path, "#explore").evaluate(look) == "none"
    assert visit(path, "#explore", reduced_motion="no-preference").evaluate(look) == "blink"


def test_the_centre_shows_the_models_and_leads_back(visit, varied):
    page = visit(varied, "#eye=generation/quality")
    page.locator("#eye-root .centre").hover()
    bars = page.locator(".eye-bars")
    assert bars.is_visible()
    assert bars.locator(".ranked").count() == 2
    assert "beta: 0.2708, misses the threshold" in bars.locator("title").all_text_contents()
    page.mouse.move(0, 0)
    assert bars.is_hidden()
    page.locator("#eye-root .centre").click()
    assert title(page) == "Generation"


def test_the_keyboard_goes_all_the_way_to_a_case_and_back(visit, varied):
    page = visit(varied, "#explore")
    page.locator("#eye-root .segments [tabindex='0']").focus()
    page.keyboard.press("Enter")
    assert title(page) == "Generation"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    for _ in range(3):
        page.keyboard.press("Enter")
    assert page.locator(".dots .dot").count() == CASES
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator("#panel-title").wait_for()
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    page.locator("[data-stop]:focus").wait_for(state="attached")
    for heading in ("Quality", "Answer quality", "Generation", "All domains"):
        page.keyboard.press("Escape")
        assert title(page) == heading


def test_dots_miss_the_threshold_as_the_record_says(visit, varied):
    page = visit(varied, "#eye=generation/quality/quality/m-alpha")
    assert page.locator(".dot.missed").count() == 5  # 1 - n/12 < 0.5 from the seventh case on
    assert page.locator(".dot-chart .threshold").count() == 1
    page.locator(".dots [data-stop]", has=page.locator(".missed")).first.dispatch_event("click")
    page.locator("#panel .key", has_text="case-11").wait_for()


def test_a_metric_is_compared_with_another(visit, varied):
    page = visit(varied, "#eye=generation/quality/quality/m-alpha")
    page.locator(".dots select").select_option(label="Groundedness: Facet 3")
    assert page.locator(".dots .dot").count() == CASES
    assert page.locator(".dot-chart .threshold").count() == 2
    assert "Facet 3" in page.locator(".dots [data-stop] title").first.text_content()


def test_from_500_cases_on_dots_are_bins_whose_cases_are_listed(visit, build_page):
    page = visit(build_page(many_rows(600)), "#eye=generation/quality/score/m-one")
    assert page.locator(".dots .dot").count() == 0
    sizes = [
        int(name.split(": ")[1].split(" ")[0])
        for name in page.locator(".dots [data-stop] > title").all_text_contents()
    ]
    assert sum(sizes) == 600
    page.locator(".dots [data-stop]").first.dispatch_event("click")
    assert page.locator(".bin-list button").count() == min(100, sizes[0])
    page.locator(".bin-list button").first.click()
    page.locator("#panel .key", has_text="case-0").wait_for()


def test_an_address_that_this_run_does_not_have_leads_as_far_as_it_can(visit, varied):
    path = varied
    assert title(visit(path, "#eye=generation/quality/nothing")) == "Answer quality"
    assert title(visit(path, "#eye=astrology/quality")) == "All domains"
    assert title(visit(path, "#eye=%E0%A4%A")) == "All domains"
