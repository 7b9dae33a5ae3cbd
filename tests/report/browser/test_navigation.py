"""Places of the page: each opens at its beginning, and leads back to where one came from."""

from __future__ import annotations

import pytest

from support.records import RecordBuilder, boolean_evaluator, evaluator, metric, score

pytestmark = pytest.mark.browser


def two_models():
    """Return a run in which the second model fails each case, and no answer is expected."""
    builder = RecordBuilder(boolean_evaluator(name="Text matching"), models=("first", "second"))
    for number in range(3):
        for name, value in (("first", 1.0), ("second", 0.0)):
            row = {
                "actual_output": f"It costs £{5 if value else 7}.00.",
                "expected_output": "",
                "outcomes": {"text_matching": score(value, "model_passes")},
            }
            builder.add(f"k{number}", name, row)
    return builder


def test_failed_by_counts_the_evaluators_of_all_models(visit, build_page):
    page = visit(build_page(two_models()), "#matrix")
    assert page.locator("#matrix .rest-cell .line").first.inner_text() == "Text matching 1"


def test_the_run_tab_opens_at_its_models(visit, build_page):
    page = visit(build_page(two_models()))
    page.locator("[data-tab-link=run]").click()
    page.locator("#models").wait_for()
    assert page.evaluate("scrollY") == 0
    direct = visit(build_page(two_models()), "#run", viewport={"width": 1280, "height": 300})
    assert direct.evaluate("scrollY") == 0
    assert direct.locator("#models-title").is_visible()


@pytest.mark.parametrize("place", ["#failures", "#overview"])
def test_escape_in_a_case_returns_to_where_one_came_from(visit, build_page, place):
    page = visit(build_page(two_models()), place)
    page.locator("a[href^='#case=']:visible").first.click()
    page.locator("#panel-title").wait_for()
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    assert page.evaluate("location.hash") == place


def test_the_failing_answer_is_the_one_that_is_marked(visit, build_page):
    page = visit(build_page(two_models()), "#case=suite.json%3A%3Ak0%5Bsecond%5D")
    columns = page.locator(".answer-column")
    assert [column.locator("h3").inner_text().split()[-1] for column in columns.all()] == ["second", "first"]
    assert [column.locator("ins").all_inner_texts() for column in columns.all()] == [["7.00"], []]


def test_hovering_the_centre_of_the_eye_does_not_move_it(visit, build_page):
    builder = RecordBuilder(
        evaluator("quality", *(metric(f"m{number}", primary=number == 0) for number in range(6))),
        models=("one", "two"),
    )
    for name in ("one", "two"):
        scores = {f"m{number}": 0.9 for number in range(6)}
        builder.add("k", name, {"outcomes": {"quality": {"status": "score", "scores": scores}}})
    page = visit(build_page(builder), "#eye=generation/quality")
    centre = page.locator("#eye-root .centre.back")
    middle = "(({x, y, width, height}) => [x + width / 2, y + height / 2].map(Math.round))"
    position = f"{middle}(document.querySelector('#eye-root .centre').getBoundingClientRect())"
    before = page.evaluate(position)
    centre.hover()
    page.locator(".eye-bars:visible").wait_for()
    assert page.evaluate(position) == before
    centre.click()
    page.wait_for_function("location.hash === '#eye=generation'")
