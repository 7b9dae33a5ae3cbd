"""The page of a history in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.history import history_of
from pytest_evalstudio.report.history_page import history_page
from tests.report.test_history_page import HOSTILE, sides_of

pytestmark = pytest.mark.browser


@pytest.fixture
def write_history(tmp_path: Path) -> Callable[[int], Path]:
    """Writes the page of a number of runs."""

    def write(runs: int) -> Path:
        rows = {HOSTILE: "pf" * runs, "steady": "pp" * runs, "late": "p" * runs + "f" * runs}
        page = tmp_path / f"{runs}.html"
        history = history_of(sides_of({key: row[:runs] for key, row in rows.items()}, branch=HOSTILE))
        page.write_text(history_page(history), encoding="utf-8")
        return page

    return write


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("runs", [1, 2, 40, 100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_requests_nothing(
    visit: Callable[..., Any], write_history: Callable[[int], Path], runs: int, width: int, scheme: str
) -> None:
    page = visit(
        write_history(runs), ready=False, viewport={"width": width, "height": 900}, color_scheme=scheme
    )

    assert page.evaluate("document.documentElement.scrollWidth") == width
    pictures = page.evaluate("[...document.images].map(image => image.complete && image.naturalWidth > 0)")
    assert pictures == [True] * 4
    # The policy allows the style: without it, the cells of outcomes have no colour.
    if runs > 1:
        colours = page.evaluate(
            "[...document.querySelectorAll('td .outcome')]"
            ".map(each => getComputedStyle(each).backgroundColor)"
        )
        assert len(set(colours)) == 2
        assert "rgba(0, 0, 0, 0)" not in colours


def test_links_lead_to_the_parts(visit: Callable[..., Any], write_history: Callable[[int], Path]) -> None:
    page = visit(write_history(40), ready=False)

    for name in ("Cases that flip", "Runs", "Trend"):
        page.get_by_role("link", name=name).click()
        heading = page.get_by_role("heading", name=name, exact=True)
        assert heading.is_visible()
