"""The labelled answers that a calibration is labelled of, and how they are divided."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_evalstudio.contrib.calibration.fit.results import LeftOut
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.formats.labels import Labels
from pytest_evalstudio.record.score_table import Column, Identity, Scores, TableAnswer, originals
from pytest_evalstudio.stats.conformal import min_labels
from pytest_evalstudio.stats.types import Booleans, Floats, Integers
from pytest_evalstudio.text.figures import counted

Halves = tuple[Integers, Integers]


class TooFewLabels(ConfigurationError):
    """More labels, or others, are needed before anything can be calibrated."""


FOLDS = 5
MIN_OF_A_KIND = 10
"""Fewest good, and fewest bad answers: each half of each fold's training part has some of them."""
MIN_OF_A_KIND_FOR_CURVE = 5
"""The same where it is said which answers the curve is fitted to."""


@dataclass(frozen=True, slots=True)
class LabelledSample:
    """Answers with a label and all the scores that are asked for.

    Attributes:
        scores: answers × metrics.
        labels: what people said.
        good_from: the lowest label that counts as good.
        cases: number of the original test case that each answer goes back to; answers to one case stay
            together wherever answers are divided.
        left_out: labels that are not among them.
        drawn: mask of the answers that were drawn at random and represent all; None if all were.
        by_level: the curve has a probability for each level, so that each part needs labels of each.
    """

    scores: Floats
    labels: Integers
    good_from: int
    cases: Integers
    left_out: LeftOut
    drawn: Booleans | None = None
    by_level: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def good(self) -> Booleans:
        """Return a mask of the good answers."""
        return self.labels >= self.good_from

    def folds(self, seed: int) -> Iterator[tuple[Integers, Integers]]:
        """(training, test) of a cross-validation."""
        yield from self._divided(np.arange(len(self)), FOLDS, seed)

    def halves(self, rows: Integers, seed: int) -> Halves:
        """Divide rows into halves for curve and conformal prediction, with equal shares of good ones."""
        # Of a division in two, the training part is one half and the test part the other.
        first, second = next(iter(self._divided(rows, 2, seed)))
        return rows[first], rows[second]

    def parts(self) -> Halves:
        """Rows for the curve, and those drawn at random, for its conformal prediction.

        Raises:
            ValueError: if it is unknown which were drawn.
        """
        if self.drawn is None:
            raise ValueError("it is unknown which answers were drawn at random")
        return np.flatnonzero(~self.drawn), np.flatnonzero(self.drawn)

    def only(self, rows: Integers) -> LabelledSample:
        """Return a sample of some of the answers."""
        drawn = None if self.drawn is None else self.drawn[rows]
        return replace(
            self, scores=self.scores[rows], labels=self.labels[rows], cases=self.cases[rows], drawn=drawn
        )

    def check(self, alpha: float, seed: int) -> None:
        """Check that there are labels enough for every fold, or for both parts.

        Raises:
            TooFewLabels: saying how many there must be.
        """
        if self.drawn is not None:
            self._check_parts(alpha)
            self._check_levels(self.parts()[0], MIN_OF_A_KIND_FOR_CURVE)
            return
        good = int(self.good.sum())
        # Half of the training part of a fold, which is 4/5 of all, must give the quantiles; folds may differ
        # in size.
        min_size = max(2 * MIN_OF_A_KIND, -(-min_labels(alpha) * 2 * FOLDS // (FOLDS - 1)) + FOLDS)
        message = f"{good} good and {len(self) - good} bad labelled answers are too few"
        if min(good, len(self) - good) < MIN_OF_A_KIND or len(self) < min_size:
            raise TooFewLabels(
                f"{message}: label at least {min_size} answers (required by alpha = {alpha:g}), including"
                f" {MIN_OF_A_KIND} good and {MIN_OF_A_KIND} bad ones{_lost(self.left_out)};"
                f" {_missing(good, len(self) - good, min_size)} missing"
            )
        self._check_levels(np.arange(len(self)), MIN_OF_A_KIND)
        kinds = set(self._strata.tolist())
        has_area = False  # a fold with labels of one kind has no area under the ROC curve
        for training, test in self.folds(seed):
            has_area |= len(set(self.good[test].tolist())) > 1
            curve, conformal = self.halves(training, seed)
            if (
                set(self._strata[curve].tolist()) != kinds
                or len(conformal) < min_labels(alpha)
                or not len(test)
            ):
                raise self._too_few_cases(message)
        if not has_area:
            raise self._too_few_cases(message)

    def _too_few_cases(self, message: str) -> TooFewLabels:
        return TooFewLabels(
            f"{message}, since they are answers to few test cases ({len(set(self.cases))}); label answers to"
            " more of them"
        )

    @property
    def _strata(self) -> Integers:
        """Return the kind of each answer, of which every part gets its share."""
        return self.labels if self.by_level else self.good.astype(np.int64)

    def _check_levels(self, rows: Integers, min_count: int) -> None:
        levels = np.unique(self.labels)
        if not self.by_level or len(levels) <= 2:
            return
        counts = {int(level): int((self.labels[rows] == level).sum()) for level in levels}
        few = [f"{count} of level {level}" for level, count in counts.items() if count < min_count]
        if few:
            raise TooFewLabels(
                f"too few labels, {' and '.join(few)}: multinomial calibration needs {min_count} of each"
                f" level{_lost(self.left_out)}; label more, join levels, or use --method ordinal"
            )

    def _check_parts(self, alpha: float) -> None:
        for_curve, at_random = (self.good[rows] for rows in self.parts())
        good, bad = int(for_curve.sum()), int((~for_curve).sum())
        if min(good, bad) < MIN_OF_A_KIND_FOR_CURVE:
            raise TooFewLabels(
                f"of the {good + bad} answers that the curve is fitted to, {good} are good and {bad} are"
                f" bad; at least {MIN_OF_A_KIND_FOR_CURVE} of each kind are needed{_lost(self.left_out)};"
                " label more answers"
            )
        if len(at_random) < min_labels(alpha):
            raise TooFewLabels(
                f"only {len(at_random)} labelled answers were drawn at random; alpha = {alpha:g} needs"
                f" {min_labels(alpha)}; label more answers"
            )
        if at_random.all() or not at_random.any():
            kind = "good" if at_random.all() else "bad"
            raise TooFewLabels(
                f"all {len(at_random)} labelled answers drawn at random are {kind}, so error rates cannot"
                " be estimated; label more answers"
            )

    def _divided(self, rows: Integers, parts: int, seed: int) -> Iterator[tuple[Integers, Integers]]:
        splitter = import_extra("sklearn.model_selection", "calibrating").StratifiedGroupKFold(
            parts, shuffle=True, random_state=seed
        )
        try:
            yield from splitter.split(rows, self._strata[rows], self.cases[rows])
        # It refuses fewer test cases than parts.
        except ValueError:
            raise TooFewLabels(
                f"the labelled answers belong to only {counted(len(set(self.cases)), 'test case')}, too"
                " few to split; label answers to more test cases"
            ) from None


def _missing(good: int, bad: int, size: int) -> str:
    """Return the number of labels that are missing, by kind.

    >>> _missing(30, 4, 28), _missing(12, 11, 28)
    ('6 bad answers are', '5 answers are')
    """
    kinds = (("good", MIN_OF_A_KIND - good), ("bad", MIN_OF_A_KIND - bad))
    parts = [f"{count} {kind}" for kind, count in kinds if count > 0]
    total = max(size - good - bad, sum(max(count, 0) for _, count in kinds))
    if not parts:
        return f"{total} answers are"
    more = total - sum(max(count, 0) for _, count in kinds)
    if more:
        parts.append(f"{more} more")
    return " and ".join(parts) + " answers are"


def _lost(left_out: LeftOut) -> str:
    parts = []
    if left_out.without_answer:
        labels = counted(left_out.without_answer, "label is", "labels are")
        parts.append(f"{labels} of answers that are not in the results")
    for metric, count in left_out.without_score.items():
        if count:
            parts.append(f"{counted(count, 'answer has', 'answers have')} no score by {metric}")
    return f" ({'; '.join(parts)})" if parts else ""


def sample(
    scores: Scores,
    labels: Labels,
    columns: Sequence[Column],
    *,
    good_from: int | None = None,
    drawn: Container[tuple[str, str]] | None = None,
) -> LabelledSample:
    """Return the labelled answers of results, without those that lack a score.

    Args:
        labels: by people.
        scores: of the answers.
        columns: the metrics that are asked for.
        good_from: the lowest label that counts as good; may be left out where there are two levels, or one.
        drawn: key and model key of the answers that were drawn at random; None where all were.

    Raises:
        ConfigurationError: if labels have more levels and `good_from` is missing, or a metric is the same
            everywhere.
        DataError: if no label fits an answer, or one fits two.
    """
    answers = _by_label(scores, labels)
    missing = dict.fromkeys((column.key for column in columns), 0)
    rows, levels, indices = [], [], []
    for identity, answer in answers.items():
        values = [answer.score(column.key) for column in columns]
        for column, value in zip(columns, values, strict=True):
            missing[column.key] += value is None
        if None not in values:
            rows.append(values)
            levels.append(labels[identity])
            indices.append(answer)
    numbers: dict[tuple[str, str], int] = {}
    home = {(answer.file, answer.key): position for answer, position in originals(scores.answers.values())}
    cases = [numbers.setdefault(home[answer.file, answer.key], len(numbers)) for answer in indices]
    labelled = LabelledSample(
        # Without rows, the array would have one dimension.
        np.array(rows, dtype=np.float64).reshape(len(rows), len(columns)),
        np.array(levels, dtype=np.int64),
        _good_from(set(levels), good_from),
        np.array(cases, dtype=np.int64),
        LeftOut(without_answer=len(labels) - len(answers), without_score=missing),
        (
            None
            if drawn is None
            else np.array([(answer.key, answer.model_key) in drawn for answer in indices], dtype=np.bool_)
        ),
    )
    for column, values in zip(columns, labelled.scores.T, strict=True):
        if len(values) and values.min() == values.max():
            raise TooFewLabels(
                f"all {len(values)} labelled answers have the same score {values[0]:g} by {column.key}, so"
                " it cannot separate good from bad; label more answers, or choose another metric"
            )
    return labelled


def _by_label(scores: Scores, labels: Labels) -> dict[tuple[str, str], TableAnswer]:
    answers: dict[tuple[str, str], TableAnswer] = {}
    for identity in scores.answers:
        case_id = identity[1:]
        if case_id not in labels:
            continue
        if case_id in answers:
            raise DataError(
                f"{case_id[0]!r} of model {case_id[1]!r} is in {answers[case_id].file!r} and"
                f" {identity[0]!r}, so it is unclear which one its label belongs to; give the results of"
                " one file, or make keys unique"
            )
        answers[case_id] = scores.answers[identity]
    if not answers:
        raise DataError(
            f"no label belongs to an answer in the results{_example(scores.answers)}; the labels have"
            f" e.g. {_described(next(iter(labels)))}"
        )
    return answers


def _example(answers: dict[Identity, TableAnswer]) -> str:
    first = next(iter(answers), None)
    return f": they have e.g. {_described(first[1:])}" if first else ", since there are none"


def _described(identity: tuple[str, ...]) -> str:
    return f"key {identity[0]!r}, model_key {identity[1]!r}"


def _good_from(levels: set[int], level: int | None) -> int:
    if level is not None:
        return level
    # Where all labels are 0, the highest level is not a good one.
    if levels <= {0, 1}:
        return 1
    if len(levels) > 2:
        raise ConfigurationError(
            f"labels have the levels {', '.join(map(str, sorted(levels)))}: give the lowest level that"
            f" counts as good, e.g. --good {max(levels)}"
        )
    return max(levels)
