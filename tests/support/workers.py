"""Runs without and with a worker of pytest-xdist, as the parameter of a test.

One worker gets and sends what each of several does; tests of their division of work start two.
"""

from __future__ import annotations

import pytest

WORKERS = [
    pytest.param((), id="one process"),
    pytest.param(("-n", "1"), id="a worker", marks=pytest.mark.slow),  # two processes start
]
