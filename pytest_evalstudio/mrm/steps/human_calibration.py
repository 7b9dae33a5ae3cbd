"""Step 5: people label a sample of the answers, and the metric's threshold follows from what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.steps import Done, step
from pytest_evalstudio.formats.calibration import METHODS
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.labels import Label, read_ratings
from pytest_evalstudio.mrm.calibration.calibrate import Calibrated, calibrate
from pytest_evalstudio.mrm.calibration.sample import TooFewLabels
from pytest_evalstudio.mrm.human.agreement import agreement
from pytest_evalstudio.mrm.human.cases import NothingVaries, Population, read_population
from pytest_evalstudio.mrm.human.labelling import Labelling, Wanted, labelling
from pytest_evalstudio.mrm.human.outcome import drawn_told, picture, problems, to_review
from pytest_evalstudio.mrm.human.sheet import new_labels, sheet
from pytest_evalstudio.mrm.workflow.checks import check_counts
from pytest_evalstudio.mrm.workflow.work import Work

LABELS = "labels.csv"
TO_LABEL = "to_label.csv"
SAMPLE = "sample.json"
CALIBRATION = "calibration.json"
FIGURES = "figures.json"
CURVE = "calibration_curve.svg"
TO_REVIEW = "to_review.json"
ONE_METRIC = ("isotonic", "boosting")
NOT_PASSED_ON = (
    "verdicts by this threshold agree with people no better than chance: later steps keep the evaluation's"
)


@step("human_calibration", name="Human calibration", number=5, after=("automated_evaluation",), extra="mrm")
@dataclass(frozen=True)
class HumanCalibration:
    """People say of a sample of the answers whether they are good; probabilities, threshold, conformal sets
    and errors follow from their labels.

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

    sample_size: int = 40
    rounds: int = 4
    alpha: float = 0.1
    method: str = "logistic"
    metric: str | list[str] = field(default_factory=list)
    labels: str = ""
    good: int | None = None

    def __post_init__(self) -> None:
        check_counts(self, {"sample_size": 20, "rounds": 1})
        if self.rounds * 2 > self.sample_size:
            raise ValueError(
                f"rounds = {self.rounds}: expected at most half of sample_size = {self.sample_size}"
            )
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, int | float) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha = {self.alpha!r}: expected a number between 0 and 1, e.g. 0.1")
        if self.method not in METHODS:
            raise ValueError(f"method = {self.method!r}: expected one of {', '.join(METHODS)}")
        if not isinstance(self.metric, str | list) or not all(
            isinstance(name, str) and name for name in self.metrics
        ):
            raise ValueError(f"metric = {self.metric!r}: expected the name of a metric, or a list of names")
        if len(self.metrics) > 1 and self.method in ONE_METRIC:
            raise ValueError(f"method = {self.method!r}: takes one metric; logistic takes several")
        if not isinstance(self.labels, str):
            raise ValueError(f"labels = {self.labels!r}: expected the name of a file")
        if self.labels and not self.labels.lower().endswith(".csv"):
            raise ValueError(f"labels = {self.labels!r}: expected the name of a CSV file, which ends in .csv")
        if self.good is not None and (isinstance(self.good, bool) or not isinstance(self.good, int)):
            raise ValueError(f"good = {self.good!r}: expected a whole number")

    @property
    def metrics(self) -> list[str]:
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
        """What people have said, [] where there is no file yet.

        Raises:
            DataError: if there is one, and it holds something else.
        """
        return read_ratings(path, levels=self.good is not None) if path.is_file() else []

    def population(self, evaluation: Path, evaluators: Sequence[str]) -> Population:
        """The answers that may be drawn.

        Raises:
            ConfigurationError: if the metric is none of the evaluation's, or there is none.
        """
        return read_population(evaluation, self.metrics, evaluators)

    def stand(self, population: Population, ratings: Sequence[Label], seed: int) -> Labelling:
        """How far the labelling is."""
        good_from = 1 if self.good is None else self.good
        return labelling(
            population,
            ratings,
            Wanted(size=self.sample_size, rounds=self.rounds, seed=seed, good_from=good_from),
        )

    def run(self, work: Work) -> Done:
        try:
            population = self.population(
                work.artifacts("automated_evaluation"),
                work.workflow.evaluators or work.config.evaluators or (),
            )
        except NothingVaries as exc:
            return Done(summary=f"nothing is calibrated: {exc}")
        ratings = self.ratings(self.labels_file(work.home, work.base))
        stand = self.stand(population, ratings, work.workflow.seed)
        names = [column.key for column in population.columns]
        agreed = agreement(stand.ratings, stand.good_from)
        _write_sample(work, stand, names)
        figures: dict[str, Any] = {
            "metrics": names,
            "wanted": stand.wanted,
            "labelled": stand.done,
            "agreement": agreed,
            **_left_out(stand),
        }
        about = _about(stand, names)
        unread = new_labels(work.home / TO_LABEL, ratings, levels=self.good is not None)
        if not stand.is_complete:
            how = _write_sheet(work, stand, names, unread)
            return Done(
                summary=f"{about}: {how}",
                notes=self._few(stand),
                waits=f"{stand.done} of {stand.wanted} labels",
                figures=figures,
            )
        if not unread:
            (work.home / TO_LABEL).unlink(missing_ok=True)
        try:
            found = self._calibrated(stand, names, work.workflow.seed)
        except TooFewLabels as exc:
            return Done(
                summary=f"{about}: {_more(stand)}",
                waits=f"{stand.done} of {stand.wanted} labels, but {exc}; {_more(stand)}",
                figures=figures,
            )
        figures |= _write_results(work, stand, found)
        return Done(
            summary=f"{about}: {_summary(found.figures, figures)}",
            notes=() if figures["thresholds"] or len(names) > 1 else (NOT_PASSED_ON,),
            figures=figures,
            problems=tuple(problems(stand, found.figures, agreed)),
        )

    def _few(self, stand: Labelling) -> tuple[str, ...]:
        """What is told before anybody labels an evaluation that is too small for it."""
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
        method: Any = self.method
        return calibrate(
            scores,
            stand.labels,
            names,
            method=method,
            alpha=self.alpha,
            seed=seed,
            good_from=stand.good_from,
            drawn=stand.at_random,
        )


