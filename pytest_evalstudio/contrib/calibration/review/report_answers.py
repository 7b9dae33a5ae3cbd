"""Answers of a run's report: those with an uncertain verdict, all that have a score, or a sample."""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.calibration.labelling.cases import (
    LabelledCase,
    measured,
    population_of,
    says_how_much,
)
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling, labelling_of
from pytest_evalstudio.contrib.calibration.review.sample import sample_of
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.labels import Identity, Label
from pytest_evalstudio.record.reader import RecordReader, read_run, record_path
from pytest_evalstudio.record.schema import EvaluatorEntry, Run
from pytest_evalstudio.record.score_table import Column, Scores
from pytest_evalstudio.scoring.calibration.conformal import ConformalSet

ALONE = (
    "labels of uncertain answers alone are no sample of all: what calibrate says of errors and coverage holds"
    " for answers like these; for a new calibration label answers drawn at random (--all)"
)


class ReportAnswers:
    """A source of a review.

    Args:
        place: folder of a report, or its record, as people name it.
        metrics: `evaluator.metric`, or metric keys that one evaluator alone has; may be left out where there
            is one to choose.
        labels: the file of the labels, as people name it.
        every: whether all answers with a score are asked for, in an order drawn by their keys; else those
            with an uncertain verdict, the nearest to a probability of 0.5 first.
        budget: size of a sample that is asked for instead, see `sample`. It is written to the file of the
            labels.

    Raises:
        ConfigurationError: if metrics do not say what to ask for, or there is no folder for the labels.
        DataError: if there is no record, or a label could be of two of its answers.
    """

    good = None

    def __init__(
        self,
        location: str,
        *,
        metrics: Sequence[str] = (),
        labels: str = "labels.csv",
        every: bool = False,
        budget: int | None = None,
    ) -> None:
        path = record_path(location)
        self.labels = Path(labels)
        if not self.labels.parent.is_dir():
            raise ConfigurationError(f"--labels {labels}: there is no folder {self.labels.parent}; make it")
        run = read_run(path)
        scores = read_scores([path])
        choice = _Choice(location, scores, run.evaluators)
        # A sample is one of all answers.
        every = every or budget is not None
        columns = choice.of_all(metrics) if every else [choice.calibrated(metrics)]
        self.population = population_of(path, scores, columns)
        self._doubts = _doubts(path, run.evaluators, columns)
        self._drawn = self._all() if every else self._uncertain()
        _check_identities(location, scores, [self.population.cases[draw.at].identity for draw in self._drawn])
        if budget is not None:
            self._drawn = sample_of(self.population, self.labels, budget)
        names = ", ".join(column.key for column in columns)
        self.title = f"{_named(run, location)}: {names}"
        self.advice = "" if every else ALONE
        self.nothing = (
            f"{location}: no answer has a score by {names}"
            if every or not self.population.cases
            else (
                f"{location}: no verdict by {names} is uncertain, of {len(self.population.cases)} answers;"
                " --all asks for all of them"
            )
        )
        made_of = dict.fromkeys(key for column in columns for key in _made_of(column, run.evaluators))
        self.command = shlex.join(
            ["evalstudio", "calibrate", location, labels, "--metric", ",".join(made_of)]
        )
        if budget is not None:
            keys = ",".join(column.key for column in columns)
            self.command = shlex.join(
                ["evalstudio", "review", location, "--estimate", "--labels", labels, "--metric", keys]
            )

    def labelling_state(self, ratings: Sequence[Label]) -> Labelling:
        """Return the state of the labelling; all answers are drawn from the start."""
        return labelling_of(self.population, ratings, self._drawn)

    def doubt(self, case: LabelledCase) -> str:
        """Return the reason why a verdict is uncertain, "" for a certain one."""
        return self._doubts.get(case.identity, "")

    def goes_on(self, *, complete: bool) -> str:
        """Return the next action: the calibration, with the labels that there are."""
        return f"`{self.command}` goes on" + (
            "" if complete else " when there are enough; the same review asks for the others"
        )

    def _all(self) -> list[Drawn]:
        cases = self.population.cases
        # By digests of the keys: the order is the same for each rater, whatever that of the run.
        order = sorted(
            range(len(cases)),
            key=lambda at: hashlib.sha256(
                "\0".join(cases[at].identity).encode("utf-8", "backslashreplace")
            ).digest(),
        )
        return [Drawn(at=at, round=1, part="conformal", reason="random") for at in order]

    def _uncertain(self) -> list[Drawn]:
        (column,) = self.population.columns
        ranked = [
            (abs(case.scores[column.key] - 0.5), at)
            for at, case in enumerate(self.population.cases)
            if self._doubts.get(case.identity)
        ]
        return [Drawn(at=at, round=1, part="curve", reason="uncertain") for _, at in sorted(ranked)]


