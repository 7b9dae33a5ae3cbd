"""Runs that are killed, interrupted, short of disk or started twice; see tests/benchmarks/kills.py for more
rounds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("signals and limits of POSIX", allow_module_level=True)

from support.kills import ROUNDS, Scene, play

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ROUNDS)
def test_nothing_is_lost_or_mixed_up(tmp_path: Path, name: str) -> None:
    play(Scene(tmp_path, seed=1), name)
