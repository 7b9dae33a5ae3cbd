"""Growth of a function's processor time with the length of its text."""

from __future__ import annotations

import itertools
import math
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import median
from types import FrameType

from support.hostile_shapes import SHAPES, hostile_text
from support.processor_time import seconds_of

SHORT, LONG = 25_000, 100_000
MAX_RATIO = 2.0 * LONG / SHORT
"""Largest ratio of the times of the two texts: twice linear, where a quadratic function has four times.

The goal of 1.3 is for the benchmark on a quiet machine: beside other work, caches alone give 1.33.
"""
NOISE_S = 0.04
"""Times of the long text up to this one count as linear: a quadratic function takes 2.6 s for 800,000
characters then.
"""
LIMIT_S = 60.0
"""Time on the clock after which a measurement ends: a timer of processor time makes its clock coarse."""
_salts = itertools.count()
"""No text is measured twice: results are kept by text, also from one function to the next."""
REPEATS = (1, 3, 8, 20)
"""Repeats of each measurement; each further number is used only where the ratio is too high."""


class TooSlow(Exception):
    """A measurement took more than the limit."""


def superlinear_shapes(
    function: Callable[[str], object], shapes: Sequence[str] = SHAPES, repeats: Sequence[int] = REPEATS
) -> dict[str, float]:
    """Return the shapes for which the time grows faster than permitted, with the ratio of the times.

    A longer text decides where the ratio is too high: on a busy machine, caches alone can raise it once.
    """

    def ratio_of(shape: str, sizes: tuple[int, int]) -> float:
        return growth(function, lambda size: hostile_text(shape, size, next(_salts)), repeats, sizes=sizes)

    suspected = [shape for shape in shapes if ratio_of(shape, (SHORT, LONG)) > MAX_RATIO]
    ratios = {shape: ratio_of(shape, (LONG, LONG * LONG // SHORT)) for shape in suspected}
    return {shape: ratio for shape, ratio in ratios.items() if ratio > MAX_RATIO}


def growth(
    function: Callable[[str], object],
    text_of: Callable[[int], str],
    all_repeats: Sequence[int] = REPEATS,
    *,
    sizes: tuple[int, int] = (SHORT, LONG),
) -> float:
    """Return the ratio of the times of the long and the short text; 0 below the noise.

    Args:
        text_of: makes a text of a size.
        sizes: short and long one; the long one is four times as long.
    """
    short_size, long_size = sizes
    try:
        short = _seconds(function, text_of, short_size)
    except TooSlow:
        return math.inf
    if short <= NOISE_S * (short_size / long_size) ** 2:
        return 0.0  # a quadratic function would stay below the noise with the long text, too
    # The median, since texts differ in what they cost, and the machine does other work.
    shorts, longs = [short], list[float]()
    ratio = math.inf
    for repeats in all_repeats:
        try:
            longs += (_seconds(function, text_of, long_size) for _ in range(repeats))
        except TooSlow:
            return math.inf
        if median(longs) <= NOISE_S:
            return 0.0
        shorts += (_seconds(function, text_of, short_size) for _ in range(repeats))
        ratio = median(longs) / median(shorts)
        if ratio <= MAX_RATIO:
            break
    return ratio


def _seconds(function: Callable[[str], object], text_of: Callable[[int], str], size: int) -> float:
    def measured() -> float:
        with _limited(LIMIT_S):
            return seconds_of(partial(function, text_of(size)))

    try:
        return measured()
    except TooSlow:  # the machine, perhaps
        return measured()


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TooSlow after some time; loops of Python and of `re` can be interrupted."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "ITIMER_REAL"):
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooSlow

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
