"""The evaluation eye: every level, by mouse and by keyboard, and the dots at its end."""

from __future__ import annotations

import pytest

from support.report_runs import CASES, many_rows

pytestmark = pytest.mark.browser


def names(page, ring):
    return [
        title.text_content()
        for title in page.locator(f"[data-stop]:has(> g > .segment.{ring}) > title").all()
    ]


def title(page):
    return " ".join(line.text_content() for line in page.locator(".centre-title").all())


def enter(page, name):
    page.get_by_role("button", name=name).first.dispatch_event("click")


def test_every_level_has_its_rings(visit, varied):
    page = visit(varied)
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
    page.get_by_role("button", name="beta 0.").first.dispatch_event("click")
    assert page.locator(".dots .dot").count() == CASES
    assert page.locator(".crumbs [aria-current]").inner_text() == "beta"
    assert page.evaluate("location.hash") == "#eye=generation/quality/quality/m-beta"


def test_what_is_wrong_is_grey_with_a_count_in_the_colour_of_its_severity(visit, varied):
    page = visit(varied)
    wrong = {name.partition(":")[0]: name for name in names(page, "inner")}
    assert "problem" in wrong["Generation"]
    assert wrong["Retrieval"] == "Retrieval: fine"
    assert wrong["Privacy"] == "Privacy: 3 problems, the worst high"
    privacy = page.locator("[data-stop]:has(> title:text('Privacy: 3'))")
    assert privacy.locator(".badge.high text").text_content() == "3"
    assert privacy.locator(".segment").get_attribute("class") == "segment inner problem high"


def test_the_red_border_blinks_unless_motion_is_unwanted(visit, varied):
    path = varied
    look = "getComputedStyle(document.querySelector('.segment.problem .body')).animationName"
    assert visit(path).evaluate(look) == "none"
    assert visit(path, reduced_motion="no-preference").evaluate(look) == "blink"


def test_the_centre_shows_the_models_and_leads_back(visit, varied):
    page = visit(varied, "#eye=generation/quality")
    page.locator(".centre").hover()
    bars = page.locator(".eye-bars")
    assert bars.is_visible()
    assert bars.locator(".bar-group").count() == 2
    assert (
        bars.locator("title").all_text_contents()[1].startswith("beta: Quality 0.2708, misses its threshold")
    )
    page.mouse.move(0, 0)
    assert bars.is_hidden()
    page.locator(".centre").click()
    assert title(page) == "Generation"


def test_the_keyboard_goes_all_the_way_to_a_case_and_back(visit, varied):
    page = visit(varied)
    page.locator(".segments [tabindex='0']").focus()
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
    assert page.locator("#panel").is_hidden()
    assert page.evaluate("document.activeElement.hasAttribute('data-stop')")
    for wanted in ("Quality", "Answer quality", "Generation", "All domains"):
        page.keyboard.press("Escape")
        assert title(page) == wanted


def test_dots_miss_the_threshold_as_the_record_says(visit, varied):
    page = visit(varied, "#eye=generation/quality/quality/m-alpha")
    assert page.locator(".dot.missed").count() == 5  # 1 - n/12 < 0.5 from the seventh case on
    assert page.locator(".dot-chart .threshold").count() == 1
    page.locator(".dots [data-stop]", has=page.locator(".missed")).first.dispatch_event("click")
    page.locator("#panel-title", has_text="case-11").wait_for()


def test_a_metric_is_compared_with_another(visit, varied):
    page = visit(varied, "#eye=generation/quality/quality/m-alpha")
    page.locator(".dots select").select_option(label="Groundedness: Facet 3")
    assert page.locator(".dots .dot").count() == CASES
    assert page.locator(".dot-chart .threshold").count() == 2
    assert "Facet 3" in page.locator(".dots [data-stop] title").first.text_content()


def test_from_500_cases_on_dots_are_bins_whose_cases_are_listed(visit, built):
    page = visit(built(many_rows(600)), "#eye=generation/quality/score/m-one")
    assert page.locator(".dots .dot").count() == 0
    sizes = [
        int(name.split(": ")[1].split(" ")[0])
        for name in page.locator(".dots [data-stop] > title").all_text_contents()
    ]
    assert sum(sizes) == 600
    page.locator(".dots [data-stop]").first.dispatch_event("click")
    assert page.locator(".bin-list button").count() == min(100, sizes[0])
    page.locator(".bin-list button").first.click()
    page.locator("#panel-title", has_text="case-0").wait_for()


def test_an_address_that_this_run_does_not_have_leads_as_far_as_it_can(visit, varied):
    path = varied
    assert title(visit(path, "#eye=generation/quality/nothing")) == "Answer quality"
    assert title(visit(path, "#eye=astrology/quality")) == "All domains"
    assert title(visit(path, "#eye=%E0%A4%A")) == "All domains"
