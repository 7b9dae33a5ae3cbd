"""Foreign texts in messages."""

from __future__ import annotations

from pytest_evalstudio.metrics.detectors import redact


def one_line(text: str, limit: int = 120) -> str:
    """Return a text for a message: redacted, on one line, shortened.

    Args:
        text: any text.
        limit: most characters of the result.

    >>> one_line("Call the  bank", 8)
    'Call th…'
    """
    flat = " ".join(redact(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
