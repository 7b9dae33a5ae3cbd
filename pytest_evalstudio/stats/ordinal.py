"""Nonconformity of ordered levels, for prediction sets that adapt to the certainty of an answer."""

from __future__ import annotations

from collections.abc import Sequence


def ordinal_nonconformity(probabilities: Sequence[float]) -> list[float]:
    """Return the nonconformity of each level: the probability of the levels up to it, from the likeliest on.

    Levels are taken from the likeliest one outwards, each time the likelier neighbour, so that the levels up
    to any bound are consecutive. Own code: no library of the extra `mrm` has it.

    Args:
        probabilities: of the levels in their order; they sum to 1.

    Returns:
        0.0 (certain) to 1.0 for each level.

    Source: Lu, Angelopoulos and Pomerantz, 2022, Improving trustworthiness of AI disease severity rating in
        medical imaging with ordinal conformal prediction sets (MICCAI), algorithm 1.

    >>> [round(value, 3) for value in ordinal_nonconformity([0.1, 0.2, 0.6, 0.1])]
    [0.9, 0.8, 0.6, 1.0]
    """
    low = high = max(range(len(probabilities)), key=probabilities.__getitem__)
    total = probabilities[low]
    values = [0.0] * len(probabilities)
    values[low] = min(1.0, total)
    while low > 0 or high < len(probabilities) - 1:
        takes_lower = high == len(probabilities) - 1 or (
            low > 0 and probabilities[low - 1] >= probabilities[high + 1]
        )
        low, high = (low - 1, high) if takes_lower else (low, high + 1)
        value = low if takes_lower else high
        total += probabilities[value]
        values[value] = min(1.0, total)
    return values
