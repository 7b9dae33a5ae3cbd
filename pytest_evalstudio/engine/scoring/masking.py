"""Texts without personal data and secrets."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.metrics.detectors import redact

REMEMBERED_CHARS = 20_000
"""Longer texts are masked again each time they are met."""


def masked(text: str) -> str:
    """Return a text with personal data and secrets masked."""
    return _masked_again(text) if len(text) <= REMEMBERED_CHARS else redact(text)


@functools.lru_cache(maxsize=1024)
def _masked_again(text: str) -> str:
    """Mask a short text and cache the result: questions and contexts recur from model to model."""
    return redact(text)


def masked_texts(value: object) -> Any:
    """Return a JSON-ready value with all its texts masked."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {key: masked_texts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked_texts(item) for item in value]
    return value
