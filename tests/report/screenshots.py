"""Pictures of the page: python tests/report/screenshots.py [RECORD OUT].

Without arguments, write the pictures of README and docs into docs/images: a lab of 16 models, light and
dark. With a record, or the folder of a report, write each tab of its page, wide and narrow, light and dark,
into OUT, to be looked at. Needs Chromium and Playwright; Pillow makes the pictures smaller.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pytest_evalstudio.record.reader import record_path
from pytest_evalstudio.report.build import build_report
from support.report_runs import lab_run

DOCS = Path(__file__).resolve().parents[2] / "docs" / "images"
SCHEMES = ("light", "dark")
WIDTHS = (1280, 390)
COLOURS = 128


def picture(browser: Browser, address: str, *, scheme: str, width: int = 1280, whole: bool = False) -> bytes:
    """Return a picture of a page, of its first screen or of all of it."""
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(address)
    page.wait_for_selector("html.ready", state="attached")
    page.wait_for_timeout(300)
    taken: bytes = page.screenshot(full_page=whole)
    page.close()
    return small(taken)


def small(png: bytes) -> bytes:
    """Return a picture with fewer colours, if Pillow is installed."""
    with contextlib.suppress(ImportError):
        from PIL import Image

        buffer = io.BytesIO()
        Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS).save(buffer, "PNG", optimize=True)
        return min(png, buffer.getvalue(), key=len)
    return png


def write_for_docs(browser: Browser) -> None:
    """Write the pictures that README and docs show."""
    DOCS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = build_report(lab_run().write(folder), folder / "report", {}).page
        case = "#case=bank_lab.json%3A%3Aq-3%5BRAG%20model%20llama-2-7b-chat%5D"
        for scheme in SCHEMES:
            for part, place in (("page", ""), ("matrix", "#matrix"), ("case", case)):
                taken = picture(browser, page.as_uri() + place, scheme=scheme)
                (DOCS / f"{part}-{scheme}.png").write_bytes(taken)


def write_all(browser: Browser, record: str, out: str) -> None:
    """Write a picture of each tab of a record's page."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        address = build_report(record_path(record), Path(name)).page.as_uri()
        page = browser.new_page()
        page.goto(address)
        tabs = [link.get_attribute("data-tab-link") for link in page.locator("[data-tab-link]").all()]
        page.pdf(path=folder / "brief.pdf", format="A4")
        for scheme in SCHEMES:
            for width in WIDTHS:
                for tab in tabs:
                    taken = picture(browser, f"{address}#{tab}", scheme=scheme, width=width)
                    (folder / f"{tab}-{width}-{scheme}.png").write_bytes(taken)


def main(*arguments: str) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        if arguments:
            write_all(browser, *arguments)
        else:
            write_for_docs(browser)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
