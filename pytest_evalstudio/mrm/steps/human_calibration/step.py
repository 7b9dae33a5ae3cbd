"""Step 5: calibrate a metric by labels of people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.calibration import Coverage, Method
from pytest_evalstudio.formats.labels import Label, read_ratings
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.human_calibration.agreement import agreement
from pytest_evalstudio.mrm.steps.human_calibration.calibrate import Calibrated, calibrate
from pytest_evalstudio.mrm.steps.human_calibration.cases import NothingVaries, Population, read_population
from pytest_evalstudio.mrm.steps.human_calibration.decision import risk_rule
from pytest_evalstudio.mrm.steps.human_calibration.every_metric import (
    MetricCalibration,
    not_calibrated,
    summarised,
)
from pytest_evalstudio.mrm.steps.human_calibration.labelling import Labelling, Wanted, labelling
from pytest_evalstudio.mrm.steps.human_calibration.outcome import problems
from pytest_evalstudio.mrm.steps.human_calibration.results import (
    ID,
    LABELS,
    TO_LABEL,
    CalibrationResults,
    LabellingResults,
)
from pytest_evalstudio.mrm.steps.human_calibration.sample import TooFewLabels
from pytest_evalstudio.mrm.steps.human_calibration.sheet import new_labels
from pytest_evalstudio.mrm.steps.human_calibration.writing import (
    divided_keys,
    not_counted,
    write_results,
    write_sample,
    write_sheet,
)
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.parameters import Count, Level, Name, Names
from pytest_evalstudio.stats.risk import RiskRule

ONE_METRIC = ("isotonic", "boosting")
KEPT = "later steps keep the evaluation's threshold"


@step(ID, name="Human calibration", number=5, after=(EVALUATION,), extra="mrm")
@dataclass(frozen=True)
class HumanCalibration:
    """Derive thresholds, probabilities, conformal sets and error rates from labels of a sample of answers.

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

    def population(self, evaluation: Path, evaluators: Sequence[str]) -> Population:
        """Return the answers that may be drawn.

        Raises:
            ConfigurationError: if the metric is none of the evaluation's, or there is none.
        """
        return read_population(evaluation, self.metrics, evaluators)

    def stand(self, population: Population, ratings: Sequence[Label], seed: int) -> Labelling:
        """Return the state of the labelling."""
        good_from = 1 if self.good is None else self.good
        return labelling(
            population,
            ratings,
            Wanted(size=self.sample_size, rounds=self.rounds, seed=seed, good_from=good_from),
        )

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        try:
            population = self.population(
                context.artifacts(EVALUATION),
                context.workflow.evaluators or context.config.evaluators or (),
            )
        except NothingVaries as exc:
            return StepResult(summary=f"nothing is calibrated: {exc}")
        ratings = self.ratings(self.labels_file(context.home, context.base))
        stand = self.stand(population, ratings, context.workflow.seed)
        names = [column.key for column in population.columns]
        agreed = agreement(stand.ratings, stand.good_from)
        write_sample(context, stand, names)
        progress = LabellingResults(
            metrics=tuple(names),
            wanted=stand.wanted,
            labelled=stand.done,
            agreement=agreed,
            without_score=stand.population.without_score,
            not_counted=not_counted(stand),
            divided=divided_keys(stand),
        )
        about = _about(stand, names)
        unread = new_labels(context.home / TO_LABEL, ratings, levels=self.good is not None)
        if not stand.is_complete:
            how = write_sheet(context, stand, names, unread)
            return StepResult(
                summary=f"{about}: {how}",
                notes=self._few(stand),
                waits=f"{stand.done} of {stand.wanted} labels",
                figures=progress,
            )
        if not unread:
            (context.home / TO_LABEL).unlink(missing_ok=True)
        try:
            calibrated = self._calibrated(stand, names, context.workflow.seed)
        except TooFewLabels as exc:
            return StepResult(
                summary=f"{about}: {_more(stand)}",
                waits=f"{stand.done} of {stand.wanted} labels, but {exc}; {_more(stand)}",
                figures=progress,
            )
        others = self._others(stand, names, context.workflow.seed)
        every = [*([summarised(calibrated)] if len(names) == 1 else []), *others]
        figures = write_results(context, stand, calibrated, every, progress, self.rule())
        return StepResult(
            summary=f"{about}: {_summary(figures)}",
            notes=tuple(_step_notes(figures)),
            figures=figures,
            problems=tuple(problems(stand, calibrated.figures, agreed)),
        )

    def _few(self, stand: Labelling) -> tuple[str, ...]:
        """Return a note if the evaluation is too small to be labelled."""
        if len(stand.population.cases) >= self.sample_size:
            return ()
        return (
            (
                f"there are {len(stand.population.cases)} answers with a score, fewer than sample_size ="
                f" {self.sample_size}: their labels may be too few of a kind; raise `count` of"
                " test_generation before you label them"
            ),
        )

    def _others(self, stand: Labelling, names: Sequence[str], seed: int) -> list[MetricCalibration]:
        """Return the calibrations of the other primary metrics by the same labels."""
        made = []
        for key in stand.population.primaries:
            if [key] == list(names):
                continue
            method = "logistic" if len(names) > 1 else self.method
            try:
                made.append(summarised(self._calibrated(stand, [key], seed, method)))
            except ConfigurationError as exc:
                made.append(not_calibrated(key, exc))
        return made

    def _calibrated(
        self, stand: Labelling, names: Sequence[str], seed: int, method: Method | None = None
    ) -> Calibrated:
        if not stand.labels:
            raise TooFewLabels("raters are divided on every answer")
        scores = stand.population.scores
        return calibrate(
            scores,
            stand.labels,
            names,
            method=method or self.method,
            alpha=self.alpha,
            seed=seed,
            good_from=stand.good_from,
            drawn=stand.at_random,
            rule=self.rule(),
            coverage=self.coverage,
        )