class _Choice:
    """Metrics of a record that people label."""

    def __init__(self, location: str, scores: Scores, evaluators: Mapping[str, EvaluatorEntry]) -> None:
        self._place = location
        self._scores = scores
        self._evaluators = evaluators
        self._calibrated = [column for column in scores.columns.values() if column.is_calibrated]

    def calibrated(self, names: Sequence[str]) -> Column:
        """Return the probability of the evaluator whose uncertain verdicts are requested."""
        names_of_evaluators = {self._scores.column(name).evaluator for name in names}
        candidates = [
            column for column in self._calibrated if not names or column.evaluator in names_of_evaluators
        ]
        if not candidates:
            names_text = f"{', '.join(sorted(names_of_evaluators))}: " if names else ""
            raise ConfigurationError(
                f"{self._place}: {names_text}no calibration yet, so no verdict can be uncertain; label"
                " answers with --all, then run `evalstudio calibrate`"
            )
        if len(candidates) > 1:
            raise ConfigurationError(
                f"{self._place}: several evaluators have a calibration; say which with --metric:"
                f" {', '.join(column.key for column in candidates)}"
            )
        return candidates[0]

    def of_all(self, names: Sequence[str]) -> list[Column]:
        """Return the metrics of which all answers are requested."""
        if names:
            return [self._scores.column(name) for name in names]
        measuring = [measured(id, entry) for id, entry in self._evaluators.items() if says_how_much(entry)]
        columns = self._calibrated or [self._scores.column(key) for key in measuring]
        if len(columns) != 1:
            keys = ", ".join(column.key for column in columns)
            raise ConfigurationError(
                f"{self._place}: several evaluators could be calibrated; say which with --metric: {keys}"
                if columns
                else (
                    f"{self._place}: no evaluator of this run says how much, not only whether: there is"
                    " nothing to calibrate"
                )
            )
        return columns


def _doubts(
    path: Path, evaluators: Mapping[str, EvaluatorEntry], columns: Sequence[Column]
) -> dict[Identity, str]:
    """Return the reasons of uncertain verdicts by key and model key."""
    calibrated = {
        column.evaluator: evaluators[column.evaluator].calibration["alpha"]
        for column in columns
        if column.is_calibrated
    }
    doubts = {}
    # Without a calibration no verdict is uncertain: the record need not be read.
    for item in RecordReader(path).items() if calibrated else ():
        for id, alpha in calibrated.items():
            verdict = item.verdicts.get(id)
            if verdict is not None and verdict.uncertain:
                possible = ConformalSet(labels=verdict.conformal_set or (), alpha=alpha)
                doubts[item.key, item.model_key] = possible.doubt
    return doubts


def _check_identities(location: str, scores: Scores, identities: Sequence[Identity]) -> None:
    """Check that no label could be of two answers, since labels do not say of which file they are."""
    counts = Counter(identities)
    files: dict[Identity, str] = {}
    for file, key, model_key in scores.answers:
        before = files.setdefault((key, model_key), file)
        if before != file and (key, model_key) in counts:
            raise DataError(
                f"{location}: {key!r} of model {model_key!r} is in {before!r} and in {file!r}, so it is"
                " unclear which one its label belongs to; run one of the files alone, or make keys unique"
            )


def _made_of(column: Column, evaluators: Mapping[str, EvaluatorEntry]) -> list[str]:
    """Return the metrics that a calibration with this probability is made of, else the metric itself."""
    return list(evaluators[column.evaluator].calibration["metrics"]) if column.is_calibrated else [column.key]


def _named(run: Run, location: str) -> str:
    """Return the name of a run: that of its file if it has one file with a name, else that of its folder."""
    names = [file.name for file in run.files]
    return names[0] if len(names) == 1 and names[0] else Path(location).name
