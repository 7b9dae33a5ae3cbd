"""Secrets by the rules of the package detect-secrets, in addition to the project's own."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from typing import Any

from pytest_evalstudio.metrics.detectors import secrets
from pytest_evalstudio.metrics.detectors.spans import Hit, RawSpans, merge_spans, spans_in_original

_LEFT_OUT = frozenset({"base", "keyword", "high_entropy_strings", "ip_public", "private_key"})
"""The base class, rules that report ordinary text, and those that the project's own rules replace."""
_MAX_LINE_CHARS = 2000  # bounds the time of the library's patterns
_OVERLAP_CHARS = 200  # no secret is cut where two parts meet
_LINE = re.compile(r"[^\r\n]+")


def find_secrets_with_scanner(text: str) -> list[Hit]:
    """Find secrets by the rules of detect-secrets and the project's own; nothing is verified online.

    Args:
        text: any text; lines beyond 2,000 characters are read in overlapping parts.

    Returns:
        Hits in order of position, none overlapping another.
    """
    return merge_spans(
        text, [*secrets.spans(text), *spans_in_original(text, lambda plain, _: list(_scanned(plain)))]
    )


def _scanned(text: str) -> RawSpans:
    for line in _LINE.finditer(text):
        for start in range(line.start(), line.end(), _MAX_LINE_CHARS - _OVERLAP_CHARS):
            part = text[start : min(line.end(), start + _MAX_LINE_CHARS)]
            for plugin in _plugins():
                for value in dict.fromkeys(plugin.analyze_string(part)):
                    offset = part.find(value) if value else -1
                    if offset >= 0:
                        yield start + offset, start + offset + len(value), plugin.secret_type


@functools.lru_cache(maxsize=1)
def _plugins() -> tuple[Any, ...]:
    """Return the rules of detect-secrets that search by pattern."""
    from detect_secrets import plugins
    from detect_secrets.plugins.base import RegexBasedDetector

    rules: list[Any] = []
    for module in pkgutil.iter_modules(plugins.__path__):
        if module.name in _LEFT_OUT:
            continue
        content = vars(importlib.import_module(f"{plugins.__name__}.{module.name}"))
        rules += [
            plugin()
            for plugin in content.values()
            if isinstance(plugin, type)
            and issubclass(plugin, RegexBasedDetector)
            and plugin.__module__ == f"{plugins.__name__}.{module.name}"
        ]
    return tuple(sorted(rules, key=lambda plugin: str(plugin.secret_type)))
