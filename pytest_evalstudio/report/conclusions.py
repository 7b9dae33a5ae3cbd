"""Conclusion for each model: whether it meets the conditions of the run, and what decides that.

Whether a model is fit for a purpose is concluded by a validation, not by a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from pytest_evalstudio.analysis.analyse import Analysis, ModelFigures
from pytest_evalstudio.analysis.leaderboards import Leaderboard
from pytest_evalstudio.plots.labels import natural_key, short_labels
from pytest_evalstudio.report.assessment import Assessment, assess
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import Interval
from pytest_evalstudio.text.figures import figure

Conformity = Literal["meets conditions", "meets with limits", "misses conditions", "not assessed"]
CONFORMITIES: tuple[Conformity, ...] = (
    "meets conditions",
    "meets with limits",
    "not assessed",
    "misses conditions",
)
CONFORMING: tuple[Conformity, ...] = ("meets conditions", "meets with limits")
PLURALS: dict[Conformity, str] = {
    "meets conditions": "meet conditions",
    "meets with limits": "meet with limits",
    "not assessed": "not assessed",
    "misses conditions": "miss conditions",
}
"""Forms after a number above one."""
WHOLE = 1_000
"""Characters of a name that are never cut."""
OF_WORKFLOW = "one step of a workflow, whose report concludes by its deciding metrics and all steps"
"""Limit in the report of a step, which concludes nothing itself: two conclusions could differ."""
FEW_CASES = 20
"""Below so many judged test cases a share of passes has an interval wider than 0.4."""


class ScoredCell(Struct, frozen=True, kw_only=True):
    """A model on the primary metric of one evaluator."""

    board: Leaderboard
    assessment: Assessment
    interval: Interval | None
    n: int


class ModelConclusion(Struct, frozen=True, kw_only=True):
    """Conclusion for one model.

    Attributes:
        label: short name for charts and tables.
        long_label: the same without a limit of its length.
        passed, judged: test cases that passed, of those with a verdict; expected failures count as failures.
        decided_by: conditions that it does not meet; one is enough.
        limits: what else restricts the conclusion.
        cells: in the order of the evaluators.
    """

    key: str
    name: str
    label: str
    long_label: str
    conformity: Conformity
    passed: int
    judged: int
    share: float | None
    interval: Interval | None
    decided_by: tuple[str, ...]
    limits: tuple[str, ...]
    cells: tuple[ScoredCell, ...]


def conclude(analysis: Analysis, *, is_step: bool = False) -> list[ModelConclusion]:
    """Return the conclusions, the highest share of passes first; equal ones in natural order of their names.

    A model misses its conditions if it misses a gate, if an answer is unsafe, or if all answers are empty. A
    mean below its threshold is a missed condition, too, but with gates the user decided what counts, and it
    is a limit.

    Args:
        analysis: of the record.
        is_step: True for a step of a workflow, which is not assessed by itself.
    """
    names = [model.name for model in analysis.models]
    labels = zip(short_labels(names), short_labels(names, WHOLE), strict=True)
    conclusions = [
        _conclusion(analysis, model, label, is_step)
        for model, label in zip(analysis.models, labels, strict=True)
    ]
    return sorted(
        conclusions,
        key=lambda model: (-1 if model.share is None else -model.share, natural_key(model.name), model.key),
    )


def _conclusion(
    analysis: Analysis, model: ModelFigures, labels: tuple[str, str], is_step: bool
) -> ModelConclusion:
    verdicts = model.verdicts
    passed = verdicts["passed"] + verdicts["xpassed"]
    judged = passed + verdicts["failed"] + verdicts["xfailed"]
    cells = tuple(_cell(board, model.key) for board in analysis.leaderboards.values())
    reasons = [*_silence(model), *_gates(analysis, model.key), *_unsafe(cells)]
    missed = [*_missed(cells)]
    doubts = _doubts(cells, model, judged)
    # Where gates say what a model must meet, a missed threshold of an evaluator limits it only.
    if analysis.gates:
        decided, limits = reasons, [*missed, *doubts]
    else:
        decided, limits = [*reasons, *missed], [*doubts]
    conformity: Conformity = (
        "misses conditions" if decided else "meets with limits" if limits else "meets conditions"
    )
    if not _is_silent(model) and not any(cell.assessment.state in ("meets", "misses") for cell in cells):
        conformity = "not assessed"
    if is_step:
        conformity, decided, limits = "not assessed", [], [OF_WORKFLOW, *decided, *limits]
    return ModelConclusion(
        key=model.key,
        name=model.name,
        label=labels[0],
        long_label=labels[1],
        conformity=conformity,
        passed=passed,
        judged=judged,
        share=passed / judged if judged else None,
        interval=wilson_interval(passed, judged) if judged else None,
        decided_by=tuple(decided),
        limits=tuple(limits),
        cells=cells,
    )


def _cell(board: Leaderboard, model: str) -> ScoredCell:
    line = board.standing(model)
    primary = board.evaluator.primary
    cell = line.cells[primary.key] if line is not None else None
    return ScoredCell(
        board=board,
        assessment=assess(board, line, primary),
        interval=cell.interval if cell is not None else None,
        n=cell.n if cell is not None else 0,
    )


def _is_silent(model: ModelFigures) -> bool:
    return model.empty > 0 and model.empty == model.answered


def _silence(model: ModelFigures) -> Iterator[str]:
    if _is_silent(model):
        yield f"no answer: every answer is empty ({model.empty})"


def _gates(analysis: Analysis, model: str) -> Iterator[str]:
    for gate in analysis.gates:
        if model in gate.missed:
            value = gate.values[model]
            yield f"gate {gate.gate.text} not met ({'no scored row' if value is None else figure(value)})"


def _unsafe(cells: Sequence[ScoredCell]) -> Iterator[str]:
    for cell in cells:
        if cell.assessment.worst_case and cell.assessment.failing:
            yield (
                f"{cell.board.evaluator.name}: {cell.assessment.failing} of {cell.assessment.judged} answers"
                " miss the threshold"
            )


def _missed(cells: Sequence[ScoredCell]) -> Iterator[str]:
    for cell in cells:
        verdict = cell.assessment
        if verdict.state == "misses" and not verdict.worst_case and verdict.value is not None:
            sign = "≥" if cell.board.evaluator.primary.better == "higher" else "≤"
            figures = f"{figure(verdict.value)}, threshold {sign} {figure(verdict.threshold)}"
            yield f"{cell.board.evaluator.name}: {figures}"


def _doubts(cells: Sequence[ScoredCell], model: ModelFigures, judged: int) -> Iterator[str]:
    for cell in cells:
        verdict, interval = cell.assessment, cell.interval
        if verdict.state == "meets" and not verdict.worst_case and interval is not None:
            doubtful = (
                interval[0] < verdict.threshold
                if cell.board.evaluator.primary.better == "higher"
                else interval[1] > verdict.threshold
            )
            if doubtful:
                yield f"{cell.board.evaluator.name}: the 95 % interval contains the threshold"
    unscored = [
        cell.board.evaluator.name for cell in cells if cell.assessment.state == "not_scored" and cell.n
    ]
    if unscored:
        yield f"not scored: {', '.join(unscored)}"
    if model.failed:
        yield f"{model.failed} of {model.rows} questions without an answer"
    if model.empty and not _is_silent(model):
        yield f"no answer to {model.empty} of {model.rows} questions: the text is empty"
    if model.verdicts["error"]:
        yield f"{model.verdicts['error']} test cases could not be evaluated"
    failing = model.verdicts["failed"] + model.verdicts["xfailed"]
    if failing:
        yield f"{failing} of {judged} test cases fail"
    if judged < FEW_CASES:
        yield f"only {judged} test cases"
