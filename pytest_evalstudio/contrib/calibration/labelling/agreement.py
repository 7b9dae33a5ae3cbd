"""Agreement of the people who label the same answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pytest_evalstudio.formats.labels import ADJUDICATOR, Identity, Label, majority
from pytest_evalstudio.stats.agreement import cohen_kappa, krippendorff_alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of the raters of the same answers, who call each good or bad.

    Attributes:
        raters: number of labels by rater.
        shared: number of answers with at least two labels.
        percent: share of the pairs of labels of one answer that are equal, 0.0 to 1.0; None without pairs.
        cohen_kappa: None unless there are two raters whose labels vary.
        krippendorff_alpha: nominal; None where there is nothing to compare, or no variation.
        adjudicated: number of answers that an adjudicator decided; their labels are none of the raters'.
        undecided: number of answers on which raters are divided, before and after the adjudication.
        final_percent: share of the raters' labels of shared answers that equal the final label of the answer,
            after the adjudication, 0.0 to 1.0; None without a final label of a shared answer.
    """

    raters: Mapping[str, int]
    shared: int
    percent: float | None
    cohen_kappa: float | None
    krippendorff_alpha: float | None
    adjudicated: int = 0
    undecided: tuple[int, int] = (0, 0)
    final_percent: float | None = None


def agreement(labels: Sequence[Label], good_from: int = 1) -> Agreement:
    """Return the agreement of raters on good and bad answers.

    Args:
        labels: one per rater and answer.
        good_from: the lowest label that counts as good.
    """
    by_answer: dict[Identity, dict[str, bool]] = defaultdict(dict)
    final, divided = majority(labels)
    adjudicated = {label.identity for label in labels if label.role == ADJUDICATOR}
    labels = [label for label in labels if label.role != ADJUDICATOR]
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
        adjudicated=len(adjudicated),
        undecided=(len(majority(labels)[1]), len(divided)),
        final_percent=_share_of_final(by_answer, final, good_from),
    )


def _share_of_final(
    by_answer: Mapping[Identity, Mapping[str, bool]], final: Mapping[Identity, int], good_from: int
) -> float | None:
    agreed = [
        good == (final[identity] >= good_from)
        for identity, ratings in by_answer.items()
        if len(ratings) > 1 and identity in final
        for good in ratings.values()
    ]
    return sum(agreed) / len(agreed) if agreed else None


def _kappa(shared: Sequence[Mapping[str, bool]], raters: Sequence[str]) -> float | None:
    first, second = raters
    return cohen_kappa([ratings[first] for ratings in shared], [ratings[second] for ratings in shared])
