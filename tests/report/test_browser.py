"""The page in Chromium: nothing is requested, nothing pops up, nothing complains."""

from __future__ import annotations

import shutil

import pytest

from pytest_evalstudio.report.build import build_report
from tests.report.test_page import hostile_run

pytestmark = pytest.mark.browser


@pytest.fixture
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on the path")
    with playwright.sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_full_of_attacks_stays_still(browser, tmp_path, scheme, width):
    report = build_report(hostile_run().write(tmp_path), tmp_path, {})
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    requests, dialogs, complaints = [], [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.page.as_uri())
    for summary in page.locator("summary").all():
        summary.click()
    page.wait_for_timeout(100)
    assert requests == [report.page.as_uri()]
    assert dialogs == []
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("getComputedStyle(document.querySelector('.masthead')).borderBottomStyle") == "solid"


def test_the_keyboard_reaches_the_content_first(browser, tmp_path):
    report = build_report(hostile_run().write(tmp_path), tmp_path, {})
    page = browser.new_page()
    page.goto(report.page.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
