"""Images and files in the case view: small images are shown with their names, others are named."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.report.build import build_report
from support import pictures
from support.records import RecordBuilder
from tests.report.browser.test_conversation import turn

pytestmark = pytest.mark.browser
HOSTILE = '"><img src=x onerror=alert(1)>.png'


def entry(name: str, content: bytes, media_type: str) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    return {"name": name, "media_type": media_type, "size": len(content), "sha256": digest}


@pytest.fixture(params=[{}])
def page(request: pytest.FixtureRequest, visit: Callable[..., Any], tmp_path: Path) -> Any:
    image = pictures.png(width=64, height=48)
    (tmp_path / "chart.png").write_bytes(image)
    builder = RecordBuilder()
    row = {
        "attachments": [
            entry("chart.png", image, "image/png"),
            entry(HOSTILE, b"absent", "image/png"),
            entry("terms.pdf", pictures.PDF, "application/pdf"),
        ],
        "turns": [{**turn("Look.", "Red."), "attachments": [entry("chart.png", image, "image/png")]}],
    }
    builder.add("chart", "one", row)
    path = build_report(builder.write(tmp_path), tmp_path / "report", {}, root=tmp_path).page
    page = visit(path, "#matrix", **request.param)
    page.locator("tr[data-place]").first.click()
    page.wait_for_selector("#panel .attachments")
    return page


def test_a_small_image_is_shown_and_the_others_are_named(page: Any) -> None:
    items = page.locator("#panel .pinned .attachments li")
    assert items.count() == 3
    image = items.nth(0).locator("img")
    assert image.get_attribute("alt") == "Image chart.png"
    assert image.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [64, 48]
    assert [items.nth(index).locator("img").count() for index in range(3)] == [1, 0, 0]
    assert HOSTILE in items.nth(1).inner_text()
    assert "application/pdf" in items.nth(2).inner_text()
    digest = hashlib.sha256(pictures.PDF).hexdigest()
    assert items.nth(2).locator("code").get_attribute("title") == digest


def test_a_turn_shows_its_image(page: Any) -> None:
    page.locator("#panel .turn").first.evaluate("turn => { turn.open = true; }")
    assert page.locator("#panel .turn .attachments img").count() == 1


@pytest.mark.parametrize(
    "page", [{"bypass_csp": True, "color_scheme": scheme} for scheme in ("light", "dark")], indirect=True
)
def test_axe_finds_nothing_in_a_case_with_images(page: Any, axe: str) -> None:
    page.locator("#panel details").evaluate_all("parts => parts.forEach((part) => { part.open = true; })")
    page.evaluate(axe)
    result = page.evaluate("axe.run()")["violations"]
    assert [(entry["id"], entry["nodes"][0]["html"]) for entry in result] == []
