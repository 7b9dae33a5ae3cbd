"""Default seed, and bounds of numbers in files and from hosts: beyond them, sums lose digits or overflow."""

from __future__ import annotations

from collections.abc import Mapping

MAX_RUN = 1_000_000
MAX_TOKENS = 10**12  # above what services report; sums of these stay exact as floats
MAX_SECONDS = 10**9  # 30 years: a larger value is a unit that was mistaken
MAX_COST_USD = 10**9
DEFAULT_SEED = 20_250_101


def number_fault(*, usage: Mapping[str, int], cost_usd: float | None, duration_s: float) -> str:
    """Return the first thing that is wrong with the numbers of an answer, "" for nothing.

    Args:
        usage: tokens by kind.
        cost_usd: None where it is not known.
        duration_s: wall time in seconds.

    >>> number_fault(usage={"input_tokens": 10**400}, cost_usd=0.1, duration_s=1.0)
    "usage['input_tokens'] must be a whole number from 0 to 1000000000000"
    """
    for name, count in usage.items():
        if not isinstance(count, int) or not 0 <= count <= MAX_TOKENS:
            return f"usage[{name!r}] must be a whole number from 0 to {MAX_TOKENS}"
    if cost_usd is not None and not _is_between(cost_usd, -MAX_COST_USD, MAX_COST_USD):
        return f"cost_usd must be a number from {-MAX_COST_USD} to {MAX_COST_USD}, or None"
    if not _is_between(duration_s, 0, MAX_SECONDS):
        return f"duration_s must be a number from 0 to {MAX_SECONDS}"
    return ""


def _is_between(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and low <= value <= high  # False for NaN
