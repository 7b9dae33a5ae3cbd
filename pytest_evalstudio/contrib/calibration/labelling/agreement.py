"""Agreement of the people who label the same answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pytest_evalstudio.formats.labels import ADJUDICATOR, Identity, Label, majority
from pytest_evalstudio.stats.agreement import cohen_kappa, krippendorff_alpha
from pytest_evalstudio.text.figures import counted, percent


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


def agreement_lines(results: Agreement) -> Iterator[str]:
    """Yield how far raters agree, and by which rule their disagreement is resolved; nothing for one rater.

    >>> two = Agreement(
    ...     raters={"Ada": 30, "Ben": 20}, shared=20, percent=0.9, cohen_kappa=0.8, krippendorff_alpha=0.79, undecided=(2, 1)
    ... )
    >>> for line in agreement_lines(two):
    ...     print(line)
    raters: Ada 30, Ben 20 labels; 20 answers have several: 90 % of their pairs agree, Cohen's kappa 0.80, Krippendorff's alpha 0.79
    disagreement: the adjudicator's label counts, else that of most raters; 1 answer is left out
    """  # noqa: E501
    if len(results.raters) + bool(results.adjudicated) < 2:
        return
    raters = ", ".join(f"{name or 'without a name'} {count}" for name, count in results.raters.items())
    line = f"raters: {raters} labels; {counted(results.shared, 'answer has', 'answers have')} several"
    if results.percent is not None:
        line += f": {percent(results.percent)} of their pairs agree"
    for name, value in (
        ("Cohen's kappa", results.cohen_kappa),
        ("Krippendorff's alpha", results.krippendorff_alpha),
    ):
        if value is not None:
            line += f", {name} {value:.2f}"
    yield line
    _, undecided = results.undecided
    rest = counted(undecided, "answer is left out", "answers are left out")
    yield f"disagreement: the adjudicator's label counts, else that of most raters; {rest}"


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
