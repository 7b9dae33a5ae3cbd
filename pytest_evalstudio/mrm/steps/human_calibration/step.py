"""Step 5: calibrate a metric by labels of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.calibration import Method
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.labels import Label, read_ratings
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.human_calibration.agreement import agreement
from pytest_evalstudio.mrm.steps.human_calibration.calibrate import Calibrated, calibrate
from pytest_evalstudio.mrm.steps.human_calibration.cases import NothingVaries, Population, read_population
from pytest_evalstudio.mrm.steps.human_calibration.labelling import Labelling, Wanted, labelling
from pytest_evalstudio.mrm.steps.human_calibration.outcome import drawn_answers, picture, problems, to_review
from pytest_evalstudio.mrm.steps.human_calibration.results import (
    CALIBRATION,
    CURVE,
    FIGURES,
    ID,
    LABELS,
    SAMPLE,
    TO_LABEL,
    TO_REVIEW,
    CalibrationFigures,
    CalibrationResults,
    LabellingResults,
)
from pytest_evalstudio.mrm.steps.human_calibration.sample import TooFewLabels
from pytest_evalstudio.mrm.steps.human_calibration.sheet import new_labels, sheet
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.parameters import Count, Level, Name, Names

ONE_METRIC = ("isotonic", "boosting")
NOT_PASSED_ON = (
    "verdicts by this threshold agree with people no better than chance: later steps keep the evaluation's"
)


@step(ID, name="Human calibration", number=5, after=(EVALUATION,), extra="mrm")
@dataclass(frozen=True)
class HumanCalibration:
    """Derive probabilities, threshold, conformal sets and error rates from labels of a sample of answers.

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
    """

    sample_size: Annotated[int, Field(ge=20)] = 40
    rounds: Count = 4
    alpha: Level = 0.1
    method: Method = "logistic"
    metric: Name | Names = field(default_factory=list)
    labels: str = ""
    good: int | None = None

    def __post_init__(self) -> None:
        if self.rounds * 2 > self.sample_size:
            raise ValueError(
                f"rounds = {self.rounds}: expected at most half of sample_size = {self.sample_size}"
            )
        if len(self.metrics) > 1 and self.method in ONE_METRIC:
            raise ValueError(f"method = {self.method!r}: takes one metric; logistic takes several")
        if self.labels and not self.labels.lower().endswith(".csv"):
            raise ValueError(f"labels = {self.labels!r}: expected the name of a CSV file, which ends in .csv")

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
        _write_sample(context, stand, names)
        progress = LabellingResults(
            metrics=tuple(names),
            wanted=stand.wanted,
            labelled=stand.done,
            agreement=agreed,
            without_score=stand.population.without_score,
            not_counted=_not_counted(stand),
            divided=_divided(stand),
        )
        about = _about(stand, names)
        unread = new_labels(context.home / TO_LABEL, ratings, levels=self.good is not None)
        if not stand.is_complete:
            how = _write_sheet(context, stand, names, unread)
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
        figures = _write_results(context, stand, calibrated, progress)
        return StepResult(
            summary=f"{about}: {_summary(figures)}",
            notes=() if figures.thresholds or len(names) > 1 else (NOT_PASSED_ON,),
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

    def _calibrated(self, stand: Labelling, names: Sequence[str], seed: int) -> Calibrated:
        if not stand.labels:
            raise TooFewLabels("raters are divided on every answer")
        scores = stand.population.scores
        return calibrate(
            scores,
            stand.labels,
            names,
            method=self.method,
            alpha=self.alpha,
            seed=seed,
            good_from=stand.good_from,
            drawn=stand.at_random,
        )


def _write_sheet(context: StepContext, stand: Labelling, names: Sequence[str], unread: int) -> str:
    """Write the answers without a label as a sheet, unless an earlier one has been filled in."""
    if unread:
        return (
            f"{TO_LABEL} holds {unread} labels that have not been read; `evalstudio review` on the workflow's"
            " file reads them with --import"
        )
    said = {label.identity for label in stand.ratings}
    (context.home / TO_LABEL).write_bytes(
        sheet([case for case in stand.cases if case.identity not in said], names)
    )
    return (
        f"`evalstudio review` on the workflow's file asks for them, or fill in {TO_LABEL} and read it with"
        " --import"
    )


def _write_sample(context: StepContext, stand: Labelling, names: Sequence[str]) -> None:
    content = {
        "version": 1,
        "metrics": names,
        "wanted": stand.wanted,
        "labelled": stand.done,
        "without_score": stand.population.without_score,
        "not_counted": _not_counted(stand),
        "divided": list(_divided(stand)),
        "cases": list(drawn_answers(stand)),
    }
    write_json(context.folder / SAMPLE, content)


def _not_counted(stand: Labelling) -> dict[str, int]:
    """Return the number of labels that do not count, by reason."""
    return {"outdated": stand.outdated, "not_drawn": stand.beyond, "unknown": stand.unknown}


def _divided(stand: Labelling) -> tuple[str, ...]:
    """Return the keys of the answers on which raters are divided."""
    return tuple(key for key, _ in stand.divided)


def _write_results(
    context: StepContext, stand: Labelling, calibrated: Calibrated, progress: LabellingResults
) -> CalibrationResults:
    calibration, figures = calibrated.calibration, calibrated.figures
    if calibration is not None:
        if figures.threshold is not None:
            calibrated.save(context.folder / CALIBRATION)
        (context.folder / CURVE).write_text(picture(stand, calibration, figures.threshold), encoding="utf-8")
    review = to_review(stand, calibration)
    write_json(context.folder / TO_REVIEW, {"version": 1, "cases": review})
    counts = {
        reason: sum(reason in entry["reasons"] for entry in review)
        for reason in ("uncertain", "disagreement", "divided")
    }
    accepted = [case.key for case in stand.cases if case.verdict is False and stand.is_good(case.identity)]
    thresholds = _thresholds(stand, figures)
    content = {**asdict(figures), "thresholds": thresholds, "to_review": counts, "accepted": accepted}
    write_json(context.folder / FIGURES, {"version": 1, **content, "agreement": asdict(progress.agreement)})
    return CalibrationResults.of(
        progress, figures, thresholds=thresholds, to_review=counts, accepted=tuple(accepted)
    )


def _thresholds(stand: Labelling, figures: CalibrationFigures) -> dict[str, float]:
    """Return the threshold for later steps.

    There is none for several metrics, or if verdicts by it agree with people no better than chance.
    """
    agrees = figures.kappa is not None and figures.kappa > 0
    if figures.threshold is None or len(stand.population.columns) > 1 or not agrees:
        return {}
    return {figures.threshold_of: figures.threshold}


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
    cut = (
        "no score divides good from bad"
        if results.threshold is None
        else f"threshold {results.threshold:.4g} of {results.threshold_of}"
    )
    before = (
        f" (the run's: {results.before.threshold:.4g})"
        if results.before and results.threshold is not None
        else ""
    )
    kappa = "" if results.kappa is None else f", kappa {results.kappa:.2f}"
    alpha = results.agreement.krippendorff_alpha
    raters = "" if alpha is None else f", raters' alpha {alpha:.2f}"
    disagreements = results.to_review["disagreement"]
    return (
        f"{cut}{before}; type I {results.type_1:.2f}, type II {results.type_2:.2f}{kappa}{raters}; "
        f"to review: {results.to_review['uncertain']} uncertain,"
        f" {disagreements} {'disagreement' if disagreements == 1 else 'disagreements'} with reviewers"
    )
