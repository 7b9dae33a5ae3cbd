"""Dark mode, paper, narrow screens, no scripts, accessibility."""

from __future__ import annotations

import pytest

from support.report_runs import varied_run

pytestmark = pytest.mark.browser

PLACES = [
    "",
    "#eye=generation",
    "#eye=generation/groundedness",
    "#eye=generation/quality/quality",
    "#eye=generation/quality/quality/m-beta",
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", [*PLACES, "#case=suite.json%3A%3Acase-9%5Bbeta%5D"])
def test_axe_finds_nothing(visit, varied, axe, scheme, place):
    page = visit(varied, place, color_scheme=scheme, bypass_csp=True)
    if place.startswith("#case"):
        page.locator("#panel-title").wait_for()
    page.evaluate(
        "document.querySelectorAll('#evaluator-1 details, .passing').forEach((part) => { part.open = true; })"
    )
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [(entry["id"], entry["impact"], entry["nodes"][0]["html"]) for entry in found] == []


def test_axe_finds_nothing_on_a_phone(visit, varied, axe):
    page = visit(varied, viewport={"width": 390, "height": 800}, bypass_csp=True)
    page.evaluate(axe)
    assert page.evaluate("axe.run()")["violations"] == []


@pytest.mark.parametrize("place", [*PLACES, "#case=suite.json%3A%3Acase-9%5Bbeta%5D"])
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_screen(visit, varied, place, width):
    page = visit(varied, place, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_mode_follows_the_system(visit, varied):
    path = varied
    look = "getComputedStyle(document.documentElement).backgroundColor"
    light, dark = (visit(path, color_scheme=scheme).evaluate(look) for scheme in ("light", "dark"))
    assert light == "rgb(251, 251, 248)"
    assert dark == "rgb(20, 24, 29)"


def test_paper_gets_the_failures_and_no_controls(visit, varied):
    page = visit(varied)
    assert page.locator(".failure[open]").count() == 0
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".failure[open]").count() == page.locator(".failure").count() > 0
    assert page.locator("#cases").is_hidden()
    assert page.locator(".contents").is_hidden()
    assert page.locator(".eye-rings").is_visible()
    assert len(page.pdf(format="A4")) > 10_000
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".failure[open]").count() == 0


@pytest.mark.parametrize("how", ["off", "forbidden"])
def test_without_scripts_the_figures_still_read(visit, built, how):
    path = built(varied_run())
    if how == "forbidden":
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace("default-src 'none'", "default-src 'none'; script-src 'none'", 1), encoding="utf-8"
        )
    page = visit(path, ready=False, quiet=False, **({"java_script_enabled": False} if how == "off" else {}))
    assert page.locator("#eye .no-js").is_visible()
    assert page.locator("#cases-root").is_hidden()
    for part in (
        "#summary .semaphore",
        "#summary table",
        "#problems .card",
        "#evaluator-1 table.heat",
        "#standards table",
        "#dataset table",
    ):
        assert page.locator(part).first.is_visible(), part
    page.locator(".failure summary").first.click()
    assert "How does case" in page.locator(".failure[open]").inner_text()


def test_the_keyboard_reaches_the_content_first(visit, varied):
    page = visit(varied)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_evaluators_are_chosen_by_standard_method_and_domain(visit, varied):
    page = visit(varied)
    chooser = page.get_by_role("form", name="Evaluators shown")
    chooser.get_by_label("Standard").select_option(label="SR 11-7: Ongoing monitoring")
    assert page.locator("article.evaluator:visible h3").all_inner_texts() == ["Recall"]
    assert page.locator(".contents ul ul li:visible").all_inner_texts() == ["Recall"]
    chooser.get_by_label("Standard").select_option(label="all")
    chooser.get_by_label("Domain").select_option(label="generation")
    assert page.locator("article.evaluator:visible h3").all_inner_texts() == [
        "Answer quality",
        "Groundedness",
    ]
