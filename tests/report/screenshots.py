"""Pictures of the page: python tests/report/screenshots.py [RECORD OUT].

Without arguments, write the pictures of README and docs into docs/images: a report of 16 models, the
evaluation eye of three, a comparison, a case of an agent, the review page, a terminal, and the report of a
workflow. With a record, or the folder of a report, write each tab of its page, wide and narrow, light and
dark, into OUT. Needs Chromium, Playwright and Rich; Pillow makes the pictures smaller.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.text import Text

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pytest_evalstudio.analysis.comparison.history import history_of
from pytest_evalstudio.analysis.comparison.sides import read_side
from pytest_evalstudio.record.reader import record_path
from pytest_evalstudio.report.build import build_report
from support.page_runs import Terminal, blocks_of
from support.pages import DOCS as PAGES
from support.records import RecordBuilder, evaluator, score
from support.report_runs import lab_run, varied_run

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "images"
COLUMNS = 118
ENVIRONMENT = {
    **os.environ,
    "COLUMNS": str(COLUMNS),
    "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
    "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
}
METRIC = "lexical_groundedness.supported_words"
"""Labelled on the review page."""
SCHEMES = ("light", "dark")
WIDTHS = (1920, 1280, 390)
COLOURS = 128
RUN_HEIGHT = 470
AGENT_CASE = "#case=desk_suite.json%3A%3Athousands-separator%5Bdesk-agent%5D"


def picture(
    browser: Browser,
    address: str,
    *,
    scheme: str,
    width: int = 1280,
    height: int = 900,
    full_page: bool = False,
    ready: str = "html.ready",
) -> bytes:
    """Return a picture of a page, of its first screen or of all of it.

    Args:
        ready: element that is there when the page can be shown.
    """
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(address)
    page.wait_for_selector(ready, state="attached")
    page.wait_for_timeout(300)
    image: bytes = page.screenshot(full_page=full_page)
    page.close()
    return small(image)


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
        (folder / "few").mkdir()
        small_page = build_report(varied_run().write(folder / "few"), folder / "few-report", {}).page
        bot = folder / "bot"
        terminal = follow_tutorial(bot)
        (DOCS / "terminal.svg").write_text(terminal_svg(terminal), encoding="utf-8")
        compared = bot / "handbook-bot" / "evalstudio-report" / "interpretation.html"
        workflow = run_workflow(folder / "workflow")
        runs = first_runs(folder / "fees")
        agent = run_agent(folder / "agent").as_uri() + AGENT_CASE
        for scheme in SCHEMES:
            for part, address in (
                ("page", page.as_uri()),
                ("matrix", page.as_uri() + "#matrix"),
                ("case", page.as_uri() + case),
                ("eye", small_page.as_uri() + "#explore"),
                ("comparison", compared.as_uri() + "#compare"),
                ("agent", agent),
            ):
                (DOCS / f"{part}-{scheme}.png").write_bytes(picture(browser, address, scheme=scheme))
            for name, report in runs.items():
                shot = picture(browser, report.as_uri(), scheme=scheme, width=900, height=RUN_HEIGHT)
                (DOCS / f"run-{name}-{scheme}.png").write_bytes(shot)
            history = lab_history(folder / f"history-{scheme}").as_uri() + "#compare"
            (DOCS / f"history-{scheme}.png").write_bytes(picture(browser, history, scheme=scheme))
            (DOCS / f"workflow-{scheme}.png").write_bytes(
                picture(browser, workflow.as_uri(), scheme=scheme, ready="body")
            )
            with review_of(compared.parent) as address:
                (DOCS / f"review-{scheme}.png").write_bytes(
                    picture(browser, address, scheme=scheme, ready="main")
                )


def first_runs(folder: Path) -> dict[str, Path]:
    """Run the suite of the landing page with a wrong and with a right condition, and return the pages."""
    folder.mkdir()
    for block in blocks_of(PAGES / "index.md"):
        if "title" in block.marks:
            (folder / block.marks["title"]).write_text(block.body, encoding="utf-8")
    suite = folder / "fees_suite.yaml"
    pages = {}
    for name in ("failed", "passed"):
        out = folder / name
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--evalstudio-output",
            str(out),
        ]
        subprocess.run([*command, suite.name], cwd=folder, env=ENVIRONMENT, capture_output=True, check=False)
        pages[name] = out / "interpretation.html"
        suite.write_text(suite.read_text().replace("12 USD", "15 USD"), encoding="utf-8")
    return pages


def lab_history(folder: Path) -> Path:
    """Return the page of the last of six runs of three models, of which one gets worse."""
    sides = []
    for day in range(1, 7):
        builder = RecordBuilder(
            evaluator("quality"),
            models=("assistant", "assistant-large", "assistant-small"),
            created=f"2026-11-{day:02}T08:00:00+00:00",
            run_id=f"{day}",
            commit=f"{day}f9c2ab",
        )
        for place, model in enumerate(("assistant", "assistant-large", "assistant-small")):
            for case in range(60):
                good = (case * 7 + day * 3) % 60 >= 6 + 6 * place + (5 * day if place == 2 else 0)
                row = {
                    "outcomes": {"quality": score(0.9 if good else 0.2)},
                    "cost": 0.002 * (1.5, 4, 0.6)[place] * (1 + case % 5 / 10),
                    "actual_duration": (1.4, 2.6, 0.8)[place] * (1 + (case + day) % 7 / 10),
                }
                builder.add(f"q-{case}", model, row)
        sides.append(read_side(builder.run, builder.typed_items))
    folder.mkdir()
    return build_report(builder.write(folder), folder / "report", {}, history=history_of(sides)).page


def follow_tutorial(folder: Path) -> str:
    """Follow the page on the CI gate up to the comparison, and return what the terminal shows then."""
    folder.mkdir()
    terminal = Terminal(folder)
    for block in blocks_of(PAGES / "start" / "documents-to-gate.md"):
        if "title" in block.marks and block.is_run:
            terminal.write(block)
        elif block.is_command:
            command = block.body.replace(
                " --evalstudio-baseline", " --color=yes --no-header --evalstudio-baseline"
            )
            terminal.enter(block, command)
            if command != block.body:
                return terminal.output
    raise AssertionError("the page shows no comparison")


def terminal_svg(output: str) -> str:
    """Return what a terminal prints as an SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    lines = output.splitlines()
    console.print(Text.from_ansi("\n".join(line[:COLUMNS] if "\x1b" not in line else line for line in lines)))
    return console.export_svg(
        title="python -m pytest bot_suite.yaml --evalstudio-baseline evalstudio-baseline.jsonl"
    )


