"""Evidence for a decision on the models: conclusions, scope, thresholds, calibration, limits, sign-off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.report.assessment import is_safety
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section
from pytest_evalstudio.report.sign_offs import sign_offs_of
from pytest_evalstudio.text.figures import figure

_FEW = 30
_FIGURES = 14


class CalibrationLine(Struct, frozen=True, kw_only=True):
    """Calibration of an evaluator by people's labels.

    Attributes:
        source: file of the calibration.
        figures: how well it agrees with the labels, by name.
    """

    name: str
    source: str
    figures: Mapping[str, str]


@section("evidence", title="Evidence", order=10, tab="evidence")
def evidence(content: Content) -> Mapping[str, object] | None:
    """Show a conclusion for each model, with everything that it rests on; nothing without models."""
    analysis = content.analysis
    if not content.conclusions:
        return None
    return {
        "conclusions": content.conclusions,
        "gates": analysis.gates,
        "thresholds": content.thresholds,
        "calibrations": list(_calibrations(analysis)),
        "limitations": list(_limitations(content)),
        "sign_offs": sign_offs_of(analysis.run),
        "safety": [info.name for info in analysis.evaluators.values() if is_safety(info)],
    }


def _calibrations(analysis: Analysis) -> Iterator[CalibrationLine]:
    for info in analysis.evaluators.values():
        if info.calibration:
            figures = info.calibration.get("figures")
            yield CalibrationLine(
                name=info.name,
                source=str(info.calibration.get("file", "")),
                figures=_plain(figures) if isinstance(figures, Mapping) else {},
            )


def _plain(figures: Mapping[str, object]) -> dict[str, str]:
    """Return the numbers and texts among the figures of a calibration."""
    plain = {
        name.replace("_", " "): figure(value) if isinstance(value, float) else str(value)
        for name, value in figures.items()
        if isinstance(value, int | float | str)
    }
    return dict(list(plain.items())[:_FIGURES])


def _limitations(content: Content) -> Iterator[str]:
    """Yield what the results do not show, from the data of this run."""
    analysis = content.analysis
    if analysis.run.interrupted:
        yield "The run was interrupted: cases that had not finished are missing."
    if analysis.dataset.cases < _FEW:
        yield f"The data set has only {analysis.dataset.cases} test cases; intervals are wide."
    unscored = [
        board.evaluator.name
        for board in analysis.leaderboards.values()
        if not any(line.scored for line in board.standings)
    ]
    if unscored:
        yield f"Not scored on any answer: {', '.join(unscored)}."
    errors = sum(line.errors for board in analysis.leaderboards.values() for line in board.standings)
    if errors:
        yield f"Scores that are missing because a host, a judge or an evaluator failed: {errors}."
    if not analysis.flip_rates:
        yield "Robustness was not tested: no question was perturbed."
    if not any(info.calibration for info in analysis.evaluators.values()):
        yield "No threshold was calibrated by people's labels; agreement with people is not known."
    embedders = {info.embedder for info in analysis.evaluators.values() if info.embedder}
    if embedders:
        yield f"Similarity thresholds hold only for the embedder {', '.join(sorted(embedders))}."
    judges = [info.name for info in analysis.evaluators.values() if info.judge]
    if judges:
        yield f"Scored by a language model as judge: {', '.join(judges)}."
    if all(model.duration_s is None for model in analysis.models):
        yield "Durations were not recorded."
    if all(model.cost is None for model in analysis.models):
        yield "Costs were not recorded."
