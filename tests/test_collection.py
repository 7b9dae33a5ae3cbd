"""The tests have the same names in each process: pytest-xdist refuses to run others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CLOCK_STEP = 2.0
"""Seconds: archives store the time in steps of two."""


def _names(hash_seed: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", str(TESTS)]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    output = subprocess.run(
        command, cwd=TESTS.parent, env=environment, stdout=subprocess.PIPE, text=True, check=False
    ).stdout
    return [line for line in output.splitlines() if "::" in line]


@pytest.mark.slow
def test_names_of_tests_depend_neither_on_the_clock_nor_on_the_order_of_sets() -> None:
    first = _names("1")
    time.sleep(CLOCK_STEP)
    second = _names("2")
    assert len(first) > 10_000
    assert first == second
