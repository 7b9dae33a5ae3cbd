"""Pictures of the report's main states, to be looked at: python tests/report/screenshots.py RECORD OUT.

RECORD is a record or the folder of a report; OUT is made where it is missing. Needs Chromium and Playwright.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pytest_evalstudio.record.reader import record_path
from pytest_evalstudio.report.build import build_report

READY = "html.ready"
MOST_PROBLEMS = """() => {
  const count = (part) => Number(part.querySelector(".badge text")?.textContent ?? 0);
  const segments = [...document.querySelectorAll(".segment.inner")];
  segments.reduce((a, b) => (count(b) > count(a) ? b : a)).dispatchEvent(new MouseEvent("click", { bubbles: true }));
}"""  # noqa: E501


def opened(browser: Browser, address: str, *, width: int = 1360, height: int = 950, **more: Any) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce", **more)
    page.goto(address)
    page.wait_for_selector(READY)
    return page


def eye_levels(page: Page, out: Path) -> None:
    """One picture per level, always by the segment that has most problems."""
    page.locator("#eye").scroll_into_view_if_needed()
    for level in ("1-domains", "2-domain", "3-evaluator", "4-metric"):
        page.evaluate("document.getElementById('eye').scrollIntoView()")
        page.screenshot(path=out / f"eye-{level}.png")
        if level == "2-domain":
            page.hover(".centre")
            page.screenshot(path=out / "eye-2-hover.png")
            page.mouse.move(0, 0)
        page.evaluate(MOST_PROBLEMS)
        page.wait_for_timeout(150)
    page.screenshot(path=out / "eye-5-model.png")
    compare = page.locator(".dots select")
    if compare.count():
        compare.select_option(index=1)
        page.screenshot(path=out / "eye-5-compare.png")
        compare.select_option(index=0)
    missed = page.locator(".dots .missed")
    (missed if missed.count() else page.locator(".dots [data-stop]")).first.dispatch_event("click")
    if page.locator(".bin-list button").count():
        page.screenshot(path=out / "eye-5-bin.png")
        page.locator(".bin-list button").first.click()
    page.wait_for_selector("#panel:not([hidden])")
    page.wait_for_timeout(300)
    page.screenshot(path=out / "panel.png")
    page.keyboard.press("Escape")


def cases(page: Page, out: Path) -> None:
    page.evaluate("document.getElementById('cases').scrollIntoView()")
    page.screenshot(path=out / "cases.png")
    page.locator("#cases .field", has_text="Show").locator("select").select_option("failures")
    page.wait_for_timeout(200)
    page.screenshot(path=out / "cases-failures.png")


def main(record: str, out: str) -> None:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        address = build_report(record_path(record), Path(name)).page.as_uri()
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = opened(browser, address)
        page.screenshot(path=folder / "top.png")
        eye_levels(page, folder)
        cases(page, folder)
        for section in page.locator("main > section, article.evaluator").all():
            name = section.get_attribute("id")
            page.evaluate("(id) => document.getElementById(id).scrollIntoView()", name)
            page.screenshot(path=folder / f"section-{name}.png")
        for scheme, width in (("dark", 1360), ("light", 390)):
            other = opened(browser, address, width=width, color_scheme=scheme)
            other.screenshot(path=folder / f"{scheme}-{width}-top.png")
            for part in ("eye", "evaluator-1", "cases"):
                other.evaluate(f"document.getElementById('{part}').scrollIntoView()")
                other.screenshot(path=folder / f"{scheme}-{width}-{part}.png")
            other.locator("tr[data-place]").first.click()
            other.wait_for_selector("#panel:not([hidden])")
            other.screenshot(path=folder / f"{scheme}-{width}-panel.png")
        still = browser.new_page(viewport={"width": 1360, "height": 950}, java_script_enabled=False)
        still.goto(address)
        still.screenshot(path=folder / "no-scripts.png")
        page.pdf(path=folder / "print.pdf", format="A4")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
