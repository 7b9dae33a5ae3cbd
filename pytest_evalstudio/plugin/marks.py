"""Markers from categories and domains, so that `-m privacy` selects."""

from __future__ import annotations

import re

import pytest

PYTESTS_OWN = frozenset({"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast", "evalstudio"})
_NOT_IN_MARKERS = re.compile(r"[^\w.:+/-]")
_MARKS = pytest.StashKey[dict[str, pytest.MarkDecorator]]()


def marker_name(category: str) -> str:
    """A category as a marker; "" where it must not be one.

    >>> marker_name("Question answering"), marker_name("skip")
    ('question_answering', '')
    """
    name = _NOT_IN_MARKERS.sub("_", category.strip().lower())
    return "" if name in PYTESTS_OWN or name.startswith("_") else name


def mark_named(config: pytest.Config, category: str) -> pytest.MarkDecorator:
    """The registered marker of a category."""
    known = config.stash.setdefault(_MARKS, {})
    name = marker_name(category)
    if name not in known:
        config.addinivalue_line("markers", f"{name}: category or domain of test cases")
        known[name] = pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)
    return known[name]
