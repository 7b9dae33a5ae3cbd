"""Tests in Python that evaluate."""

from __future__ import annotations

import pytest


def checks_something(session: pytest.Session) -> bool:
    """Return whether a collected Python test uses a fixture that evaluates."""
    return any(map(checks, session.items))


def checks(item: pytest.Item) -> bool:
    """Return whether a test uses a fixture that evaluates."""
    return any(name.startswith("eval_") for name in getattr(item, "fixturenames", ()))
