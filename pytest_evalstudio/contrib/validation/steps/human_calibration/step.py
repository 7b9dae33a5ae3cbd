"""Step 5: calibrate a metric by labels of people."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.calibration.fit.calibrate import Calibrated, calibrate
from pytest_evalstudio.contrib.calibration.fit.decision import risk_rule
from pytest_evalstudio.contrib.calibration.fit.every_metric import every_metric
from pytest_evalstudio.contrib.calibration.fit.guardrail import guardrail_use
from pytest_evalstudio.contrib.calibration.fit.results import MetricFigures
from pytest_evalstudio.contrib.calibration.fit.sample import TooFewLabels
from pytest_evalstudio.contrib.calibration.labelling.cases import (
    AnswerPopulation,
    NothingVaries,
    choose_population,
)
from pytest_evalstudio.contrib.calibration.labelling.problems import problems
from pytest_evalstudio.contrib.calibration.labelling.sheet import new_labels
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling, LabellingResults, labelling
from pytest_evalstudio.contrib.validation.methods.typed_results import shallow
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.human_calibration.outcome import (
    more_labels,
    progress_summary,
    result_notes,
    result_summary,
)
from pytest_evalstudio.contrib.validation.steps.human_calibration.results import CalibrationResults
from pytest_evalstudio.contrib.validation.steps.human_calibration.verdicts import (
    describe_agreement,
    verdict_agreement,
    verdict_population,
    verdict_problems,
)
from pytest_evalstudio.contrib.validation.steps.human_calibration.writing import (
    LABELS,
    TO_LABEL,
    write_calibrations,
    write_figures,
    write_review,
    write_sample,
    write_sheet,
)
from pytest_evalstudio.contrib.validation.workflow.calibration import ID, CalibrationOutcome
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.parameters import Count, Level, Name, Names
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.labels import Label, read_ratings
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.scoring.calibration.file import Coverage, Method
from pytest_evalstudio.stats.risk_rule import RiskRule

ONE_METRIC = ("isotonic", "boosting")


@step(ID, name="Human calibration", number=5, after=(EVALUATION,), extra="mrm")
@dataclass(frozen=True)
class HumanCalibration:
    """Derive thresholds, probabilities, conformal sets and error rates from labels of a sample of answers.

    Where all metrics are of yes and no, the labels are compared with the verdicts.

    Attributes:
        sample_size: labels that are wanted in all.
        rounds: small samples that they are drawn in, each one where the labels before it leave most doubt.
        alpha: share of answers whose conformal set may miss people's label.
        method: how scores become probabilities: "logistic", "isotonic", "ordinal" or "boosting".
        metric: `evaluator.metric`, or several that make one score; the primary metric of the first evaluator
            whose scores say how much, where not given.
        labels: CSV file with the labels, from the workflow file's folder; `labels.csv` among the workflow's
            artifacts, where not given.
        good: the lowest label that counts as good, where labels have more than two levels.
        max_type_i: largest share of good answers that may fail.
        max_type_ii: largest share of bad answers that may pass.
        cost: "A:B", costs of a good answer that fails and of a bad one that passes. At most one of these
            three; without any, the threshold makes the mean of both error rates smallest.
        coverage: "class" if alpha holds for good and for bad answers each, "marginal" if for all together.
    """

    sample_size: Annotated[int, Field(ge=20)] = 40
    rounds: Count = 4
    alpha: Level = 0.1
    method: Method = "logistic"
    metric: Name | Names = field(default_factory=list)
    labels: str = ""
    good: int | None = None
    max_type_i: Level | None = None
    max_type_ii: Level | None = None
    cost: str = ""
    coverage: Coverage = "class"

    def __post_init__(self) -> None:
        if self.rounds * 2 > self.sample_size:
            raise ValueError(
                f"rounds = {self.rounds}: expected at most half of sample_size = {self.sample_size}"
            )
        if len(self.metrics) > 1 and self.method in ONE_METRIC:
            raise ValueError(f"method = {self.method!r}: takes one metric; logistic takes several")
        try:
            self.rule()
        except ConfigurationError as exc:
            raise ValueError(str(exc)) from None
        if self.labels and not self.labels.lower().endswith(".csv"):
            raise ValueError(f"labels = {self.labels!r}: expected the name of a CSV file, which ends in .csv")

    def rule(self) -> RiskRule:
        """Return the rule that chooses thresholds.

        Raises:
            ConfigurationError: if parameters exclude each other or are out of range.
        """
        return risk_rule(self.max_type_i, self.max_type_ii, self.cost)

    @property
    def metrics(self) -> list[str]:
        """Return the names of the metrics."""
        if isinstance(self.metric, list):
            return self.metric
        return [self.metric] if self.metric else []

    def reads(self, home: Path, base: Path) -> Sequence[Path]:
        """Files whose content counts, beside the artifacts: the labels."""
        return [self.labels_file(home, base)]

    def labels_file(self, home: Path, base: Path) -> Path:
        """Return the path of the labels; the review page writes this file.

        Raises:
            ConfigurationError: if `labels` leads out of the folder of the workflow's file.
        """
        if not self.labels:
            return home / LABELS
        try:
            return path_below(base, self.labels)
        except ValueError as exc:
            raise ConfigurationError(f"labels: {exc}") from None

    def ratings(self, path: Path) -> list[Label]:
        """Return the labels of the file, [] without one.

        Raises:
            DataError: if there is one, and it holds something else.
        """
        return read_ratings(path, levels=self.good is not None) if path.is_file() else []

    def population(self, evaluation: Path, evaluators: Sequence[str]) -> AnswerPopulation:
        """Return the answers that may be drawn.

        Raises:
            ConfigurationError: if the metric is none of the evaluation's, or there is none.
        """
        record = evaluation / FILE
        scores = read_scores([record])
        try:
            return choose_population(record, scores, self.metrics, evaluators)
        except NothingVaries:
            return verdict_population(record, scores, evaluators)

    def labelling_state(self, population: AnswerPopulation, ratings: Sequence[Label], seed: int) -> Labelling:
        """Return the state of the labelling."""
        return labelling(
            population,
            ratings,
            size=self.sample_size,
            rounds=self.rounds,
            seed=seed,
            good_from=1 if self.good is None else self.good,
        )

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        try:
            population = self.population(
                context.artifacts(EVALUATION),
                context.workflow.evaluators or context.config.evaluators or (),
            )
        except NothingVaries as exc:
            return StepResult(summary=f"nobody is asked: {exc}")
        ratings = self.ratings(self.labels_file(context.home, context.base))
        state = self.labelling_state(population, ratings, context.workflow.seed)
        progress = state.results()
        write_sample(context, state, progress)
        about = progress_summary(state)
        unread = new_labels(context.home / TO_LABEL, ratings, levels=self.good is not None)
        if not state.is_complete:
            return StepResult(
                summary=f"{about}: {write_sheet(context, state, unread)}",
                notes=self._few(state),
                waits=f"{state.done} of {state.wanted} labels",
                figures=progress,
            )
        # All labels are there: nobody needs the sheet any more.
        if not unread:
            (context.home / TO_LABEL).unlink(missing_ok=True)
        if not self.metrics and not population.primaries:
            agreement = verdict_agreement(state, progress)
            return StepResult(
                summary=f"{about}: {describe_agreement(agreement)}",
                figures=agreement,
                problems=tuple(verdict_problems(agreement, state)),
            )
        try:
            calibrated = self._calibrated(state, progress.metrics, context.workflow.seed, self.method)
        except TooFewLabels as exc:
            more = more_labels(state)
            return StepResult(
                summary=f"{about}: {more}",
                waits=f"{state.done} of {state.wanted} labels, but {exc}; {more}",
                figures=progress,
            )
        results = self._results(context, state, progress, calibrated)
        return StepResult(
            summary=f"{about}: {result_summary(results)}",
            notes=tuple(result_notes(results)),
            figures=results,
            problems=tuple(problems(state, results, progress.agreement, step=ID)),
        )

    def _results(
        self, context: StepContext, state: Labelling, progress: LabellingResults, calibrated: Calibrated
    ) -> CalibrationResults:
        """Calibrate the other primary metrics, write the artifacts, and return the results."""
        seed = context.workflow.seed
        method = self.method if len(progress.metrics) == 1 else "logistic"
        by_metric, accepted = every_metric(
            calibrated,
            state.population.primaries,
            lambda metric: self._calibrated(state, [metric], seed, method),
        )
        write_calibrations(context.folder, state, calibrated, accepted)
        to_review = write_review(context.folder, state, calibrated)
        outcome = outcome_of(state, by_metric, to_review, self.rule(), seed)
        results = CalibrationResults(**(shallow(progress) | shallow(calibrated.figures) | shallow(outcome)))
        write_figures(context.folder, results)
        return results

    def _few(self, state: Labelling) -> tuple[str, ...]:
        """Return a note if the evaluation is too small to be labelled."""
        if len(state.population.cases) >= self.sample_size:
            return ()
        return (
            (
                f"there are {len(state.population.cases)} answers with a score, fewer than sample_size ="
                f" {self.sample_size}: their labels may be too few of a kind; raise `count` of"
                " test_generation before you label them"
            ),
        )

    def _calibrated(self, state: Labelling, metrics: Sequence[str], seed: int, method: Method) -> Calibrated:
        """Return a calibration by the random half of the labels.

        Where all answers are labelled, no draw divides them, and cross-fitting takes the place of the halves
        if these have too few answers of a kind.
        """
        if not state.labels:
            raise TooFewLabels("raters are divided on every answer")
        calibrated = functools.partial(
            calibrate,
            state.population.scores,
            state.labels,
            metrics,
            method=method,
            alpha=self.alpha,
            seed=seed,
            good_from=state.good_from,
            rule=self.rule(),
            coverage=self.coverage,
        )
        try:
            return calibrated(drawn=state.at_random)
        except TooFewLabels:
            if not state.is_exhaustive:
                raise
        return calibrated(drawn=None)


def outcome_of(
    labelling: Labelling,
    by_metric: tuple[MetricFigures, ...],
    to_review: Mapping[str, int],
    rule: RiskRule,
    seed: int,
) -> CalibrationOutcome:
    """Return the results for later steps.

    Args:
        labelling: the labels.
        by_metric: calibrations of all primary metrics.
        to_review: number of answers that people should read, by reason.
        rule: of the thresholds.
        seed: of the bootstrap.
    """
    thresholds = {each.metric: each.threshold for each in by_metric if each.threshold is not None}
    return CalibrationOutcome(
        thresholds=thresholds,
        to_review=to_review,
        accepted=tuple(
            case.key for case in labelling.cases if case.verdict is False and labelling.is_good(case.identity)
        ),
        by_metric=by_metric,
        guardrail=guardrail_use(
            labelling.population.scores, labelling.good_at_random, thresholds, rule, seed
        ),
    )
