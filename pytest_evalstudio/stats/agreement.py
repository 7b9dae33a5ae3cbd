"""Agreement of raters beyond chance."""

from __future__ import annotations

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
