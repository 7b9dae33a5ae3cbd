"""Serving of the pages on which people label and vote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from pytest_evalstudio.cli.common import say

if TYPE_CHECKING:
    from pytest_evalstudio.contrib.calibration.review.server import PageSession

    class Served(PageSession, Protocol):
        """A session that tells how far its person is."""

        def progress(self) -> str:
            """Return the progress as a sentence."""


def serve_page(
    session: Served, port: int, *, with_browser: bool, last_lines: Callable[[], Sequence[str]] = tuple
) -> None:
    """Serve a page until Ctrl-C, and open it in a browser.

    Args:
        session: the session behind the page.
        port: 0 for any that is free.
        with_browser: whether a browser is opened.
        last_lines: lines for the terminal at the end; the progress where not given.
    """
    import webbrowser

    from pytest_evalstudio.contrib.calibration.review.server import ReviewServer

    server = ReviewServer(session, port)
    say(session.progress())
    try:
        say(f"the page is at {server.address} (for you alone; Ctrl-C ends it)", flush=True)
        if with_browser:
            webbrowser.open(server.address)
        server.serve()
    except KeyboardInterrupt:
        say("", *(last_lines() or [session.progress()]))
