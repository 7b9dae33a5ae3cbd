"""Agreement of the people who label the same answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.mrm.steps.human_calibration.results import Agreement
from pytest_evalstudio.stats.agreement import cohen_kappa, krippendorff_alpha


def agreement(labels: Sequence[Label], good_from: int = 1) -> Agreement:
    """Return the agreement of raters on good and bad answers.

    Args:
        labels: one per rater and answer.
        good_from: the lowest label that counts as good.
    """
    by_answer: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for label in labels:
        by_answer[label.identity][label.rater] = label.label >= good_from
    raters = Counter(label.rater for label in labels)
    shared = [ratings for ratings in by_answer.values() if len(ratings) > 1]
    pairs = [first == second for ratings in shared for first, second in combinations(ratings.values(), 2)]
    return Agreement(
        raters=dict(sorted(raters.items())),
        shared=len(shared),
        percent=sum(pairs) / len(pairs) if pairs else None,
        cohen_kappa=_kappa(shared, sorted(raters)) if len(raters) == 2 else None,
        krippendorff_alpha=krippendorff_alpha([list(ratings.values()) for ratings in by_answer.values()]),
    )


def _kappa(shared: Sequence[Mapping[str, bool]], raters: Sequence[str]) -> float | None:
    first, second = raters
    return cohen_kappa([ratings[first] for ratings in shared], [ratings[second] for ratings in shared])
