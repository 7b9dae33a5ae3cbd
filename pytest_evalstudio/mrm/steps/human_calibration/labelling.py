"""State of the labelling: answers drawn, labels given, and the next answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.formats.labels import Identity, Label, majority
from pytest_evalstudio.mrm.steps.human_calibration.cases import Case, Population
from pytest_evalstudio.mrm.steps.human_calibration.curves import fit, probabilities
from pytest_evalstudio.mrm.steps.human_calibration.draw import Drawn, draw

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Number of labels that are wanted, and how their answers are drawn.

    Attributes:
        size: labels in all.
        rounds: small samples that they are drawn in.
        good_from: the lowest label that counts as good.
    """

    size: int
    rounds: int
    seed: int
    good_from: int = 1


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

    population: Population
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
    def cases(self) -> list[Case]:
        """Return the answers that are shown, in order."""
        return [self.population.cases[one.at] for one in self.drawn]

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
        """The answers that were drawn whatever their scores, apart from those for the curve."""
        return {self.population.cases[one.at].identity for one in self.drawn if one.part == "conformal"}

    def is_good(self, identity: Identity) -> bool | None:
        """Return the majority's label; None without labels or a majority."""
        label = self.labels.get(identity)
        return None if label is None else label >= self.good_from


def labelling(population: Population, ratings: Iterable[Label], wanted: Wanted) -> Labelling:
    """Return the state of the labelling, with the next answers to label.

    Labels of answers whose text has changed since do not count.
    """
    sorted_out = _sorted_out(population, ratings)
    numbers = sorted_out.numbers
    agreed, _ = majority(sorted_out.known)

    def curve(rows: Sequence[int]) -> Floats | None:
        return _chances(
            population,
            {at: agreed[identity] for at in rows if (identity := population.cases[at].identity) in agreed},
            wanted,
        )

    labelled = {numbers[label.identity] for label in sorted_out.known}
    drawn = draw(
        population.candidates(),
        labelled,
        size=wanted.size,
        rounds=wanted.rounds,
        seed=wanted.seed,
        probabilities=curve,
    )
    return _stand(population, sorted_out, drawn, min(wanted.size, len(population.cases)), wanted.good_from)


def labelling_of(population: Population, ratings: Iterable[Label], drawn: Sequence[Drawn]) -> Labelling:
    """Return the state of the labelling of given answers; each of them needs a label, good or bad."""
    return _stand(population, _sorted_out(population, ratings), drawn, len(drawn), 1)


@dataclass(frozen=True, slots=True)
class _SortedOut:
    """Labels of today's answers, and how many are of others.

    Attributes:
        numbers: of the answers, by identity.
    """

    numbers: dict[Identity, int]
    known: list[Label]
    outdated: int
    unknown: int


def _sorted_out(population: Population, ratings: Iterable[Label]) -> _SortedOut:
    numbers = {case.identity: at for at, case in enumerate(population.cases)}
    known, outdated, unknown = [], 0, 0
    for label in ratings:
        if label.identity not in numbers:
            unknown += 1
        elif label.answer_id and label.answer_id != population.cases[numbers[label.identity]].answer_id:
            outdated += 1
        else:
            known.append(label)
    return _SortedOut(numbers, known, outdated, unknown)


def _stand(
    population: Population, found: _SortedOut, drawn: Sequence[Drawn], wanted: int, good_from: int
) -> Labelling:
    shown = {population.cases[one.at].identity for one in drawn}
    counted = [label for label in found.known if label.identity in shown]
    labels, divided = majority(counted)
    return Labelling(
        population=population,
        drawn=tuple(drawn),
        wanted=wanted,
        good_from=good_from,
        ratings=tuple(counted),
        labels=labels,
        divided=tuple(divided),
        outdated=found.outdated,
        beyond=len(found.known) - len(counted),
        unknown=found.unknown,
    )


def _chances(population: Population, labels: dict[int, int], wanted: Wanted) -> Floats | None:
    """Return probabilities by a logistic curve of some labels; None if labels or scores do not vary."""
    rows = list(labels)
    values = population.values(rows)
    said = np.array([labels[at] for at in rows], dtype=np.int64)
    if len({label >= wanted.good_from for label in labels.values()}) < 2 or not (values != values[0]).any():
        return None
    metrics = [column.metric for column in population.columns]
    fitted = fit("logistic", values, said, good_from=wanted.good_from, metrics=metrics, seed=wanted.seed)
    return probabilities(fitted, population.values(range(len(population.cases))))
