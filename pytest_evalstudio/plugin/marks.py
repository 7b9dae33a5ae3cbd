"""Markers from categories and domains, so that `-m privacy` selects."""

from __future__ import annotations

import pytest

from pytest_evalstudio.engine.perturbing.where import marker_name

_MARKS = pytest.StashKey[dict[str, pytest.MarkDecorator]]()


def mark_named(config: pytest.Config, category: str) -> pytest.MarkDecorator:
    """Return the registered marker of a category."""
    marks = config.stash.setdefault(_MARKS, {})
    name = marker_name(category)
    if name not in marks:
        config.addinivalue_line("markers", f"{name}: category or domain of test cases")
        marks[name] = pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)
    return marks[name]
