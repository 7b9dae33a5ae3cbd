"""Words for the outcome of the step, and the problems of the model and the metrics that labels show."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.calibration.labelling.state import Labelling
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.mrm.steps.human_calibration.results import CalibrationResults
from pytest_evalstudio.mrm.workflow.calibration import ID
from pytest_evalstudio.stats.intervals import wilson_interval

TOLERABLE = 0.05
"""Share of bad answers that is no problem yet."""
POOR_KAPPA = 0.4
"""Below it agreement is "fair" at most (Landis and Koch, 1977)."""
POOR_ALPHA = 2 / 3
"""Below it raters' labels allow no conclusions (Krippendorff, 2004)."""
KEPT = "later steps keep the evaluation's threshold"


def problems(labelling: Labelling, results: CalibrationResults) -> Iterator[Problem]:
    """Yield the problems of the model, and of the metrics, that the labels show."""
    yield from _bad_answers(labelling)
    names = ", ".join(results.metrics)
    kappa = results.kappa
    if kappa is not None and kappa < POOR_KAPPA:
        yield Problem(
            description=(
                f"Calibrated verdicts by {names} agree little with people: Cohen's kappa is {kappa:.2f} on"
                f" {results.tested} answers"
            ),
            severity="medium",
            problem_type="data_quality",
            avid="P0100",
            attributes={
                "kind": "weak_evaluator",
                "step": ID,
                "metrics": list(results.metrics),
                "kappa": kappa,
                "cases": results.tested,
            },
            actions=(
                "Take another evaluator, or several metrics in one score; until then read failures of this"
                " one with care."
            ),
        )
    agreement = results.agreement
    alpha = agreement.krippendorff_alpha
    if alpha is not None and alpha < POOR_ALPHA:
        yield Problem(
            description=(
                f"The people who label agree little: Krippendorff's alpha is {alpha:.2f} on"
                f" {agreement.shared} answers"
            ),
            severity="medium",
            problem_type="data_quality",
            avid="P0100",
            attributes={
                "kind": "raters_disagree",
                "step": ID,
                "krippendorff_alpha": alpha,
                "cases": agreement.shared,
            },
            actions=(
                "Agree on what a good answer is, then label the answers again on which raters are divided"
                " (to_review.json)."
            ),
        )


def _bad_answers(labelling: Labelling) -> Iterator[Problem]:
    labels = labelling.good_at_random
    bad = [identity[0] for identity, good in labels.items() if not good]
    low, high = wilson_interval(len(bad), len(labels)) if labels else (0.0, 0.0)
    if low > TOLERABLE:
        yield Problem(
            description=(
                f"People call {len(bad)} of {len(labels)} answers bad that were drawn at random: {low:.0%} to"
                f" {high:.0%} of all (95% interval)"
            ),
            severity="high" if low > 0.25 else "medium",
            problem_type="accuracy",
            avid="P0200",
            attributes={
                "kind": "bad_answers",
                "step": ID,
                "share": len(bad) / len(labels),
                "interval": [low, high],
                "test_case_keys": bad,
            },
            actions=(
                "Read the answers that people call bad (sample.json, good = false), and mend retrieval,"
                " documents or prompt where they agree."
            ),
        )


def result_notes(results: CalibrationResults) -> Iterator[str]:
    """Yield what people should know of the thresholds."""
    for refusal in results.refusals:
        yield f"refused: {refusal.text}; {KEPT}"
    yield from results.notes
    for each in results.by_metric:
        if each.metric in results.metrics:
            continue
        if each.accepted:
            yield f"{each.metric}: calibrated by the same labels, threshold {each.threshold:.4g}"
        else:
            yield f"{each.metric}: not calibrated, {KEPT}: {'; '.join(each.reasons)}"


def progress_summary(labelling: Labelling) -> str:
    """Return the progress of the labelling in words."""
    names = [column.key for column in labelling.population.columns]
    why = f" ({labelling.population.chosen_by})" if labelling.population.chosen_by else ""
    parts = [f"{labelling.done} of {labelling.wanted} answers labelled for {', '.join(names)}{why}"]
    if labelling.outdated:
        parts.append(f"{labelling.outdated} labels are of answers that have changed since")
    if labelling.beyond:
        parts.append(
            f"{labelling.beyond} labels are of answers that are not drawn and do not count; a greater"
            " sample_size may draw them"
        )
    if labelling.unknown:
        parts.append(f"{labelling.unknown} labels are of answers that are not in the evaluation")
    if labelling.divided:
        parts.append(f"raters are divided on {len(labelling.divided)}, which do not count")
    return "; ".join(parts)


def more_labels(labelling: Labelling) -> str:
    """Return how more answers are labelled."""
    if labelling.wanted < len(labelling.population.cases):
        return "raise sample_size; the labels that there are stay, and more answers are drawn"
    return "all answers are labelled; more test cases are needed (`count` of test_generation)"


def result_summary(results: CalibrationResults) -> str:
    """Return threshold, errors and answers to review in words."""
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
