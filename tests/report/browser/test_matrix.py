"""The matrix of cases and models, and the view of one case: search, filters, keyboard, addresses."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.report import build
from pytest_evalstudio.report.commands import pytest_command
from pytest_evalstudio.report.data import blocks, texts
from support.records import RecordBuilder, score
from support.report_runs import CASES, many_rows

pytestmark = pytest.mark.browser
CASE_2 = "#case=suite.json%3A%3Acase-2%5Bbeta%5D"


def choose(page, label, option):
    page.locator("#cases .field").filter(has=page.get_by_text(label, exact=True)).locator(
        "select"
    ).select_option(label=option)


def count(page, cases, answers):
    noun = "case" if cases == 1 else "cases"
    words = "answer" if answers == 1 else "answers"
    page.locator("#cases [role=status]", has_text=f"{cases} {noun}, {answers} {words} of").filter(
        has_not_text="%"
    ).wait_for()


def keys(page):
    return page.locator("tr[data-place] .key bdi").all_text_contents()


@pytest.mark.parametrize(
    ("label", "option", "cases", "answers"),
    [
        ("Model", "beta", CASES, CASES),
        ("Evaluator", "Recall", CASES, 3 * CASES),
        ("Tag", "even", CASES // 2, 3 * CASES // 2),
        ("Verdict", "error", 1, 1),
        ("Verdict", "any failure", CASES, 3 * CASES),
    ],
)
def test_a_filter_leaves_what_it_names(visit, varied, label, option, cases, answers):
    page = visit(varied, "#matrix")
    choose(page, label, option)
    count(page, cases, answers)


def test_filters_combine_and_are_removed_one_by_one(visit, varied):
    page = visit(varied, "#matrix")
    choose(page, "Evaluator", "Answer quality")
    choose(page, "Verdict", "any failure")
    choose(page, "Model", "alpha")
    count(page, 5, 5)
    choose(page, "Sort", "lowest score first")
    assert keys(page) == ["case-11", "case-10", "case-9", "case-8", "case-7"]
    assert (
        page.evaluate("location.hash")
        == "#matrix?model=m-alpha&evaluator=quality&verdict=failures&order=score"
    )
    page.get_by_role("button", name="Remove filter model: alpha").click()
    count(page, 11, 22)
    page.get_by_role("button", name="Clear filters").click()
    count(page, CASES, 3 * CASES)


def test_back_restores_the_filters(visit, varied):
    page = visit(varied, "#matrix")
    choose(page, "Model", "alpha")
    count(page, CASES, CASES)
    page.locator("tr[data-place]").nth(3).click()
    page.locator("#panel-title").wait_for()
    page.go_back()
    page.locator("#panel").wait_for(state="hidden")
    count(page, CASES, CASES)
    page.go_back()
    count(page, CASES, 3 * CASES)
    page.go_forward()
    count(page, CASES, CASES)


def test_where_nothing_matches_the_filters_can_be_cleared(visit, varied):
    page = visit(varied, "#matrix?model=m-beta&verdict=skipped")
    page.locator("#cases .notice", has_text="Nothing matches.").wait_for()
    page.locator("#cases .notice").get_by_role("button", name="Clear filters").click()
    count(page, CASES, 3 * CASES)


def test_cases_on_which_models_disagree(visit, build_page):
    builder = RecordBuilder(models=("a", "b"))
    for key, values in (("both", (0.9, 0.9)), ("none", (0.1, 0.1)), ("one", (0.9, 0.1))):
        for name, value in zip("ab", values, strict=True):
            builder.add(key, name, {"outcomes": {"quality": score(value)}})
    page = visit(build_page(builder), "#matrix")
    page.get_by_role("button", name="Models disagree").click()
    count(page, 1, 2)
    assert keys(page) == ["one"]
    page.get_by_role("button", name="All fail").click()
    page.locator("tr[data-place] .key bdi", has_text="none").wait_for()
    assert keys(page) == ["none"]


def test_only_flips(visit, varied):
    page = visit(varied, "#matrix")
    page.get_by_role("button", name="Flips", exact=True).click()
    count(page, 1, 1)
    page.locator("tr[data-place]").click()
    page.locator("#panel-title").wait_for()
    panel = page.locator("#panel")
    assert "pass → fail" in panel.inner_text()
    panel.get_by_role("button", name="case-0").click()
    page.locator("#panel .key", has_text="case-0").wait_for()
    assert "beta" in page.locator("#panel .answer-model").first.inner_text()


@pytest.mark.parametrize(
    ("words", "cases", "answers"),
    [
        ("case-7", 1, 3),
        ("opinion of 'everybody'", 12, 36),
        ("zebra-3-alpha", 1, 1),
        ("ZEBRA-4-", 1, 3),
        ("chunk two", 12, 36),
        ("quality is 0.4583", 1, 1),
    ],
)
def test_search_looks_into_keys_questions_answers_contexts_and_reasons(visit, varied, words, cases, answers):
    page = visit(varied, "#matrix")
    page.locator("#cases input[type=search]").fill(words)
    count(page, cases, answers)


def test_an_address_shows_what_it_says(visit, varied):
    page = visit(varied, "#cases?show=failures&evaluator=quality&q=case-11")
    count(page, 1, 3)
    assert page.locator("#cases input[type=search]").input_value() == "case-11"


def test_only_the_rows_in_sight_are_in_the_document(visit, build_page):
    page = visit(build_page(many_rows(3_000)), "#matrix")
    assert page.locator("table.case-table").get_attribute("aria-rowcount") == "3001"
    assert page.locator("tr[data-place]").count() < 60
    page.locator(".case-scroll").evaluate("(part) => { part.scrollTop = part.scrollHeight; }")
    page.locator("tr[data-place='2999']").wait_for()
    assert page.locator("tr[data-place]").count() < 60


def test_the_keyboard_walks_the_table_and_the_cases(visit, build_page):
    page = visit(build_page(many_rows(300)), "#matrix")
    page.locator("table.case-table").focus()
    for key in ("ArrowDown", "j", "End", "k"):
        page.keyboard.press(key)
    assert page.locator("table.case-table").get_attribute("aria-activedescendant") == "row-298"
    page.keyboard.press("Enter")
    page.locator("#panel .key", has_text="case-298").wait_for()
    page.keyboard.press("j")
    page.locator("#panel .key", has_text="case-299").wait_for()
    page.keyboard.press("k")
    page.locator("#panel .key", has_text="case-298").wait_for()
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    page.locator("table.case-table:focus").wait_for()


def test_the_view_in_the_matrix_is_exported(visit, varied):
    page = visit(varied, "#matrix?model=m-alpha&evaluator=quality&verdict=failures")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="JSON").click()
    with open(waiting.value.path(), encoding="utf-8") as file:
        lines = json.load(file)
    assert [line["key"] for line in lines] == [f"case-{number}" for number in range(7, 12)]
    assert lines[0]["quality"] == pytest.approx(1 - 7 / 12, abs=1e-4)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV").click()
    with open(waiting.value.path(), encoding="utf-8") as file:
        assert file.readline().strip() == (
            "file,key,model,verdict,question,expected,condition,answer,reason,tags,quality,groundedness,recall,pii"
        )


def test_the_case_view_has_everything_of_a_case(visit, varied):
    page = visit(varied, CASE_2)
    panel = page.locator("#panel")
    page.locator("#panel-title").wait_for()
    assert page.locator("#panel-title").inner_text() == "How does case 2 end, in the opinion of 'everybody'?"
    for details in panel.locator("details").all():
        details.evaluate("(part) => { part.open = true; }")
    words = panel.inner_text()
    for part in (
        "case-2",
        "beta",
        "the expected",
        '"zebra"',
        "manual.md",
        "0.002 USD",
        "1.25 s",
        "Input tokens",
        "quality is 0.4167",
        "even",
        "2 evaluators passed",
    ):
        assert part in words, part
    panel.get_by_label("Highlight by").select_option(label="Groundedness")
    assert panel.locator("mark.good").first.text_content().startswith("The first sentence of beta.")
    assert panel.locator(".text mark.bad").first.get_attribute("title") == "Facet 0 0.1: not in the context"
    assert panel.locator(".chunk mark.found").count() == 1
    for details in panel.locator("details").all():
        details.evaluate("(part) => { part.open = true; }")
    assert panel.locator(".command code").inner_text() == "pytest 'suite.json::case-2[beta]'"
    panel.get_by_label("Highlight by").select_option(label="nothing")
    assert panel.locator(".text mark:not(.used)").count() == 0


def test_up_to_four_answers_stand_side_by_side_with_their_differences(visit, varied):
    page = visit(varied, CASE_2, viewport={"width": 1600, "height": 900})
    page.locator("#panel-title").wait_for()
    for name in ("alpha", "gamma"):
        page.locator("#panel .other", has_text=name).click()
    assert page.locator(".answer-column").count() == 3
    assert page.locator("#panel .pinned", has_text="the expected").count() == 1
    page.get_by_label("Highlight by").select_option(label="difference from the first answer")
    alpha = page.locator(".answer-column", has_text="alpha")
    assert alpha.locator("ins").all_text_contents() == ["alpha", "alpha"]
    page.locator("#panel .other", has_text="alpha").click()
    assert page.locator(".answer-column").count() == 2


def test_a_case_with_its_own_threshold_says_threshold_here(visit, build_page):
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
    page = visit(build_page(builder), "#case=suite.json%3A%3Aeasy%5Bone%5D")
    figure = page.locator("#panel .figure-line")
    assert "0.3 ✓ meets the threshold threshold here: ≥ 0.25" in " ".join(figure.text_content().split())
    page.locator("#panel .close").click()
    page.locator("tr[data-place]").nth(1).click()
    page.locator("#panel .key", has_text="usual").wait_for()
    assert "0.3 ✗ misses the threshold ≥ 0.5" in " ".join(figure.text_content().split())


def test_repeats_are_shown_one_by_one(visit, build_page):
    builder = RecordBuilder()
    rows = [{"actual_output": text, "outcomes": {"quality": score(0.9)}} for text in ("once", "twice")]
    builder.add("a", "one", *rows)
    page = visit(build_page(builder), "#case=suite.json%3A%3Aa%5Bone%5D")
    page.get_by_label("Repeat").select_option(label="2 of 2")
    assert page.locator("#panel .text", has_text="twice").count() == 1


@pytest.mark.parametrize("key", ["it's", "a b$(date)`x`", 'quo"te', "back\\slash", "plain"])
def test_the_command_is_the_one_that_python_writes(visit, build_page, key):
    builder = RecordBuilder()
    builder.add(key, "one", {"outcomes": {"quality": score(0.1)}})
    page = visit(build_page(builder), "#matrix")
    page.locator("tr[data-place]").click()
    command = pytest_command(f"suite.json::{key}[one]")
    assert page.locator("#panel .command code").text_content() == command
    assert page.locator("#failures .command code").text_content() == command


def test_a_key_that_a_shell_cannot_be_trusted_with_has_no_command(visit, build_page):
    builder = RecordBuilder()
    builder.add("a\nrm -rf x", "one", {"outcomes": {"quality": score(0.1)}})
    page = visit(build_page(builder), "#matrix")
    page.locator("tr[data-place]").click()
    page.locator("#panel-title").wait_for()
    assert page.locator(".command button[data-copy]").count() == 0
    assert (
        "rm -rf"
        not in page.get_by_role("button", name="Copy case")
        .get_attribute("data-copy")
        .partition("Run again")[2]
    )


def test_what_the_service_reports_is_shown_as_text(visit, build_page):
    builder = RecordBuilder()
    builder.add("a", "one", {"served_model": "<b>gpt</b>", "request_id": "req-1", "outcomes": {}})
    page = visit(build_page(builder), "#case=suite.json%3A%3Aa%5Bone%5D")
    page.locator("#panel summary", has_text="Run again").click()
    names = page.locator("#panel dl.facts dt").all_text_contents()
    values = page.locator("#panel dl.facts dd").all_text_contents()
    facts = dict(zip(names, values, strict=True))
    assert (facts["Model of the service"], facts["Id of the request"]) == ("<b>gpt</b>", "req-1")


def test_a_command_is_copied(visit, varied):
    page = visit(varied, "#failures", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#failures .copy").first.click()
    page.locator("#failures .copy", has_text="Copied").wait_for()
    command = page.locator("#failures .command code").first.text_content()
    assert page.evaluate("navigator.clipboard.readText()") == command


def test_texts_beyond_the_budget_are_said_to_be_in_the_files(visit, build_page, monkeypatch):
    monkeypatch.setattr(texts, "BLOCK_CHARS", 500)
    monkeypatch.setattr(build, "TextStore", lambda: texts.TextStore(budget=4_000))
    builder = many_rows(400)
    page = visit(build_page(builder), "#case=suite.json%3A%3Acase-0%5Bone%5D")
    page.locator("#panel .text", has_text="needle-0").wait_for()  # a failure
    page.keyboard.press("Escape")
    choose(page, "Verdict", "passed")
    page.locator(".case-scroll").evaluate("(part) => { part.scrollTop = part.scrollHeight; }")
    page.locator("tr[data-place]", has_text="case-399").click()
    page.locator("#panel .notice", has_text="in the results files only").wait_for()


def test_rows_beyond_the_limit_are_said_to_be_in_the_files(visit, build_page, monkeypatch):
    monkeypatch.setattr(blocks.PageData.__init__, "__defaults__", (50,))
    page = visit(build_page(many_rows(200)), "#matrix")
    count(page, 50, 50)
    assert (
        "150 more passing rows are only in the files: the page lists 50"
        in page.locator("#cases-root").inner_text()
    )
    choose(page, "Verdict", "any failure")
    count(page, 40, 40)
