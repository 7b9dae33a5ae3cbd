"""Words of a text and the text between them."""

from __future__ import annotations

import re

WORD_LEVELS = {"LOW": 10, "MEDIUM": 3, "HIGH": 2}
"""Every so-many-th word is changed."""

WORD = re.compile(r"\w+(?:['’-]\w+)*")
"""A word without the punctuation around it."""

WORDS = re.compile(f"({WORD.pattern})")
"""Splits a text alternately into separators and words."""
