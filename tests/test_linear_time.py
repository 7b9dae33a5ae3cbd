"""Functions that handle text of strangers take time in proportion to its length.

The ordinary run uses short texts; `EVALSTUDIO_LINEAR_CHARS=1000000` measures texts of a million characters.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import linear_functions

pytestmark = pytest.mark.slow

CHARS = int(os.environ.get("EVALSTUDIO_LINEAR_CHARS", "20000"))
FIXED_SECONDS = 0.5
"""Added to every bound: a short text on a busy machine."""
PATIENCE_S = 180.0
"""On the clock: the machine may be busy."""


class Meter:
    """Measures functions in a process that ends when one takes too long."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def seconds(self, function: str, text: str, limit: float) -> float:
        """CPU time of a call; infinite if it takes more than the limit, or fails."""
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
        request = {"function": function, "text": text, "size": CHARS, "limit": 2 * limit}
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

    slow = {
        text: seconds
        for text in linear_functions.TEXTS
        if (seconds := meter.seconds(function, text, bound)) > bound
    }

    assert not slow, f"{function}: more than {bound:g} s for {CHARS} characters"
