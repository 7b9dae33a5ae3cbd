"""Limits of a run: what its results do not show."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.analysis.analyse import Analysis

_FEW = 30
"""Test cases below which an interval of a share is wider than 0.35."""


def limits_of(analysis: Analysis) -> Iterator[str]:
    """Yield what the results do not show, from the data of the run."""
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
