"""Default seed, and bounds of numbers in files and from hosts: beyond them, sums lose digits or overflow."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

MAX_RUN = 1_000_000
MAX_TOKENS = 10**12  # above what services report; sums of these stay exact as floats
MAX_SECONDS = 10**9  # 30 years: a larger value is a unit that was mistaken
MAX_COST_USD = 10**9
MAX_FLOAT = sys.float_info.max
DEFAULT_SEED = 20_250_101


def number_fault(
    *,
    usage: Mapping[str, int],
    cost_usd: float | None,
    duration_s: float,
    first_token_s: float | None = None,
    context_scores: Sequence[float] = (),
) -> str:
    """Return the first thing that is wrong with the numbers of an answer, "" for nothing.

    Args:
        usage: tokens by kind.
        cost_usd: None where it is not known.
        duration_s: wall time in seconds.
        first_token_s: seconds until the first token; None where it is not known.
        context_scores: relevance of each chunk.

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
    if first_token_s is not None and not _is_between(first_token_s, 0, MAX_SECONDS):
        return f"first_token_s must be a number from 0 to {MAX_SECONDS}, or None"
    for index, score in enumerate(context_scores):
        if not _is_between(score, -MAX_FLOAT, MAX_FLOAT):
            return f"context_scores[{index}] must be a finite number"
    return ""


def _is_between(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and low <= value <= high  # False for NaN
