"""Colours of all pictures."""

from __future__ import annotations

INK, QUIET, RULE, GROUND = "#1c2530", "#5a6672", "#d9dcd8", "#fff"
GOOD, BAD = "#009e73", "#d55e00"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#555f6b")
"""Colours of series; colour-blind readers can distinguish them."""


def colour_between(share: float, low: str = BAD, high: str = GOOD, middle: str = "#f7f7f5") -> str:
    """Return the colour at a share of the way from low over middle to high.

    Args:
        high: colour at 1.0.
        low: colour at 0.0.
        middle: colour at 0.5.
        share: 0.0 (low) to 1.0 (high); values beyond are cut.

    >>> colour_between(0.5)
    '#f7f7f5'
    """
    share = min(1.0, max(0.0, share))
    start, end, way = (low, middle, share * 2) if share < 0.5 else (middle, high, share * 2 - 1)
    mixed = [round(a + (b - a) * way) for a, b in zip(_channels(start), _channels(end), strict=True)]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
