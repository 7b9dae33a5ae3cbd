"""Texts that would like to be markup, scripts, requests: nothing runs, nothing is asked for, nothing is
hidden.
"""

from __future__ import annotations

import pytest

from pytest_evalstudio.text.unicode import valid_text
from support.records import RecordBuilder, evaluator, metric, score
from tests.report.test_page import hostile_run

pytestmark = pytest.mark.browser

ATTACKS = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=http://evil.example/x onerror=alert(3)>",
    "<svg/onload=alert(4)><animate onbegin=alert(5) attributeName=x dur=1s>",
    "![tracking](http://evil.example/pixel.png) [click](javascript:alert(6))",
    "javascript:alert(7)",
    "\u202egnp.exe \u2066hidden\u2069",
    "<iframe srcdoc='<script>alert(8)</script>'>",
    "</textarea></title></style><style>@import 'http://evil.example/x.css';</style>",
    "{{constructor.constructor('alert(9)')()}}",
    "__proto__",
    "constructor",
    "half \ud83d a pair \x00 nul",
]


def attacked_run() -> RecordBuilder:
    builder = hostile_run()
    for text in ATTACKS:
        fragments = [
            {"part": "answer", "start": 0, "end": len(text), "scores": {"score": 0.1}, "message": text}
        ]
        row = {
            "input": text,
            "actual_output": text,
            "expected_output": text,
            "context": [text],
            "context_sources": [text],
            "categories": [text],
        }
        builder.add(
            text,
            "one",
            {**row, "outcomes": {"quality": score(0.1, reason=text, fragments=fragments)}},
            reason=text,
        )
    builder.add("long", "one", {"actual_output": "<b>" * 350_000, "outcomes": {"quality": score(0.1)}})
    return builder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_full_of_attacks_stays_still(visit, hostile_page, scheme, width):
    page = visit(hostile_page, viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    for link in page.locator("[data-tab-link]").all():
        link.dispatch_event("click")
    page.evaluate("() => { location.hash = '#matrix'; }")
    page.locator("tr[data-place]").first.wait_for()
    for row in range(page.locator("tr[data-place]").count()):
        page.locator("tr[data-place]").nth(row).dispatch_event("click")
        page.locator("#panel-title").wait_for()
        page.locator("#panel .close").click()
        page.locator("#panel").wait_for(state="hidden")
    page.locator("#cases input[type=search]").fill("<img src")
    page.locator("#cases [role=status]", has_text="of 16").wait_for()
    page.evaluate("() => { location.hash = '#explore'; }")
    for _ in range(4):
        page.locator("#eye-root .segment.inner").first.dispatch_event("click")
    page.locator(".dots [data-stop]").first.wait_for()
    assert (
        page.locator("img, iframe, object, embed, link, form[action], base, style:not(head > style)").count()
        == 0
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("getComputedStyle(document.querySelector('.bar')).borderBottomStyle") == "solid"


def test_what_is_said_is_shown_to_the_letter(visit, hostile_page):
    page = visit(hostile_page, "#matrix")
    for place, text in enumerate(ATTACKS[:5]):
        page.locator("tr[data-place]").nth(2 + place).click()
        page.locator("#panel-title").get_by_text(text, exact=True).wait_for()
        assert page.locator("#panel .answer-column .text").first.text_content() == text
        page.keyboard.press("Escape")
        page.locator("#panel").wait_for(state="hidden")


@pytest.mark.parametrize("text", ATTACKS)
def test_every_case_has_an_address(visit, hostile_page, text):
    page = visit(hostile_page, "#matrix")
    row = page.locator("tr[data-place]").nth(2 + ATTACKS.index(text))
    row.click()
    page.locator("#panel-title").wait_for()
    place = page.evaluate("location.hash")
    page.locator("#panel .close").click()
    page.locator("#panel").wait_for(state="hidden")
    page.evaluate("(place) => { location.hash = place; }", place)
    page.locator("#panel-title").wait_for()
    assert page.locator("#panel .panel-head .key bdi").first.text_content() == valid_text(text)


def test_an_answer_of_a_megabyte_is_cut_and_the_panel_says_so(visit, hostile_page):
    page = visit(hostile_page, "#case=suite.json%3A%3Along%5Bone%5D")
    page.locator("#panel", has_text="1,030,000 more characters").wait_for()


def test_a_clock_that_is_told_wrongly_does_not_matter(visit, build_page):
    builder = RecordBuilder(evaluator("quality", metric()), created="<b>", finished="now")
    builder.add("a", "one", {"outcomes": {"quality": score(0.1)}})
    assert "<b>" in visit(build_page(builder)).locator(".byline").first.inner_text()
