"""Texts without personal data and secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.metrics.detectors import redact


def masked(text: str) -> str:
    """Return a text with personal data and secrets masked."""
    return redact(text)


def masked_texts(value: object) -> Any:
    """Return a JSON-ready value with all its texts masked."""
    if isinstance(value, str):
        return redact(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, dict | Mapping):  # the check of an abstract class takes longer
        return {key: masked_texts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked_texts(item) for item in value]
    return value