def run_agent(folder: Path) -> Path:
    """Run the example of an agent, and return the page."""
    shutil.copytree(ROOT / "example_suites" / "agent", folder)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "desk_suite.json"]
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, check=True)
    return folder / "evalstudio-report" / "interpretation.html"


def run_workflow(folder: Path) -> Path:
    """Run the workflow of the examples, and return its report."""
    shutil.copytree(ROOT / "example_suites", folder, ignore=shutil.ignore_patterns("*_artifacts"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "workflow/bank_workflow.json"]
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, check=True)
    return folder / "workflow" / "bank_workflow_artifacts" / "workflow_report.html"


@contextlib.contextmanager
def review_of(report: Path) -> Iterator[str]:
    """Serve the review page of a report, and give its address."""
    command = [sys.executable, "-m", "pytest_evalstudio.cli", "review", str(report), "--no-browser", "--all"]
    command += ["--metric", METRIC, "--rater", "Ada", "--labels", str(report.parent / "labels.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as server:
        assert server.stdout is not None
        yield next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        server.terminate()


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
                    image = picture(browser, f"{address}#{tab}", scheme=scheme, width=width)
                    (folder / f"{tab}-{width}-{scheme}.png").write_bytes(image)


def main(*arguments: str) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        if arguments:
            write_all(browser, *arguments)
        else:
            write_for_docs(browser)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
