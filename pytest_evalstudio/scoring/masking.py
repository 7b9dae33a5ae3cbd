"""Texts without personal data and secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_evalstudio.core.display import visible, visible_lines
from pytest_evalstudio.metrics.detectors import redact, redact_identifier
from pytest_evalstudio.text.cache import cached_by_text

masked = redact
"""Return a text with personal data and secrets masked."""


def shown(text: object) -> str:
    """Return a message of several lines, masked and with control characters as escapes."""
    return visible_lines(masked(str(text)))


def shown_line(text: object) -> str:
    """Return a message on one line, masked and with control characters as escapes."""
    return visible(masked(str(text)))


def masked_texts(value: object) -> Any:
    """Return a JSON-ready value with all its texts masked."""
    # The classes of JSON data are compared first: checks of abstract classes and unions take far longer.
    kind = value.__class__
    if kind is str:
        return redact(value)  # type: ignore[arg-type]
    if kind in _NUMBERS:
        return value
    if kind is dict or isinstance(value, Mapping):
        return masked_items(value, masked_texts)  # type: ignore[arg-type]
    if isinstance(value, (list, tuple)):
        return [masked_texts(item) for item in value]
    return redact(value) if isinstance(value, str) else value


def masked_items(value: Mapping[Any, Any], mask_item: Callable[[Any], Any]) -> dict[Any, Any]:
    """Return an object with its keys masked as well; keys that become equal are numbered.

    >>> masked_items({"jane@bank.com": 5, "john@bank.com": 6}, masked_texts)
    {'****@****.***': 5, '****@****.*** (2)': 6}
    """
    items: dict[Any, Any] = {}
    repeats: dict[
        str, int
    ] = {}  # numbers that were tried: from 2 for each key, many keys take quadratic time
    for key, item in value.items():
        name = base = masked_key(key) if isinstance(key, str) else key
        while name in items:
            repeats[base] = repeats.get(base, 1) + 1
            name = f"{base} ({repeats[base]})"
        items[name] = mask_item(item)
    return items


masked_key = cached_by_text(redact_identifier)
"""Return a key of an object with unambiguous personal data and secrets masked: keys repeat in all calls."""

_NUMBERS = frozenset({int, float, bool, type(None)})
