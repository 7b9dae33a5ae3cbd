"""Texts of growing size: the processor time of the page's scripts grows linearly with them, or is bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio import report
from support.hostile_shapes import hostile_text
from support.linear_growth import LONG, SHORT
from support.records import RecordBuilder, evaluator, metric, score

pytestmark = pytest.mark.browser

WORST_SHAPES = ("one long word", "combining marks", "emoji joiners", "mixed")
MAX_RATIO = 2.0
"""Largest growth, as a multiple of the growth of the text: a quadratic function has 4. Beside other work,
layout and caches alone give 1.35.
"""
NOISE_S = 0.2
"""Additional times up to this one count as linear."""
REPEATS = (1, 2, 4)
"""Repeats of each measurement; each further number is used only where the ratio is too high."""
TINY = 50


def page_of(folder: Path, text: str, fragments: list[dict[str, Any]]) -> Path:
    """Build a page with one failed case, all of whose texts are the given one."""
    from pytest_evalstudio.report.build import build_report

    builder = RecordBuilder(evaluator("quality", metric()), models=("one", "two"))
    for model in ("one", "two"):
        row = {
            "input": text,
            "actual_output": text[::-1],
            "expected_output": text,
            "context": [text, text],
            "context_sources": ["a", "b"],
            "error": text,
            "outcomes": {"quality": score(0.1, reason=text, fragments=fragments)},
        }
        builder.add("case", model, row, reason=text)
    folder.mkdir()
    return build_report(builder.write(folder), folder / "report", {}).page


def processor_seconds(chromium: Any, path: Path) -> float:
    """Return the processor time of the page's main thread while a user opens, searches and compares."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri() + "#matrix")
    page.wait_for_selector("html.ready", state="attached")
    page.locator("#cases input[type=search]").fill("zebra")
    page.locator("#cases [role=status]", has_text="0 cases").wait_for()
    page.locator("#cases input[type=search]").fill("case")
    page.locator("tr[data-place]").first.click()
    page.locator("#panel-title").wait_for()
    for mode in ("expected", "by:quality"):
        page.locator("#panel .tools select").first.select_option(mode)
    page.locator("#panel .other").first.click()
    page.locator("#panel .answer-column").nth(1).wait_for()
    page.evaluate(
        "() => { document.querySelectorAll('#panel details').forEach((part) => { part.open = true; }); }"
    )
    page.evaluate("() => document.getElementById('panel').scrollHeight")
    metrics = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    return float(metrics["TaskDuration"])


def growth(chromium: Any, pages: dict[int, Path], goal: float) -> float:
    """Return the growth of the additional time as a multiple of the growth of the text; 0 below the noise."""
    _, small, large = sorted(pages)
    times = dict.fromkeys(pages, float("inf"))
    ratio = 0.0
    for repeats in REPEATS:
        for size, page in pages.items():
            times[size] = min(times[size], *(processor_seconds(chromium, page) for _ in range(repeats)))
        extra = {size: times[size] - times[TINY] for size in pages}
        if extra[large] <= NOISE_S:
            return 0.0
        ratio = extra[large] / max(extra[small], NOISE_S * small / large) / (large / small)
        if ratio <= goal:
            break
    return ratio


@pytest.mark.parametrize("shape", WORST_SHAPES)
def test_long_texts_take_linear_time(chromium: Any, tmp_path: Path, shape: str) -> None:
    def build(size: int) -> Path:
        text = hostile_text(shape, size)
        spans = [{"part": "answer", "start": 0, "end": size, "scores": {"score": 0.1}, "message": text}]
        return page_of(tmp_path / str(size), text, spans)

    assert growth(chromium, {size: build(size) for size in (TINY, SHORT, LONG)}, MAX_RATIO) <= MAX_RATIO


MARKS = Path(report.__file__).parent / "static" / "js" / "marks.js"
LAYOUTS = {
    "in a row": "(number, count) => [number, number + 1]",
    "nested": "(number, count) => [Math.floor(number / 2), count - Math.floor(number / 2)]",
}
FEW, MANY = 4_000, 16_000
FLOOR_S = 0.02
"""Least time of the few marks: shorter ones are those of the clock."""
MAX_MARKS_RATIO = 2.0
"""Largest growth of the time of the marks, as a multiple of their number; a quadratic function has 4."""
SECONDS = """(count) => {
  const el = (...parts) => parts, shown = String, many = String;
  %s
  const metric = { key: "score", name: "Score", better: "higher", threshold: 0.5 };
  const spans = Array.from({ length: count }, (_, number) => {
    const [start, end] = (%s)(number, count);
    return { part: "answer", start, end, scores: { score: (number %% 10) / 10 } };
  });
  const start = performance.now();
  marked("a b ".repeat(count / 4), spans, metric, "answer");
  return (performance.now() - start) / 1000;
}"""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_many_marks_take_linear_time(chromium: Any, layout: str) -> None:
    """The script alone: the browser's layout of thousands of elements would hide its time."""
    context = chromium.new_context()
    page = context.new_page()
    script = SECONDS % (MARKS.read_text(encoding="utf-8"), LAYOUTS[layout])

    def seconds(count: int, repeats: int) -> float:
        return float(min(page.evaluate(f"() => ({script})({count})") for _ in range(repeats)))

    seconds(FEW, 3)  # the compiler needs some calls
    ratio = min(
        seconds(MANY, repeats) / max(seconds(FEW, repeats), FLOOR_S) / (MANY / FEW) for repeats in (1, 3, 6)
    )
    context.close()
    assert ratio <= MAX_MARKS_RATIO
