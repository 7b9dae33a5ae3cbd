"""How far the people agree who label the same answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.stats.agreement import cohen_kappa, krippendorff_alpha


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