def _step_notes(figures: CalibrationResults) -> Iterator[str]:
    """Yield what people should know of the thresholds."""
    for refusal in figures.refusals:
        yield f"refused: {refusal.text}; {KEPT}"
    yield from figures.notes
    for each in figures.by_metric:
        if each.metric in figures.metrics:
            continue
        if each.accepted:
            yield f"{each.metric}: calibrated by the same labels, threshold {each.threshold:.4g}"
        else:
            yield f"{each.metric}: not calibrated, {KEPT}: {'; '.join(each.reasons)}"


def _about(stand: Labelling, names: Sequence[str]) -> str:
    why = f" ({stand.population.chosen_by})" if stand.population.chosen_by else ""
    parts = [f"{stand.done} of {stand.wanted} answers labelled for {', '.join(names)}{why}"]
    if stand.outdated:
        parts.append(f"{stand.outdated} labels are of answers that have changed since")
    if stand.beyond:
        parts.append(
            f"{stand.beyond} labels are of answers that are not drawn and do not count; a greater sample_size"
            " may draw them"
        )
    if stand.unknown:
        parts.append(f"{stand.unknown} labels are of answers that are not in the evaluation")
    if stand.divided:
        parts.append(f"raters are divided on {len(stand.divided)}, which do not count")
    return "; ".join(parts)


def _more(stand: Labelling) -> str:
    if stand.wanted < len(stand.population.cases):
        return "raise sample_size; the labels that there are stay, and more answers are drawn"
    return "all answers are labelled; more test cases are needed (`count` of test_generation)"


def _summary(results: CalibrationResults) -> str:
    use = results.guardrail
    flags = (
        ""
        if use is None
        else f"; expected: {use.flagged:.0%} flagged, {use.misses_per_1000:.0f} misses per 1,000"
    )
    alpha = results.agreement.krippendorff_alpha
    raters = "" if alpha is None else f"; raters' alpha {alpha:.2f}"
    disagreements = results.to_review["disagreement"]
    return (
        f"{_quality(results)}{raters}{flags}; "
        f"to review: {results.to_review['uncertain']} uncertain,"
        f" {disagreements} {'disagreement' if disagreements == 1 else 'disagreements'} with reviewers"
    )


def _quality(results: CalibrationResults) -> str:
    """Return threshold and error rates, or the reasons for a refusal."""
    if results.threshold is None:
        codes = ", ".join(refusal.code for refusal in results.refusals)
        return (
            f"the calibration is refused ({codes})"
            if codes
            else "no threshold corresponds to the calibration"
        )
    before = f" (the run's: {results.before.threshold:.4g})" if results.before else ""
    kappa = "" if results.kappa is None else f", kappa {results.kappa:.2f}"
    return (
        f"threshold {results.threshold:.4g} of {results.threshold_of}{before}; type I {results.type_1:.2f},"
        " type II"
        f" {results.type_2:.2f}{kappa}"
    )
