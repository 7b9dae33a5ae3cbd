"""Processor time of calls, as the least of several tries.

Other work of a machine, and what it does to the clocks of its guests, only adds to a time: one long try says
nothing, and one short try is enough. Each try has another text, since some results are kept by text.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pytest_evalstudio.core.collecting import uncollected

TRIES = 5
NOISE_S = 0.02
"""A large text that takes no longer is linear: the clock says nothing about the time of a smaller one."""
MAX_EXCESS = 2.5
"""Largest growth of the time, as a multiple of that of the size: a quadratic function has at least 8."""


def seconds_of(call: Callable[[], object]) -> float:
    """Return the processor time of one call, without passes of the garbage collector over the whole heap."""
    with uncollected():
        start = time.process_time()
        call()
        return time.process_time() - start


def assert_within(limit_s: float, call: Callable[[int], object]) -> None:
    """Check that a call takes less than so much processor time.

    Args:
        call: takes the number of the try, and does the same with another text or other data for each.
    """
    tries: list[float] = []
    while not tries or tries[-1] >= limit_s:
        assert len(tries) < TRIES, f"seconds of processor time: {tries}; allowed: {limit_s}"
        tries.append(seconds_of(lambda: call(len(tries))))


def assert_linear(prepare: Callable[[int], Callable[[], object]], size: int, *, times: int = 8) -> None:
    """Check that the processor time of a call grows no faster than the size of its data.

    Args:
        prepare: makes the data of a size, and returns the call that is measured.
        size: the small one.
        times: the large size as a multiple of the small one; at least 8.
    """
    prepare(size)()  # imports are no part of the time
    small: list[float] = []
    large: list[float] = []
    ratio = float("inf")
    while ratio > MAX_EXCESS * times:
        assert len(large) < TRIES, f"seconds of processor time for {times} times the size: {small}, {large}"
        turn = len(large) + 1
        small.append(seconds_of(prepare(size + turn)))
        large.append(seconds_of(prepare(size * times + turn)))
        ratio = min(large) / min(small) if min(large) > NOISE_S else 0.0
