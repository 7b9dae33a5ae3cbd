"""Estimated widths of texts in pictures."""

from __future__ import annotations

from itertools import accumulate

FONT_SIZE = 13
"""Pixels."""
_CHAR_WIDTH = 0.56
"""Mean width of a character, in font sizes."""
_WIDE_CHAR_WIDTH = 1.0


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Estimate the pixels that a line of text takes; fonts differ."""
    return sum(_WIDE_CHAR_WIDTH if ord(char) > 0x2E80 else _CHAR_WIDTH for char in text) * size


def fitted(text: str, width: float, size: float = FONT_SIZE) -> str:
    """Shorten a text at its end, with an ellipsis, so that it fits into a width in pixels.

    >>> fitted("a long name of a topic", 80)
    'a long na…'
    """
    if text_width(text, size) <= width:
        return text
    room = width - text_width("…", size)
    used = accumulate(text_width(char, size) for char in text)
    end = next(end for end, pixels in enumerate(used) if pixels > room)
    return text[:end].rstrip() + "…"
