"""Words for the outcome of the step."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.contrib.calibration.labelling.agreement import Agreement
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling
from pytest_evalstudio.contrib.validation.steps.human_calibration.results import CalibrationResults
from pytest_evalstudio.text.figures import counted, figure, percent

KEPT = "later steps keep the evaluation's threshold"


def result_notes(results: CalibrationResults) -> Iterator[str]:
    """Yield what people should know of the thresholds."""
    for refusal in results.refusals:
        yield f"refused: {refusal.text}; {KEPT}"
    if results.levels is not None:
        levels = results.levels
        kappa = "" if levels.weighted_kappa is None else f", weighted kappa {figure(levels.weighted_kappa)}"
        yield (
            f"levels: accuracy {figure(levels.accuracy)}, log loss {figure(levels.log_loss)} (of their shares"
            f" alone {figure(levels.log_loss_of_shares)}){kappa}"
        )
    yield from results.notes
    for each in results.by_metric:
        if each.metric in results.metrics:
            continue
        if each.accepted:
            yield f"{each.metric}: calibrated by the same labels, threshold {figure(each.threshold)}"
        else:
            yield f"{each.metric}: not calibrated, {KEPT}: {'; '.join(each.reasons)}"


def progress_summary(labelling: Labelling) -> str:
    """Return the progress of the labelling in words."""
    names = [column.key for column in labelling.population.columns]
    why = f" ({labelling.population.chosen_by})" if labelling.population.chosen_by else ""
    parts = [f"{labelling.done} of {labelling.wanted} answers labelled for {', '.join(names)}{why}"]
    if labelling.outdated:
        parts.append(f"{_labels(labelling.outdated)} of answers that have changed since")
    if labelling.beyond:
        parts.append(
            f"{_labels(labelling.beyond)} of answers that are not drawn and do not count; a greater"
            " sample_size may draw them"
        )
    if labelling.unknown:
        parts.append(f"{_labels(labelling.unknown)} of answers that are not in the evaluation")
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
        else f"; expected: {percent(use.flagged)} flagged, {use.misses_per_1000:.0f} misses per 1,000"
    )
    alpha = results.agreement.krippendorff_alpha
    raters = "" if alpha is None else f"; raters' alpha {figure(alpha)}{_adjudication(results.agreement)}"
    disagreements = results.to_review["disagreement"]
    return (
        f"{_quality(results)}{raters}{flags}; "
        f"to review: {results.to_review['uncertain']} uncertain,"
        f" {counted(disagreements, 'disagreement')} with reviewers"
    )


def _adjudication(agreed: Agreement) -> str:
    """Return what an adjudicator has changed, "" without one."""
    if not agreed.adjudicated or agreed.percent is None or agreed.final_percent is None:
        return ""
    return (
        f", {percent(agreed.percent)} of their pairs agree; after the adjudication of {agreed.adjudicated}"
        f" {percent(agreed.final_percent)} of their labels are the final ones"
    )


def _quality(results: CalibrationResults) -> str:
    """Return threshold and error rates, or the reasons for a refusal."""
    if results.threshold is None:
        reasons = ", and ".join(refusal.code.words for refusal in results.refusals)
        return (
            f"the calibration is refused: {reasons}"
            if reasons
            else "no threshold corresponds to the calibration"
        )
    before = f" (the run's: {figure(results.before.threshold)})" if results.before else ""
    kappa = "" if results.kappa is None else f", kappa {figure(results.kappa)}"
    return (
        f"threshold {figure(results.threshold)} of {results.threshold_of}{before}; type I"
        f" {figure(results.type_1)},"
        " type II"
        f" {figure(results.type_2)}{kappa}"
    )


def _labels(count: int) -> str:
    return counted(count, "label is", "labels are")
