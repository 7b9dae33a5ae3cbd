"""Runs that are killed, interrupted, short of disk or started twice; see tests/benchmarks/kills.py for more
rounds.
"""

from __future__ import annotations

import signal
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("signals and limits of POSIX", allow_module_level=True)

from support.kills import ROUNDS, Scene, play

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ROUNDS)
def test_nothing_is_lost_or_mixed_up(tmp_path: Path, name: str) -> None:
    play(Scene(tmp_path, seed=1), name)


CLOCK = """
import time
from pathlib import Path

clock, ahead_s = time.time, float(Path("ahead.txt").read_text())
time.time = lambda: clock() + ahead_s
"""


@pytest.mark.parametrize("ahead_s", [3 * 3600, -3 * 3600])
def test_a_clock_that_is_set_after_a_kill_holds_up_nobody(tmp_path: Path, ahead_s: int) -> None:
    scene = Scene(tmp_path, seed=1)
    (tmp_path / "conftest.py").write_text(CLOCK)
    (tmp_path / "ahead.txt").write_text(str(ahead_s))
    with closing(scene.children):
        process = scene.start()
        process.wait_until(lambda: scene.question_counts("answered.txt").total() >= 6, "six answers")
        process.send_signal(signal.SIGKILL)
        process.finish()
        process.end()
        counts = scene.question_counts()
        (tmp_path / "ahead.txt").write_text("0")
        start = time.monotonic()
        scene.check_next_run()
        assert time.monotonic() - start < 60
        assert (scene.question_counts() - counts).total() <= 24 - counts.total() + 8
