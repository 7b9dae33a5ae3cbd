"""Words and what stands between them."""

from __future__ import annotations

import re
from functools import cache

WORD_LEVELS = {"LOW": 10, "MEDIUM": 3, "HIGH": 2}
"""Every so-many-th word is changed."""

WORD = re.compile(r"\w+(?:['’-]\w+)*")
"""A word without the punctuation around it."""

_TOO_FEW = "it has fewer than {} words"


@cache
def too_few(every: int) -> str:
    """What is said of a text that is too short for "every so-many-th word"."""
    return _TOO_FEW.format(every)
