"""Shapes of text on which a careless loop or pattern takes quadratic time, at any length."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

_UNITS: Mapping[str, str] = MappingProxyType(
    {
        "one long word": "sing",
        "blanks": " ",
        "brackets": "[",
        "repeated tokens": "fee ",
        "digits": "1234567890",
        "combining marks": "e\u0301\u0301\u0301",
        "emoji joiners": "\U0001f469\u200d\U0001f467\u200d",
        "fences": "``` ",
        "eyJ runs": "eyJ",
        "HTML": '<a href="x">&amp;<!--',
        "newlines": "\n",
    }
)
"""By name, the text that is repeated."""
MIXED = "mixed"
SHAPES = (*_UNITS, MIXED)
_SENTENCES = (
    "The fee is 5.25 EUR, e.g. for Anna. ",
    "password: hunter2 joe@corp.com\n",
    '{"a": [1, "NOT"]} ',
    "1. Open http://a:b@c.d/e?f=g ",
)


def hostile_text(shape: str, size: int, salt: int = 0) -> str:
    """Return a text of a shape.

    Args:
        shape: one of SHAPES.
        size: number of characters.
        salt: another number gives another text, so that no cache answers in place of the measured function.
    """
    start = "abcdefghijklmnopqrstuvwxyz"[salt % 26] * (1 + salt // 26)
    if shape == MIXED:
        rng = random.Random(salt)
        units = [*(unit * 8 for unit in _UNITS.values()), *_SENTENCES]
        mean = sum(map(len, units)) / len(units)
        body = "".join(rng.choices(units, k=int(size / mean * 2) + 20))
    else:
        unit = _UNITS[shape]
        body = unit * (size // len(unit) + 1)
    return (start + body)[:size]
