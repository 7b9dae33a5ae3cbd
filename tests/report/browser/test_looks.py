"""Dark mode, paper, narrow screens, no scripts, accessibility."""

from __future__ import annotations

import io
import unicodedata

import pytest
from pypdf import PdfReader

from support.report_runs import lab_run, varied_run

pytestmark = pytest.mark.browser

PLACES = [
    "",
    "#failures",
    "#matrix",
    "#explore",
    "#robustness",
    "#evidence",
    "#evaluators",
    "#run",
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
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.evaluate(axe)
    assert violations(page) == []


def violations(page):
    result = page.evaluate("axe.run()")["violations"]
    return [(entry["id"], entry["impact"], entry["nodes"][0]["html"]) for entry in result]


@pytest.mark.parametrize("place", ["", "#failures", "#matrix", "#case=suite.json%3A%3Acase-9%5Bbeta%5D"])
def test_axe_finds_nothing_on_a_phone(visit, varied, axe, place):
    page = visit(varied, place, viewport={"width": 390, "height": 800}, bypass_csp=True)
    page.evaluate(axe)
    assert violations(page) == []


@pytest.mark.parametrize("place", ["", "#failures", "#matrix", "#evidence", "#evaluators", "#case="])
def test_axe_finds_nothing_on_a_page_with_long_and_hostile_texts(visit, hostile_page, axe, place):
    where = f"{place}suite.json%3A%3Along%5Bone%5D" if place == "#case=" else place
    page = visit(hostile_page, where, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.evaluate(axe)
    assert violations(page) == []


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


def pages(pdf):
    return len(PdfReader(io.BytesIO(pdf)).pages)


def test_paper_gets_a_brief_of_two_pages_and_the_whole_on_request(visit, build_page):
    page = visit(build_page(lab_run(cases=30)))
    brief = page.pdf(format="A4")
    words = unicodedata.normalize(
        "NFKC", "".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(brief)).pages)
    )
    assert pages(brief) <= 2
    for part in (
        "FAILED",
        "Each model",
        "danube-1.8b",
        "Sign-off",
        "ROUGE: 16 of 16",
        "Further findings",
    ):
        assert part in words, part
    assert "Copy link" not in words
    page.evaluate("document.documentElement.classList.add('print-all')")
    assert pages(page.pdf(format="A4")) > 5


def test_failures_are_written_out_on_paper(visit, varied):
    page = visit(varied)
    open_count = page.locator(".failed-item[open]").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".failed-item[open]").count() == page.locator(".failed-item").count() > open_count
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".failed-item[open]").count() == open_count


@pytest.mark.parametrize("how", ["off", "forbidden"])
def test_without_scripts_the_figures_still_read(visit, build_page, how):
    path = build_page(varied_run())
    if how == "forbidden":
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace("default-src 'none'", "default-src 'none'; script-src 'none'", 1), encoding="utf-8"
        )
    page = visit(path, ready=False, quiet=False, **({"java_script_enabled": False} if how == "off" else {}))
    assert page.locator("#eye .no-js").is_visible()
    assert page.locator("#cases-root").is_hidden()
    for part in (
        "#summary .headline",
        "#summary .cause",
        "#summary #heatmap",
        "#problems .card",
        "#evaluator-1 > summary",
        "#standards table",
        "#dataset table",
    ):
        assert page.locator(part).first.is_visible(), part
    page.locator("#evaluator-1 > summary").click()
    assert page.locator("#evaluator-1 table.heat").is_visible()
    failures = page.locator("#failures").inner_text()
    for part in ("How does case", "Reason", "Answer quality", "the expected", "zebra-0-beta"):
        assert part in failures, part


def test_the_keyboard_reaches_the_content_first(visit, varied):
    page = visit(varied)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_evaluators_are_chosen_by_standard_method_and_domain(visit, varied):
    page = visit(varied, "#evaluators")
    chooser = page.get_by_role("form", name="Evaluators shown")
    chooser.get_by_label("Standard").select_option(label="SR 11-7: Ongoing monitoring")
    assert page.locator(".evaluator:visible h3").all_inner_texts() == ["Recall"]
    chooser.get_by_label("Standard").select_option(label="all")
    chooser.get_by_label("Domain").select_option(label="generation")
    assert page.locator(".evaluator:visible h3").all_inner_texts() == ["Answer quality", "Groundedness"]


@pytest.mark.parametrize("width", [1280, 1920, 2560])
def test_the_content_is_as_wide_as_the_header(visit, build_page, width):
    page = visit(build_page(lab_run(cases=10)), viewport={"width": width, "height": 900})
    tools, block = page.locator(".bar-tools"), page.locator(".verdict-block")
    right = [box["x"] + box["width"] for box in (tools.bounding_box(), block.bounding_box())]
    assert right[0] == pytest.approx(right[1], abs=2)
