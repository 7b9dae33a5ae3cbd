"""Texts of growing size: the processor time of the page's scripts grows linearly with them, or is bounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.hostile_shapes import hostile_text
from support.linear_growth import LONG, SHORT
from support.records import RecordBuilder, evaluator, metric, score

pytestmark = pytest.mark.browser

WORST_SHAPES = ("one long word", "combining marks", "emoji joiners", "mixed")
MAX_RATIO = 1.3
"""Largest growth, as a multiple of the growth of the text."""
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


MAX_MARKS_RATIO = 2.0
"""The same for marks: laying out thousands of elements in a paragraph alone grows by 1.5; quadratic is 4."""
FEW, MANY = 2_000, 8_000
LAYOUTS: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "in a row": lambda number, count: (number, number + 1),
    "nested": lambda number, count: (number // 2, count - number // 2),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_many_marks_take_linear_time(chromium: Any, tmp_path: Path, layout: str) -> None:
    def build(count: int) -> Path:
        spans = [
            {"part": "answer", "start": start, "end": end, "scores": {"score": number % 10 / 10}}
            for number in range(count)
            for start, end in [LAYOUTS[layout](number, count)]
        ]
        return page_of(tmp_path / str(count), "a b " * (count // 4), spans)

    assert (
        growth(chromium, {count: build(count) for count in (TINY, FEW, MANY)}, MAX_MARKS_RATIO)
        <= MAX_MARKS_RATIO
    )
