"""The table of test cases and the panel of one: search, filters, keyboard, addresses."""

from __future__ import annotations

import pytest

from pytest_evalstudio.report import build
from pytest_evalstudio.report.commands import pytest_command
from pytest_evalstudio.report.data import blocks, texts
from support.records import RecordBuilder, score
from support.report_runs import CASES, many_rows

pytestmark = pytest.mark.browser


def choose(page, label, option):
    page.locator("#cases .field").filter(has=page.get_by_text(label, exact=True)).locator(
        "select"
    ).select_option(label=option)


def count(page, expected):
    page.locator("#cases [role=status]", has_text=f"{expected} row").filter(has_not_text="%").wait_for()


def keys(page):
    return [text.split(" · ")[0] for text in page.locator("tr[data-place] strong").all_text_contents()]


@pytest.mark.parametrize(
    ("label", "option", "expected"),
    [
        ("Model", "beta", CASES),
        ("Evaluator", "Recall", 3 * CASES),
        ("Domain", "privacy", 3 * CASES),
        ("Category", "even", 3 * CASES // 2),
        ("Standard", "SR 11-7: Ongoing monitoring", 3 * CASES),
        ("Method", "embeddings", 3 * CASES),
        ("Show", "only errors", 1),
        ("Show", "only failures", 3 * CASES),
    ],
)
def test_a_filter_leaves_what_it_names(visit, varied, label, option, expected):
    page = visit(varied)
    choose(page, label, option)
    count(page, expected)


def test_filters_work_together_and_are_cleared(visit, varied):
    page = visit(varied)
    choose(page, "Evaluator", "Answer quality")
    choose(page, "Show", "only failures")
    choose(page, "Model", "alpha")
    count(page, 5)
    choose(page, "Order", "lowest score first")
    assert keys(page) == ["case-11", "case-10", "case-9", "case-8", "case-7"]
    assert (
        page.evaluate("location.hash") == "#cases?model=m-alpha&evaluator=quality&show=failures&order=score"
    )
    page.get_by_role("button", name="Clear").click()
    count(page, 3 * CASES)


def test_only_flips(visit, varied):
    page = visit(varied)
    page.get_by_label("Only flips").check()
    count(page, 1)
    page.locator("tr[data-place]").click()
    panel = page.locator("#panel")
    page.locator("#panel-title").wait_for()
    assert "pass → fail" in panel.inner_text()
    panel.get_by_role("button", name="case-0").click()
    page.locator("#panel-title", has_text="case-0").wait_for()
    assert "beta" in page.locator("#panel .byline").inner_text()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("case-7", 3),
        ("opinion of 'everybody'", 36),
        ("zebra-3-alpha", 1),
        ("ZEBRA-4-", 3),
        ("chunk two", 36),
        ("quality is 0.4583", 1),
        ("nowhere", 0),
    ],
)
def test_search_looks_into_keys_questions_answers_contexts_and_reasons(visit, varied, words, expected):
    page = visit(varied)
    page.locator("#cases input[type=search]").fill(words)
    count(page, expected)


def test_an_address_shows_what_it_says(visit, varied):
    page = visit(varied, "#cases?show=failures&evaluator=quality&q=case-11")
    count(page, 3)
    assert page.locator("#cases input[type=search]").input_value() == "case-11"


def test_only_the_rows_in_sight_are_in_the_document(visit, built):
    page = visit(built(many_rows(3_000)))
    assert page.locator("table.case-table").get_attribute("aria-rowcount") == "3001"
    assert page.locator("tr[data-place]").count() < 60
    page.locator(".case-scroll").evaluate("(part) => { part.scrollTop = part.scrollHeight; }")
    page.locator("tr[data-place='2999']").wait_for()
    assert page.locator("tr[data-place]").count() < 60


def test_the_keyboard_walks_the_table(visit, built):
    page = visit(built(many_rows(300)))
    page.locator("table.case-table").focus()
    for key in ("ArrowDown", "ArrowDown", "End", "ArrowUp"):
        page.keyboard.press(key)
    assert page.locator("table.case-table").get_attribute("aria-activedescendant") == "row-298"
    page.keyboard.press("Enter")
    page.locator("#panel-title", has_text="case-298").wait_for()
    page.get_by_role("button", name="Next case").click()
    page.locator("#panel-title", has_text="case-299").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.classList.contains('case-table')")


