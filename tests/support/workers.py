"""Runs without and with the workers of pytest-xdist, as the parameter of a test."""

from __future__ import annotations

import pytest

WORKERS = [
    pytest.param((), id="one process"),
    pytest.param(("-n", "2"), id="two workers", marks=pytest.mark.slow),  # three processes start
]
