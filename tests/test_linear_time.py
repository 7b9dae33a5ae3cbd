"""Functions that handle text of strangers take time in proportion to its length.

The ordinary run uses short texts; `EVALSTUDIO_LINEAR_CHARS=1000000` measures texts of a million characters.
"""

from __future__ import annotations

import json
import math
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from support import linear_functions
from support.linear_growth import NOISE_S

pytestmark = pytest.mark.slow

CHARS = int(os.environ.get("EVALSTUDIO_LINEAR_CHARS", "10000"))
FIXED_SECONDS = 0.125
"""Added to every bound: a short text on a busy machine."""
REPEATS = (1, 2, 3, 4, 5)
MAX_GROWTH = 12.0
"""Largest ratio for a text four times as long: a linear function has 4, a quadratic one 16."""
PATIENCE_S = 180.0
"""On the clock: the machine may be busy."""


class Meter:
    """Measures functions in a process that ends when one takes too long."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def growth(self, function: str, text: str, limit: float) -> float:
        """Return the ratio of the times of a text and of a quarter of it; infinite beyond the limit.

        0 below the noise.
        """
        # Sizes that were not measured yet: some results are kept by text.
        longs = [self.seconds(function, text, limit, CHARS + repeat) for repeat in REPEATS]
        shorts = [self.seconds(function, text, limit, CHARS // 4 + repeat) for repeat in REPEATS]
        long, short = median(longs), median(shorts)
        if long <= NOISE_S:
            return 0.0
        return long / short if long < math.inf and short else math.inf

    def seconds(self, function: str, text: str, limit: float, size: int = CHARS) -> float:
        """CPU time of a call; infinite if it takes more than twice the limit, or fails."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "support.linear_functions"],
                cwd=Path(__file__).parent,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"function": function, "text": text, "size": size, "limit": 2 * limit}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE_S)
        line = self._process.stdout.readline() if ready else ""
        if line:
            return float(json.loads(line)["seconds"])
        self.close()
        return float("inf")

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture(scope="module")
def meter() -> Iterator[Meter]:
    meter = Meter()
    yield meter
    meter.close()


@pytest.mark.parametrize("function", linear_functions.FUNCTIONS)
def test_time_is_linear_in_the_text(meter: Meter, function: str) -> None:
    bound = linear_functions.BOUNDS[function] * CHARS / 1_000_000 + FIXED_SECONDS

    slow = [text for text in linear_functions.TEXTS if meter.seconds(function, text, bound) > bound]
    # The bound holds for a quiet machine; on a busy one the growth decides.
    superlinear = {
        text: growth for text in slow if (growth := meter.growth(function, text, 10 * bound)) > MAX_GROWTH
    }

    assert not superlinear, f"{function}: growth of the time from {CHARS // 4} to {CHARS} characters"