def test_the_panel_tells_everything_of_a_case(visit, varied):
    page = visit(varied, "#case=suite.json%3A%3Acase-2%5Bbeta%5D")
    panel = page.locator("#panel")
    page.locator("#panel-title").wait_for()
    said = panel.inner_text()
    assert page.locator("#panel-title").inner_text() == "case-2"
    for part in (
        "beta",
        "How does case 2 end",
        "the expected",
        '"zebra"',
        "manual.md",
        "0.002 USD",
        "1.25 s",
        "input tokens",
        "quality is 0.4167",
        "even",
    ):
        assert part in said, part
    assert panel.locator("mark.good").text_content().startswith("The first sentence of beta.")
    assert panel.locator("mark.bad").first.get_attribute("title") == "Facet 0 0.1: not in the context"
    assert panel.locator(".chunk[open] mark.found").count() == 1
    assert panel.locator(".command code").inner_text() == "pytest 'suite.json::case-2[beta]'"
    panel.get_by_label("Colours of").select_option(label="none")
    assert panel.locator("mark").count() == 0
    panel.get_by_role("button", name="gamma").click()
    page.locator("#panel .byline", has_text="gamma").wait_for()


def test_a_case_with_its_own_threshold_is_held_against_that(visit, built):
    builder = RecordBuilder()
    verdict = {
        "status": "score",
        "passed": True,
        "scores": {"score": 0.3},
        "missed": [],
        "thresholds": {"score": 0.25},
    }
    builder.add("easy", "one", {"outcomes": {"quality": score(0.3)}}, verdicts={"quality": verdict})
    builder.add("usual", "one", {"outcomes": {"quality": score(0.3)}})
    page = visit(built(builder), "#case=suite.json%3A%3Aeasy%5Bone%5D")
    assert "0.3 ✓ meets the threshold ≥ 0.25" in " ".join(page.locator(".figure-line").text_content().split())
    page.locator("#panel .close").click()
    page.locator("tr[data-place]").nth(1).click()
    assert "0.3 ✗ misses the threshold ≥ 0.5" in " ".join(page.locator(".figure-line").text_content().split())


def test_repeats_are_shown_one_by_one(visit, built):
    builder = RecordBuilder()
    rows = [{"actual_output": text, "outcomes": {"quality": score(0.9)}} for text in ("once", "twice")]
    builder.add("a", "one", *rows)
    page = visit(built(builder), "#case=suite.json%3A%3Aa%5Bone%5D")
    page.get_by_label("Repeat").select_option(label="2 of 2")
    assert page.locator("#panel .text", has_text="twice").count() == 1


@pytest.mark.parametrize("key", ["it's", "a b$(date)`x`", 'quo"te', "back\\slash", "plain"])
def test_the_command_is_the_one_that_python_writes(visit, built, key):
    builder = RecordBuilder()
    builder.add(key, "one", {"outcomes": {"quality": score(0.1)}})
    page = visit(built(builder))
    page.locator("tr[data-place]").click()
    command = pytest_command(f"suite.json::{key}[one]")
    assert page.locator("#panel .command code").inner_text() == command
    assert page.locator(".failure .command code").text_content() == command


def test_a_key_that_a_shell_cannot_be_trusted_with_has_no_command(visit, built):
    builder = RecordBuilder()
    builder.add("a\nrm -rf x", "one", {"outcomes": {"quality": score(0.1)}})
    page = visit(built(builder))
    page.locator("tr[data-place]").click()
    page.locator("#panel-title").wait_for()
    assert page.locator("button[data-copy]").count() == 0


def test_a_command_is_copied(visit, varied):
    page = visit(varied, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".failure summary").first.click()
    page.locator(".failure .copy").first.click()
    page.locator(".failure .copy", has_text="Copied").wait_for()
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == page.locator(".failure .command code").first.text_content()
    )


def test_texts_beyond_the_budget_are_said_to_be_in_the_files(visit, built, monkeypatch):
    monkeypatch.setattr(texts, "BLOCK_CHARS", 500)
    monkeypatch.setattr(build, "TextStore", lambda: texts.TextStore(budget=4_000))
    builder = many_rows(400)
    page = visit(built(builder), "#case=suite.json%3A%3Acase-0%5Bone%5D")
    assert "needle-0" in page.locator("#panel").inner_text()  # a failure
    page.keyboard.press("Escape")
    choose(page, "Show", "passed")
    page.locator(".case-scroll").evaluate("(part) => { part.scrollTop = part.scrollHeight; }")
    page.locator("tr[data-place]", has_text="case-399").click()
    page.locator("#panel .notice", has_text="in the results files only").wait_for()


def test_rows_beyond_the_limit_are_said_to_be_in_the_files(visit, built, monkeypatch):
    monkeypatch.setattr(blocks.PageData.__init__, "__defaults__", (50,))
    page = visit(built(many_rows(200)))
    count(page, 50)
    assert (
        "150 more passing rows are only in the files: the page lists 50"
        in page.locator("#cases-root").inner_text()
    )
    choose(page, "Show", "only failures")
    count(page, 40)
