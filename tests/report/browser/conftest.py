"""Pages in Chromium; whatever a test does, nothing may be requested, pop up or complain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder
from support.report_runs import varied_run

READY = "html.ready"


@pytest.fixture
def build_page(tmp_path: Path) -> Callable[[RecordBuilder], Path]:
    """Builds the report of a run and gives its page."""

    def build(builder: RecordBuilder) -> Path:
        return build_report(builder.write(tmp_path), tmp_path / "report", {}).page

    return build


@pytest.fixture(scope="session")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the run that has something of everything; not to be written to."""
    folder = tmp_path_factory.mktemp("varied")
    return build_report(varied_run().write(folder), folder / "report", {}).page


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run full of hostile texts; not to be written to."""
    from tests.report.browser.test_attacks import attacked_run

    folder = tmp_path_factory.mktemp("attacked")
    return build_report(attacked_run().write(folder), folder / "report", {}).page


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page, at a place of it if wanted; at the end nothing but the page itself may have been
    requested.
    """
    pages: list[tuple[Any, str, list[str], list[str]]] = []

    def open_page(
        path: Path, place: str = "", *, ready: bool = True, quiet: bool = True, **context: Any
    ) -> Any:
        where = chromium.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **context}
        )
        where.set_default_timeout(60_000)
        page = where.new_page()
        requests: list[str] = []
        trouble: list[str] = []
        page.on("request", lambda request: requests.append(request.url.partition("#")[0]))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        if quiet:
            page.on("console", lambda message: trouble.append(message.text))
        page.goto(path.as_uri() + place)
        if ready:
            page.wait_for_selector(READY, state="attached")
        pages.append((page, path.as_uri(), requests, trouble))
        return page

    yield open_page
    for page, address, requests, trouble in pages:
        page.wait_for_timeout(50)
        page.context.close()
        assert set(requests) <= {address}
        assert trouble == []
