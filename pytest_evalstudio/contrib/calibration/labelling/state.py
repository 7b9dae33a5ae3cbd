"""State of the labelling: answers drawn, labels given, and the next answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.contrib.calibration.fit.curves import fit, probabilities
from pytest_evalstudio.contrib.calibration.labelling.agreement import Agreement, agreement
from pytest_evalstudio.contrib.calibration.labelling.cases import AnswerPopulation, LabelledCase
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn, draw
from pytest_evalstudio.formats.labels import Identity, Label, majority
from pytest_evalstudio.stats.types import Floats


@dataclass(frozen=True, kw_only=True)
class LabellingResults:
    """Progress of the labelling.

    Attributes:
        metrics: `evaluator.metric`.
        wanted: number of labels that the step waits for.
        labelled: number of labelled answers.
        without_score: number of answers without a score.
        not_counted: number of labels that do not count, by reason.
        divided: keys of the answers on which raters are divided.
    """

    metrics: tuple[str, ...]
    wanted: int
    labelled: int
    agreement: Agreement
    without_score: int
    not_counted: Mapping[str, int]
    divided: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """State of the labelling of a population.

    Attributes:
        drawn: the answers of the rounds that can be drawn yet, in the order in which they are shown.
        wanted: labels that are wanted in all.
        ratings: what raters said of the answers drawn.
        labels: what most of them say of each.
        divided: answers drawn of which no label has the most.
        outdated: labels of another text than today's.
        beyond: labels of answers that are not drawn.
        unknown: labels of answers that are not in the evaluation.
    """

    population: AnswerPopulation
    drawn: tuple[Drawn, ...]
    wanted: int
    good_from: int
    ratings: tuple[Label, ...]
    labels: dict[Identity, int]
    divided: tuple[Identity, ...]
    outdated: int
    beyond: int
    unknown: int

    @property
    def cases(self) -> list[LabelledCase]:
        """Return the answers that are shown, in order."""
        return [self.population.cases[draw.at] for draw in self.drawn]

    @property
    def done(self) -> int:
        """Return the number of drawn answers that have a label."""
        return len({label.identity for label in self.ratings})

    @property
    def is_complete(self) -> bool:
        """Report whether all wanted labels are given."""
        return self.done >= self.wanted

    @property
    def at_random(self) -> set[Identity]:
        """Return the answers that were drawn whatever their scores, apart from those for the curve."""
        return {self.population.cases[draw.at].identity for draw in self.drawn if draw.part == "conformal"}

    @property
    def is_exhaustive(self) -> bool:
        """Report whether all answers of the population are labelled, so that none needs to be drawn."""
        return all(case.identity in self.labels for case in self.population.cases)

    @property
    def good_at_random(self) -> dict[Identity, bool]:
        """Return the majority's label of each answer that was drawn at random; True for good."""
        labels = {identity: self.is_good(identity) for identity in sorted(self.at_random)}
        return {identity: good for identity, good in labels.items() if good is not None}

    def is_good(self, identity: Identity) -> bool | None:
        """Return the majority's label; None without labels or a majority."""
        label = self.labels.get(identity)
        return None if label is None else label >= self.good_from

    def results(self) -> LabellingResults:
        """Return the progress, with the agreement of the raters."""
        return LabellingResults(
            metrics=tuple(column.key for column in self.population.columns),
            wanted=self.wanted,
            labelled=self.done,
            agreement=agreement(self.ratings, self.good_from),
            without_score=self.population.without_score,
            not_counted={"outdated": self.outdated, "not_drawn": self.beyond, "unknown": self.unknown},
            divided=tuple(key for key, _ in self.divided),
        )


def labelling(
    population: AnswerPopulation,
    ratings: Iterable[Label],
    *,
    size: int,
    rounds: int,
    seed: int,
    good_from: int = 1,
) -> Labelling:
    """Return the state of the labelling, with the next answers to label.

    Labels of answers whose text has changed since do not count.

    Args:
        population: the answers that may be drawn.
        ratings: labels of all raters.
        size: labels in all.
        rounds: small samples that they are drawn in.
        seed: of everything random.
        good_from: the lowest label that counts as good.
    """
    current, outdated, unknown = _sorted_out(population, ratings)
    indices = population.indices
    agreed, _ = majority(current)

    def curve(rows: Sequence[int]) -> Floats | None:
        labels = {
            at: agreed[identity] for at in rows if (identity := population.cases[at].identity) in agreed
        }
        return _likelihoods(population, labels, good_from=good_from, seed=seed)

    drawn = draw(
        population.cases,
        {indices[label.identity] for label in current},
        size=size,
        rounds=rounds,
        seed=seed,
        probabilities=curve,
    )
    return _labelling(
        population,
        drawn,
        current,
        wanted=min(size, len(population.cases)),
        good_from=good_from,
        outdated=outdated,
        unknown=unknown,
    )


def labelling_of(population: AnswerPopulation, ratings: Iterable[Label], drawn: Sequence[Drawn]) -> Labelling:
    """Return the state of the labelling of given answers; each of them needs a label, good or bad."""
    current, outdated, unknown = _sorted_out(population, ratings)
    return _labelling(
        population, drawn, current, wanted=len(drawn), good_from=1, outdated=outdated, unknown=unknown
    )


def _sorted_out(population: AnswerPopulation, ratings: Iterable[Label]) -> tuple[list[Label], int, int]:
    """Return the labels of today's answers, and the numbers of labels of earlier and of unknown answers."""
    indices = population.indices
    current, outdated, unknown = [], 0, 0
    for label in ratings:
        if label.identity not in indices:
            unknown += 1
        elif label.answer_id and label.answer_id != population.cases[indices[label.identity]].answer_id:
            outdated += 1
        else:
            current.append(label)
    return current, outdated, unknown


def _labelling(
    population: AnswerPopulation,
    drawn: Sequence[Drawn],
    current: Sequence[Label],
    *,
    wanted: int,
    good_from: int,
    outdated: int,
    unknown: int,
) -> Labelling:
    shown = {population.cases[draw.at].identity for draw in drawn}
    counted = [label for label in current if label.identity in shown]
    labels, divided = majority(counted)
    return Labelling(
        population=population,
        drawn=tuple(drawn),
        wanted=wanted,
        good_from=good_from,
        ratings=tuple(counted),
        labels=labels,
        divided=tuple(divided),
        outdated=outdated,
        beyond=len(current) - len(counted),
        unknown=unknown,
    )


def _likelihoods(
    population: AnswerPopulation, labels: Mapping[int, int], *, good_from: int, seed: int
) -> Floats | None:
    """Return probabilities by a logistic curve of some labels; None if labels or scores do not vary."""
    rows = list(labels)
    values = population.values(rows)
    levels = np.array([labels[at] for at in rows], dtype=np.int64)
    if len({label >= good_from for label in labels.values()}) < 2 or not (values != values[0]).any():
        return None
    metrics = [column.metric for column in population.columns]
    fitted = fit("logistic", values, levels, good_from=good_from, metrics=metrics, seed=seed)
    return probabilities(fitted, population.values(range(len(population.cases))))
