"""The page in a frame without rights of its own, as viewers of CI artifacts show it."""

from __future__ import annotations

import functools
import http.server
import threading

import pytest

pytestmark = pytest.mark.browser


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def framed(chromium, varied):
    """Opens the page in a sandboxed frame, served on loopback."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Silent, directory=varied.parent)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = chromium.new_page(viewport={"width": 1300, "height": 900})

    def open_frame(rights):
        page.goto(f"http://127.0.0.1:{server.server_port}/record-of-nothing")
        address = f"http://127.0.0.1:{server.server_port}/{varied.name}"
        page.set_content(f'<iframe sandbox="{rights}" src="{address}" width="1200" height="800"></iframe>')
        return page.frame_locator("iframe")

    yield open_frame
    page.close()
    server.shutdown()
    server.server_close()


def test_in_a_frame_that_may_only_run_scripts_everything_works(framed):
    frame = framed("allow-scripts")
    frame.locator("html.ready").wait_for(state="attached")
    assert frame.locator("#glance-eye-root .segment.inner").count() == 3
    frame.get_by_role("link", name="Matrix").click()
    frame.locator("tr[data-place]").first.click()
    frame.locator("#panel .key", has_text="case-0").wait_for()
    frame.locator("#panel summary", has_text="Run again").first.click()
    frame.locator("#panel .copy").first.click()
    frame.locator("#panel .copy", has_text="Ctrl+C").wait_for()


def test_in_a_frame_that_may_run_nothing_the_figures_still_read(framed):
    frame = framed("")
    frame.locator("#eye .no-js").wait_for()
    assert frame.locator("#summary #heatmap").is_visible()
