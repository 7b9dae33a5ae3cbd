"""Agreement of raters beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return the agreement of two raters beyond chance, for nominal labels.

    (observed − expected) / (1 − expected), with the shares of pairs that agree.

    Own code: the check of judges uses it, and scikit-learn is not installed with the core.

    Args:
        first: labels of the same objects in the same order.
        second: labels of the same objects in the same order.

    Returns:
        1.0 for full agreement, 0.0 for agreement by chance, negative for less; None where there are no
        labels, or where both raters give all objects the same label.

    Source: Cohen, 1960 (Educational and Psychological Measurement 20, 37–46).

    >>> cohen_kappa([True, True, False, False], [True, False, False, False])
    0.5
    """
    if not first:
        return None
    n = len(first)
    observed = sum(label == other for label, other in zip(first, second, strict=True)) / n
    counts, other_counts = Counter(first), Counter(second)
    expected = sum(count * other_counts[label] for label, count in counts.items()) / (n * n)
    return None if expected >= 1.0 else (observed - expected) / (1 - expected)


def quadratic_kappa(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the agreement of two raters beyond chance, for grades, with quadratic weights.

    1 − mean squared difference of the pairs / that of all combinations of a grade of the first with one of
    the second. Grades may be any numbers, e.g. expectations.

    Args:
        first: grades of the same objects in the same order.
        second: grades of the same objects in the same order.

    Returns:
        1.0 for full agreement, 0.0 for agreement by chance, negative for less; None where there are no
        grades, or where all grades of both raters are the same.

    Source: Cohen, 1968 (Psychological Bulletin 70, 213–220).

    >>> round(quadratic_kappa([1, 2, 3], [1, 2, 2]), 3)
    0.667
    """
    n = len(first)
    if not n:
        return None
    mean, other_mean = math.fsum(first) / n, math.fsum(second) / n
    spread = math.fsum((grade - mean) ** 2 for grade in first)
    other_spread = math.fsum((grade - other_mean) ** 2 for grade in second)
    expected = spread + other_spread + n * (mean - other_mean) ** 2
    observed = math.fsum((grade - other) ** 2 for grade, other in zip(first, second, strict=True))
    return 1 - observed / expected if expected else None


def krippendorff_alpha(units: Sequence[Sequence[object]]) -> float | None:
    """Return the agreement of any number of raters beyond chance, for nominal labels with gaps.

    1 − observed disagreement / the disagreement expected if labels were dealt out at random. A unit counts
    by its pairs of labels, divided by one less than their number.

    Own code: no library of the extra `mrm` has it.

    Args:
        units: the labels that each unit got; units with fewer than two do not count.

    Returns:
        1.0 for full agreement, 0.0 for agreement by chance, negative for less; None where no two labels can
        be compared, or all labels are the same.

    Source: Krippendorff, 2011, Computing Krippendorff's alpha-reliability.

    >>> round(krippendorff_alpha([[0, 0], [1, 1], [0, 1], [0, 0]]), 3)
    0.533
    """
    paired = [labels for labels in units if len(labels) > 1]
    totals = Counter(label for labels in paired for label in labels)
    count = sum(totals.values())
    expected = count * count - sum(number * number for number in totals.values())
    if not expected:
        return None
    observed = 0.0
    for labels in paired:
        unlike = len(labels) ** 2 - sum(number * number for number in Counter(labels).values())
        observed += unlike / (len(labels) - 1)
    return 1 - (count - 1) * observed / expected
