"""How far the people agree who label the same answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from pytest_evalstudio.engine.analysis.statistics import cohen_kappa
from pytest_evalstudio.formats.labels import Label


def agreement(labels: Sequence[Label], good_from: int = 1) -> dict[str, Any]:
    """Figures of agreement, of answers good or bad.

    Args:
        labels: one per rater and answer.
        good_from: the lowest label that counts as good.

    Returns:
        {raters: {name: labels}, shared: answers with two labels or more, percent: share of pairs of labels to
        the same answer that are the
        same, cohen_kappa: of two raters, krippendorff_alpha: nominal}; None where there is nothing to
            compare, or no variation.
    """
    rated: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for label in labels:
        rated[label.identity][label.rater] = label.label >= good_from
    raters = Counter(label.rater for label in labels)
    shared = [said for said in rated.values() if len(said) > 1]
    pairs = [one == other for said in shared for one, other in combinations(said.values(), 2)]
    return {
        "raters": dict(sorted(raters.items())),
        "shared": len(shared),
        "percent": sum(pairs) / len(pairs) if pairs else None,
        "cohen_kappa": _kappa(shared, sorted(raters)) if len(raters) == 2 else None,
        "krippendorff_alpha": krippendorff_alpha([list(said.values()) for said in rated.values()]),
    }


def _kappa(shared: Sequence[Mapping[str, bool]], raters: Sequence[str]) -> float | None:
    one, other = raters
    return cohen_kappa([said[one] for said in shared], [said[other] for said in shared])


def krippendorff_alpha(units: Sequence[Sequence[object]]) -> float | None:
    """Agreement of any number of raters beyond chance, nominal, where not everybody has rated everything.

    1 − observed disagreement / the one to be expected if values were dealt out at random; each unit counts by
    its pairs of values, divided by one less than its values.

    Args:
        units: what raters said of each; units with one value or none do not count.

    Returns:
        1.0 for full agreement, 0.0 for that of chance, less for less; None where no two values can be
        compared, or all are the same.

    Source: Krippendorff, 2011, Computing Krippendorff's alpha-reliability.

    >>> round(krippendorff_alpha([[0, 0], [1, 1], [0, 1], [0, 0]]), 3)
    0.533
    """
    paired = [values for values in units if len(values) > 1]
    totals = Counter(value for values in paired for value in values)
    count = sum(totals.values())
    expected = count * count - sum(number * number for number in totals.values())
    if not expected:
        return None
    observed = 0.0
    for values in paired:
        unlike = len(values) ** 2 - sum(number * number for number in Counter(values).values())
        observed += unlike / (len(values) - 1)
    return 1 - (count - 1) * observed / expected
