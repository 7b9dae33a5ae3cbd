"""Pages of raters and voters in Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

KILLED_SERVER = re.compile("net::ERR_(CONNECTION_|EMPTY_RESPONSE|CONTENT_LENGTH_MISMATCH)")
"""Errors of a request before, at and within whose reply the server was killed."""


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page that is ready; at the end nothing but its own server may have been asked, and nothing may
    have complained.
    """
    pages: list[tuple[Any, list[str]]] = []

    def open_page(address: str, **context: Any) -> Any:
        where = chromium.new_context(
            **{"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce", **context}
        )
        where.set_default_timeout(60_000)
        page, trouble = where.new_page(), []
        origin = re.match(r"http://[^/]+/", address)
        assert origin is not None
        page.on(
            "request",
            lambda request: None if request.url.startswith(origin.group()) else trouble.append(request.url),
        )
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda message: trouble.append(message.text))
        page.goto(address)
        page.locator("#case, #finished").locator("visible=true").wait_for()
        pages.append((page, trouble))
        return page

    yield open_page
    for page, trouble in pages:
        page.context.close()
        assert [line for line in trouble if not KILLED_SERVER.search(line)] == []
