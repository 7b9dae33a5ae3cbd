"""Three readers: a developer whose CI failed, a validator of a bank, a manager with one look."""

from __future__ import annotations

import re

import pytest

from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder, boolean_evaluator, evaluator, score
from support.report_runs import LAB_CASES, LAB_MODELS, lab_run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The page of 16 models and 150 questions; not to be written to."""
    folder = tmp_path_factory.mktemp("lab")
    return build_report(lab_run().write(folder), folder / "report", {}).page


def failed_run():
    builder = RecordBuilder(
        boolean_evaluator(name="Text matching"), name="Northfold Bank", commit="abc1234def"
    )
    for number in range(30):
        wrong = number == 17
        outcome = {"status": "score", "scores": {"model_passes": 0.0 if wrong else 1.0}}
        row = {
            "input": "What does a banker's draft cost?" if wrong else f"Question {number}?",
            "expected_output": "A banker's draft costs £15.00.",
            "actual_output": "A banker's draft costs £20.00." if wrong else "A banker's draft costs £15.00.",
            "output_condition": '"£15.00"',
            "outcomes": {"text_matching": outcome},
        }
        builder.add(f"case-{number}", "one", row)
    return builder


def in_first_screen(page, selector):
    box = page.locator(selector).first.bounding_box()
    assert box is not None, selector
    return box["y"] >= 0 and box["y"] + box["height"] <= 900


def test_a_developer_reads_what_broke_and_why_without_a_click(visit, build_page):
    page = visit(build_page(failed_run()))
    assert page.title() == "✗ 1 failed – Northfold Bank"
    assert page.locator(".headline").inner_text() == "✗ FAILED – 1 of 30 tests"
    first = page.locator(".cause")
    assert in_first_screen(page, ".cause")
    for part in ("Text matching", "What does a banker's draft cost?", "A banker's draft costs £20.00."):
        assert part in first.inner_text(), part
    assert first.locator("del").all_text_contents() == ["15.00"]
    assert first.locator("ins").all_text_contents() == ["20.00"]
    assert first.locator(".term.unmet").inner_text().endswith('"£15.00"')
    first.get_by_role("link", name="Open").click()
    page.locator("#panel-title", has_text="banker's draft").wait_for()
    page.go_back()
    page.locator("#panel").wait_for(state="hidden")
    assert first.is_visible()


def test_a_validator_reaches_conclusion_and_evidence_in_one_click(visit, lab):
    page = visit(lab)
    page.get_by_role("link", name="Evidence").click()
    assert page.evaluate("location.hash") == "#evidence"
    words = page.locator("#evidence").inner_text()
    for part in (
        "danube-1.8b",
        "misses conditions",
        "PII leakage",
        "Thresholds in force",
        "Set by",
        "Limitations",
        "Sign-off",
        "Not scored on any answer: Fact check (agent).",
    ):
        assert part in words, part
    assert page.locator("#standards").is_visible()


def test_a_manager_sees_all_models_and_the_risks_at_one_look(visit, lab):
    page = visit(lab)
    assert in_first_screen(page, ".verdict-block")
    assert in_first_screen(page, ".heat-scroll")
    assert in_first_screen(page, ".causes")
    assert page.locator("#glance-eye-root svg").is_visible()
    frame = page.locator(".heat-scroll").bounding_box()
    rows = page.locator("#heatmap tbody tr")
    assert rows.count() == len(LAB_MODELS)
    last = rows.last.bounding_box()
    assert last["y"] + last["height"] <= frame["y"] + frame["height"]
    assert page.locator(".fact", has_text="No model meets its conditions.").count() == 1
    assert page.locator(".fact", has_text="Best").count() == 0


def test_the_first_screen_keeps_its_places_while_the_eye_is_drawn(visit, varied):
    page = visit(varied)
    assert page.locator("#glance-eye-root svg").count() == 1
    place = "(({x, y}) => [x, y])(document.querySelector('.glance-heat').getBoundingClientRect())"
    position = page.evaluate(place)

    page.evaluate("document.querySelector('#glance-eye-root').replaceChildren()")

    assert page.evaluate(place) == position


CLIPPED = """(root) => [...root.querySelectorAll('td, text, .item-value')]
  .filter((part) => /\\d/.test(part.textContent) && part.clientWidth > 0)
  .filter((part) => part.scrollWidth > part.clientWidth + 1)
  .filter((part) => getComputedStyle(part).overflow !== 'visible')
  .map((part) => part.textContent)"""


def test_with_16_models_no_number_is_clipped_and_no_two_labels_are_equal(visit, lab):
    page = visit(lab)
    labels = page.locator("#heatmap tbody th bdi").all_text_contents()
    assert len(set(labels)) == len(LAB_MODELS)
    assert page.locator("main").evaluate(CLIPPED) == []
    page.get_by_role("link", name="Matrix").click()
    page.locator("#cases [role=status]", has_text=f"{LAB_CASES} cases").wait_for()
    heads = page.locator(".case-table .model-cell bdi").all_text_contents()
    assert len(set(heads)) == len(LAB_MODELS)
    assert heads.index("h2ogpt-gm-7b-2") < heads.index("h2ogpt-gm-7b-10")
    assert page.locator("main").evaluate(CLIPPED) == []
    page.evaluate("() => { location.hash = '#eye=generation'; }")
    page.locator(".plot").first.wait_for()
    assert page.locator("main").evaluate(CLIPPED) == []


def test_the_heatmap_is_sorted_by_a_column_and_a_cell_opens_its_cases(visit, lab):
    page = visit(lab)
    page.get_by_role("button", name="Context recall ≥").click()
    values = [
        float(cell)
        for cell in page.locator("#heatmap tbody tr td:nth-child(10)").evaluate_all(
            "(cells) => cells.map((cell) => cell.dataset.value)"
        )
    ]
    assert values == sorted(values, reverse=True)
    page.locator("#heatmap tbody tr").first.locator("td a").nth(1).click()
    page.locator("#cases .chip", has_text="evaluator: PII leakage").wait_for()
    page.go_back()
    assert page.locator("#heatmap").is_visible()


def test_back_goes_through_the_tabs(visit, lab):
    page = visit(lab)
    for name in ("Failures", "Evidence"):
        page.locator("[data-tab-link]", has_text=name).click()
    page.go_back()
    assert page.locator("#failures").is_visible()
    page.go_back()
    assert page.locator("#summary").is_visible()
    assert page.locator("[aria-current=page]").inner_text() == "Overview"


def test_flips_show_the_changed_words_and_both_answers(visit, lab):
    page = visit(lab, "#robustness")
    flip = page.locator(".flip").first
    flip.wait_for()
    assert "pass → fail" in flip.inner_text()
    assert flip.locator("del").count() > 0
    assert flip.locator("ins").count() > 0


def test_every_count_of_answers_opens_exactly_these_answers(visit, lab):
    page = visit(lab)
    links = page.locator("#problems a[href*='matrix?']")
    counts = {
        link.get_attribute("href"): int(re.sub(r"\D", "", link.inner_text().split(" answer")[0]))
        for link in links.all()
    }
    assert len(counts) >= 5
    for address, count in counts.items():
        page.evaluate("(hash) => { location.hash = hash }", address)
        text = rf", {count:,} answers? of"
        status = page.locator("#matrix .matrix-line [role=status]")
        status.filter(has_text=re.compile(text)).wait_for()


def test_a_part_of_the_eye_with_unscored_evaluators_is_not_gold(visit, build_page):
    builder = RecordBuilder(boolean_evaluator(), evaluator("agent"))
    row = {"outcomes": {"text_matching": score(1.0, "model_passes"), "agent": {"status": "not_applicable"}}}
    builder.add("k", "one", row)
    page = visit(build_page(builder), "#explore")
    segments = page.locator("#explore .segment.inner")
    assert segments.count() == 1
    assert "gaps" in segments.first.get_attribute("class")


def test_the_eye_is_not_all_gold_over_a_failure(visit, build_page):
    page = visit(build_page(failed_run()), "#explore")
    assert page.locator("#explore .segment.partial").count() == 2
    assert page.locator("#explore .segment.meets").count() == 0
    assert "1 of 30 answers misses the threshold" in page.locator("#explore .eye-list").inner_text()
