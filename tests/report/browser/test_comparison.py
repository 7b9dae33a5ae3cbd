"""The comparison with the baseline: what changed in an answer is read without a click."""

from __future__ import annotations

import re

import pytest

from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.history import history_of
from pytest_evalstudio.analysis.comparison.sides import read_side
from pytest_evalstudio.report.build import build_report
from support.compared_runs import long_run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def comparison_page(tmp_path_factory):
    """The page of a run with long answers and of its baseline; not to be written to."""
    folder = tmp_path_factory.mktemp("compared")
    base, new = long_run(base=True), long_run(base=False)
    comparison = compare(read_side(base.run, base.typed_items), read_side(new.run, new.typed_items))
    return build_report(new.write(folder), folder / "report", {}, comparison=comparison).page


def test_each_regressed_row_shows_its_change_between_marks_of_what_is_left_out(visit, comparison_page):
    page = visit(comparison_page, "#compare")
    rows = page.locator("#comparison .change")
    assert rows.count() == 6
    for row in rows.all():
        window = row.locator(".windows")
        assert len(window.inner_text()) < 500
        assert re.fullmatch(r"\d\d\.00", window.locator("del").inner_text())
        assert re.fullmatch(r"\d\d\.00", window.locator("ins").inner_text())
        assert all(
            re.fullmatch(r"\s*… \d+ words unchanged …\s*", text)
            for text in window.locator(".gap").all_inner_texts()
        )
        assert row.inner_text().startswith("What does a ")
        assert "1f2e3d4c-" not in row.inner_text()


def test_the_reason_of_every_regression_is_one_click_from_the_first_screen(visit, comparison_page):
    page = visit(comparison_page)
    page.locator("nav.tabs a", has_text="Compare").click()
    rows = page.locator("#comparison .change")
    assert rows.count() == 6
    assert all(row.is_visible() and "lacks " in row.inner_text() for row in rows.all())


def test_the_whole_answers_are_one_click_away(visit, comparison_page):
    page = visit(comparison_page, "#compare")
    row = page.locator("#comparison .change").first
    row.locator("summary", has_text="Both answers in full").click()
    base, new = row.locator(".both .text").all_inner_texts()
    assert min(len(base), len(new)) > 1_800
    assert base.replace("£15.00", "£22.00") == new


def test_still_failing_items_are_lines_below_the_regressed_ones(visit, comparison_page):
    page = visit(comparison_page, "#compare")
    lists = page.locator("#comparison .change-list")
    assert [text.split("\n")[0] for text in lists.locator("summary").all_inner_texts()] == [
        "Still failing 9",
        "Fixed 6",
    ]
    last = page.locator("#comparison .change").last.bounding_box()
    assert lists.first.bounding_box()["y"] >= last["y"] + last["height"]
    lists.first.locator("summary").click()
    assert all("\n" not in line for line in lists.first.locator("li").all_inner_texts())


def test_only_regressed_failures_are_unfolded(visit, comparison_page):
    page = visit(comparison_page, "#failures")
    for item in page.locator("#failures .failed-item").all():
        is_regressed = item.locator("summary .regressed").count() == 1
        assert (item.get_attribute("open") is not None) == is_regressed
        assert is_regressed or "still failing" in item.locator("summary").inner_text()


def test_the_first_screen_shows_the_change_of_the_first_regressed_answer(visit, comparison_page):
    first = visit(comparison_page).locator(".cause").first
    assert first.locator("del", has_text="15.00").last.is_visible()
    assert first.locator("ins", has_text="22.00").is_visible()


def test_the_first_screen_of_a_phone_shows_the_change_too(visit, comparison_page):
    page = visit(comparison_page, viewport={"width": 390, "height": 844})
    clip = page.locator(".cause .clip", has=page.locator("ins", has_text="22.00")).bounding_box()
    for change in page.locator(".cause .long-clip").locator("del, ins").all():
        box = change.bounding_box()
        assert box["y"] + box["height"] <= clip["y"] + clip["height"]


def test_a_regressed_failure_shows_its_change_and_folds_the_whole_answer(visit, comparison_page):
    item = visit(comparison_page, "#failures").locator("#failures .failed-item[open]").first
    assert item.locator(".windows ins", has_text="22.00").is_visible()
    full_text = item.locator(".whole .text")
    assert full_text.is_hidden()
    item.locator(".whole summary").click()
    assert full_text.is_visible()


def test_one_click_leads_to_the_reason_of_each_regression_of_18_models(visit, tmp_path):
    models = tuple(f"model-{number}" for number in range(18))
    base, new = long_run(models, base=True), long_run(models, base=False)
    comparison = compare(*(read_side(run.run, run.typed_items) for run in (base, new)))
    path = build_report(new.write(tmp_path), tmp_path / "report", {}, comparison=comparison).page
    page = visit(path)
    page.get_by_role("link", name="Compare").click()
    changes = page.locator("#comparison .change")
    assert changes.count() == 54
    assert all(change.locator(".windows ins").first.is_visible() for change in changes.all())

    page = visit(path)
    page.locator(".cause").first.get_by_role("link", name="Show all").click()
    regressed = page.locator("#failures .failed-item", has=page.locator("summary .regressed"))
    assert regressed.count() > 10
    assert all(item.get_by_text("not met:").first.is_visible() for item in regressed.all())


def test_the_comparison_comes_before_the_history_and_axe_finds_nothing_on_a_phone(visit, tmp_path, axe):
    base, new = long_run(base=True), long_run(base=False)
    sides = [read_side(run.run, run.typed_items) for run in (base, new)]
    report = build_report(
        new.write(tmp_path), tmp_path / "report", {}, comparison=compare(*sides), history=history_of(sides)
    )
    page = visit(report.page, "#compare")
    assert page.locator(".change").first.bounding_box()["y"] < 900
    assert page.locator("#history").bounding_box()["y"] > page.locator(".change").last.bounding_box()["y"]
    phone = visit(report.page, "#compare", viewport={"width": 390, "height": 844})
    phone.evaluate(axe)
    assert phone.evaluate("axe.run()")["violations"] == []


def test_the_printed_brief_cuts_no_text(visit, comparison_page):
    page = visit(comparison_page)
    page.emulate_media(media="print")
    overflows = page.locator("#overview").evaluate(
        """(root) => [...root.querySelectorAll('h3, p, dd')]
          .filter((part) => part.scrollHeight > part.clientHeight + 1 && part.clientHeight > 0)
          .filter((part) => getComputedStyle(part).overflow !== 'visible').map((part) => part.textContent)"""
    )
    assert overflows == []


def test_the_matrix_shortens_keys_that_are_uuids(visit, comparison_page):
    page = visit(comparison_page, "#matrix")
    key = page.locator("#matrix .case-cell .key span[title]").first
    assert (key.inner_text(), key.get_attribute("title")) == (
        "1f2e3d4c",
        "1f2e3d4c-0000-0000-0000-000000000000",
    )
