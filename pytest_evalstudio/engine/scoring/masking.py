"""Texts without personal data and secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.metrics.detectors import redact

masked = redact
"""Return a text with personal data and secrets masked."""


def masked_texts(value: object) -> Any:
    """Return a JSON-ready value with all its texts masked."""
    # The classes of JSON data are compared first: checks of abstract classes and unions take far longer.
    kind = value.__class__
    if kind is str:
        return redact(value)  # type: ignore[arg-type]
    if kind in _NUMBERS:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {key: masked_texts(item) for key, item in value.items()}  # type: ignore[attr-defined]
    if isinstance(value, (list, tuple)):
        return [masked_texts(item) for item in value]
    return redact(value) if isinstance(value, str) else value


_NUMBERS = frozenset({int, float, bool, type(None)})
