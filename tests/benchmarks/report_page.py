"""How a browser bears the page of a large run: python tests/benchmarks/report_page.py [CASES] [MODELS]
[EVALUATORS] [STEPS].

Prints the page's weight, the time until it is ready as a multiple of that of a page with 100 rows, and the
longest task of the page's main thread while it opens, scrolls, filters, searches and opens a case. Needs
Chromium and Playwright.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pytest_evalstudio.report.build import build_report
from tests.benchmarks.report_build import synthetic_record

ROUNDS = 5
SMALL = 100
WATCH = """
window.tasks = [];
const note = (list) => list.getEntries().forEach((task) => window.tasks.push(task.duration));
new PerformanceObserver(note).observe({ type: "longtask", buffered: true });
new MutationObserver(() => {
  if (document.documentElement.classList.contains("ready") && !window.readyAt) window.readyAt = performance.now();
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["class"] });
"""  # noqa: E501


def open_page(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_selector("html.ready", state="attached")
    return page


def seconds_to_ready(browser: Browser, address: str) -> float:
    """Median of some openings, in a fresh page each."""
    times = []
    for _ in range(ROUNDS):
        page = open_page(browser, address)
        times.append(page.evaluate("window.readyAt") / 1000)
        page.close()
    return statistics.median(times)


def longest_task(page: Page) -> float:
    """Milliseconds, 0 where none took 50 or more; the count starts again."""
    page.wait_for_timeout(300)
    return float(page.evaluate("Math.max(0, ...window.tasks.splice(0))"))


def tasks(browser: Browser, address: str) -> dict[str, float]:
    """The longest task of each thing that people do."""
    page = open_page(browser, address)
    results = {"open": longest_task(page)}
    page.locator("[data-tab-link=matrix]").click()
    page.wait_for_selector("tr[data-place]")
    results["matrix"] = longest_task(page)
    for place in range(12):
        page.locator(".case-scroll").evaluate(
            "(part, share) => { part.scrollTop = share * part.scrollHeight; }", place / 11
        )
        page.wait_for_timeout(40)
    results["scroll"] = longest_task(page)
    for label, value in (("Verdict", "failures"), ("Sort", "score"), ("Verdict", "")):
        page.locator("#cases .field", has_text=label).locator("select").first.select_option(value)
        page.wait_for_timeout(100)
    results["filter"] = longest_task(page)
    page.locator("#cases input[type=search]").fill("pensioners who hold")
    page.wait_for_timeout(500)
    page.locator("#cases [role=status]", has_not_text="%").wait_for(timeout=120_000)
    results["search"] = longest_task(page)
    page.locator("tr[data-place]").first.click()
    page.wait_for_selector("#panel:not([hidden])")
    results["case"] = longest_task(page)
    return results


def main(cases: int = 10_000, models: int = 4, evaluators: int = 1, steps: int = 0) -> None:
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        pages = {}
        for items in (SMALL, cases * models):
            folder = Path(name) / str(items)
            folder.mkdir()
            record = synthetic_record(folder, items, evaluators, models=models, steps=steps)
            pages[items] = build_report(record, folder / "report", {}).page
        small, large = (seconds_to_ready(browser, path.as_uri()) for path in pages.values())
        print(f"page of {SMALL} rows: {pages[SMALL].stat().st_size / 1e6:.2f} MB, ready in {small:.2f} s")
        page = pages[cases * models]
        print(
            f"page of {cases * models} rows: {page.stat().st_size / 1e6:.2f} MB, ready in {large:.2f} s,"
            f" {large / small:.2f} x"
        )
        print(
            "longest task, ms: "
            + ", ".join(f"{what} {duration:.0f}" for what, duration in tasks(browser, page.as_uri()).items())
        )
        browser.close()


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
