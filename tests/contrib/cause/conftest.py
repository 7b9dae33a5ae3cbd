"""Applications that a test changes between two runs."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def without_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read each application anew: bytecode is taken for a file of the same size and second."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