def _write_sheet(work: Work, stand: Labelling, names: Sequence[str], unread: int) -> str:
    """The answers without a label as a sheet, unless somebody has written into it; how to label them."""
    if unread:
        return (
            f"{TO_LABEL} holds {unread} labels that have not been read; `evalstudio review` on the workflow's"
            " file reads them with --import"
        )
    said = {label.identity for label in stand.ratings}
    (work.home / TO_LABEL).write_bytes(
        sheet([case for case in stand.cases if case.identity not in said], names)
    )
    return (
        f"`evalstudio review` on the workflow's file asks for them, or fill in {TO_LABEL} and read it with"
        " --import"
    )


def _write_sample(work: Work, stand: Labelling, names: Sequence[str]) -> None:
    content = {
        "version": 1,
        "metrics": names,
        "wanted": stand.wanted,
        "labelled": stand.done,
        **_left_out(stand),
        "cases": list(drawn_told(stand)),
    }
    write_json(work.folder / SAMPLE, content)


def _left_out(stand: Labelling) -> dict[str, Any]:
    """Answers and labels that do not count."""
    return {
        "without_score": stand.population.without_score,
        "not_counted": {"outdated": stand.outdated, "not_drawn": stand.beyond, "unknown": stand.unknown},
        "divided": [key for key, _ in stand.divided],
    }


def _write_results(work: Work, stand: Labelling, found: Calibrated) -> dict[str, Any]:
    calibration = found.calibration
    if calibration is not None:
        if found.figures["threshold"] is not None:
            found.save(work.folder / CALIBRATION)
        (work.folder / CURVE).write_text(
            picture(stand, calibration, found.figures["threshold"]), encoding="utf-8"
        )
    review = to_review(stand, calibration)
    write_json(work.folder / TO_REVIEW, {"version": 1, "cases": review})
    counts = {
        reason: sum(reason in entry["reasons"] for entry in review)
        for reason in ("uncertain", "disagreement", "divided")
    }
    accepted = [case.key for case in stand.cases if case.verdict is False and stand.is_good(case.identity)]
    cut = found.figures["threshold"]
    agrees = found.figures["kappa"] is not None and found.figures["kappa"] > 0
    cuts = (
        {}
        if cut is None or len(stand.population.columns) > 1 or not agrees
        else {found.figures["threshold_of"]: cut}
    )
    figures = {**found.figures, "thresholds": cuts, "to_review": counts, "accepted": accepted}
    write_json(
        work.folder / FIGURES,
        {"version": 1, **figures, "agreement": agreement(stand.ratings, stand.good_from)},
    )
    return figures


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


def _summary(found: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    cut = (
        "no score divides good from bad"
        if found["threshold"] is None
        else f"threshold {found['threshold']:.4g} of {found['threshold_of']}"
    )
    was = (
        f" (the run's: {found['before']['threshold']:.4g})"
        if found["before"] and found["threshold"] is not None
        else ""
    )
    kappa = "" if found["kappa"] is None else f", kappa {found['kappa']:.2f}"
    alpha = figures["agreement"]["krippendorff_alpha"]
    people = "" if alpha is None else f", raters' alpha {alpha:.2f}"
    open_ = figures["to_review"]
    return (
        f"{cut}{was}; type I {found['type_1']:.2f}, type II {found['type_2']:.2f}{kappa}{people}; "
        f"to review: {open_['uncertain']} uncertain, {open_['disagreement']} where people say otherwise"
    )
