"""Each model of a run: what it passed of what it was asked, and which conditions of the run it meets.

Whether a model is fit for a purpose is concluded by a validation, not by a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from pytest_evalstudio.analysis.analyse import Analysis, ModelFigures
from pytest_evalstudio.analysis.causes import CauseCode
from pytest_evalstudio.analysis.leaderboards import Leaderboard
from pytest_evalstudio.analysis.ranking import ranks_of
from pytest_evalstudio.analysis.summary.assessment import Assessment, assess
from pytest_evalstudio.core.outcomes import Better
from pytest_evalstudio.plots.labels import natural_key, short_labels
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import Interval
from pytest_evalstudio.text.figures import counted, figure

Conformity = Literal["meets conditions", "misses conditions", "not assessed"]
OF_WORKFLOW = "one step of a workflow, whose report concludes by its deciding metrics and all steps"
"""Limit in the report of a step, which concludes nothing itself: two conclusions could differ."""
MAX_UNJUDGED = 0.5
"""Share of asked test cases without a verdict above which the rest says nothing about the model."""
FEW_CASES = 20
"""Below so many asked test cases a share of passes has an interval wider than 0.4."""


class ScoredCell(Struct, frozen=True, kw_only=True):
    """A model on the primary metric of one evaluator.

    Attributes:
        evaluator, name: id and name of the evaluator.
        decides: whether a miss of the metric fails a test.
    """

    evaluator: str
    name: str
    better: Better
    assessment: Assessment
    interval: Interval | None
    n: int
    decides: bool = True


class ModelSummary(Struct, frozen=True, kw_only=True):
    """A model in a run.

    Attributes:
        label: short name, the same in all outputs of the run.
        asked: test cases that the model was asked, also those without an answer or a verdict.
        passed: those that passed, also those that were expected to fail.
        rank: 1 and the number of models that are proven to be better; None where nothing is compared.
        conformity: whether it meets all gates and thresholds; not assessed where most answers are missing.
        missed: gates and thresholds that it does not meet; one is enough.
        limits: what else restricts the result.
        cells: in the order of the evaluators.
    """

    key: str
    name: str
    label: str
    asked: int
    passed: int
    share: float | None
    interval: Interval | None
    rank: int | None
    conformity: Conformity
    missed: tuple[str, ...]
    limits: tuple[str, ...]
    cells: tuple[ScoredCell, ...]

    @property
    def passed_all(self) -> bool:
        return self.passed == self.asked


def model_summaries(analysis: Analysis, *, is_step: bool = False) -> tuple[ModelSummary, ...]:
    """Return the models, the best rank and the highest share of passes first, then in natural order.

    A model misses its conditions if it misses a gate, if an answer is unsafe, or if all answers are empty. A
    mean below its threshold is a missed condition, too, but with gates the user decided what counts, and it
    is a limit. Metrics that decide no test only inform.

    Args:
        analysis: of the record.
        is_step: True for a step of a workflow, which is not assessed by itself.
    """
    labels = short_labels([model.name for model in analysis.models])
    ranks = ranks_of([model.key for model in analysis.models], analysis.pairs)
    summaries = [
        _summary(analysis, model, label, ranks[model.key], is_step)
        for model, label in zip(analysis.models, labels, strict=True)
    ]
    return tuple(
        sorted(
            summaries,
            key=lambda model: (
                -1 if model.share is None else -model.share,
                natural_key(model.name),
                model.key,
            ),
        )
    )


def _summary(
    analysis: Analysis, model: ModelFigures, label: str, rank: int | None, is_step: bool
) -> ModelSummary:
    verdicts = model.verdicts
    passed = verdicts["passed"] + verdicts["xpassed"]
    asked = passed + verdicts["failed"] + verdicts["xfailed"] + verdicts["error"]
    cells = tuple(_cell(board, model.key) for board in analysis.leaderboards.values())
    reasons = [*_silence(model), *_gates(analysis, model.key), *_unsafe(analysis, model.key, cells)]
    thresholds = [*_missed(cells)]
    limits = [*_limits(cells, model, asked)]
    # Where gates say what a model must meet, a missed threshold of an evaluator limits it only.
    missed, limits = (
        (reasons, [*thresholds, *limits]) if analysis.gates else ([*reasons, *thresholds], limits)
    )
    conformity: Conformity = "misses conditions" if missed else "meets conditions"
    is_judged = any(cell.assessment.state in ("meets", "misses") for cell in cells)
    if not missed and not (is_judged and verdicts["error"] <= MAX_UNJUDGED * asked):
        conformity = "not assessed"
    if is_step:
        conformity, missed, limits = "not assessed", [], [OF_WORKFLOW, *missed, *limits]
    return ModelSummary(
        key=model.key,
        name=model.name,
        label=label,
        asked=asked,
        passed=passed,
        share=passed / asked if asked else None,
        interval=wilson_interval(passed, asked) if asked else None,
        rank=rank,
        conformity=conformity,
        missed=tuple(missed),
        limits=tuple(limits),
        cells=cells,
    )


def _cell(board: Leaderboard, model: str) -> ScoredCell:
    line = board.standing(model)
    primary = board.evaluator.primary
    cell = line.cells[primary.key] if line is not None else None
    return ScoredCell(
        evaluator=board.evaluator.id,
        name=board.evaluator.name,
        better=primary.better,
        assessment=assess(board, line, primary),
        interval=cell.interval if cell is not None else None,
        n=cell.n if cell is not None else 0,
        decides=primary.decides,
    )


def _is_silent(model: ModelFigures) -> bool:
    return model.empty > 0 and model.empty == model.answered


def _silence(model: ModelFigures) -> Iterator[str]:
    if _is_silent(model):
        yield f"no answer: every answer is empty ({model.empty})"
    if model.rows and not model.answered:
        yield f"no answer to any of {counted(model.rows, 'question')}"


def _gates(analysis: Analysis, model: str) -> Iterator[str]:
    for gate in analysis.gates:
        if model in gate.missed:
            value = gate.values[model]
            yield f"gate {gate.gate.text} not met ({'no scored row' if value is None else figure(value)})"


def _unsafe(analysis: Analysis, model: str, cells: Sequence[ScoredCell]) -> Iterator[str]:
    in_context = {
        cause.evaluator: cause.models.get(model, 0)
        for cause in analysis.causes
        if cause.code == CauseCode.LEAK_IN_CONTEXT
    }
    for cell in cells:
        if cell.decides and cell.assessment.worst_case and cell.assessment.failing:
            alone = in_context.get(cell.evaluator, 0)
            of_context = f", {alone} of them by their context alone" if alone else ""
            counts = f"{cell.assessment.failing} of {cell.assessment.judged} answers"
            yield f"{cell.name}: {counts} miss the threshold{of_context}"


def _missed(cells: Sequence[ScoredCell]) -> Iterator[str]:
    for cell in cells:
        verdict = cell.assessment
        is_missed = verdict.state == "misses" and not verdict.worst_case
        if is_missed and cell.decides and verdict.value is not None:
            sign = "≥" if cell.better == "higher" else "≤"
            figures = f"{figure(verdict.value)}, threshold {sign} {figure(verdict.threshold)}"
            yield f"{cell.name}: {figures}"


def _limits(cells: Sequence[ScoredCell], model: ModelFigures, asked: int) -> Iterator[str]:
    for cell in cells:
        verdict, interval = cell.assessment, cell.interval
        if cell.decides and verdict.state == "meets" and not verdict.worst_case and interval is not None:
            doubtful = (
                interval[0] < verdict.threshold
                if cell.better == "higher"
                else interval[1] > verdict.threshold
            )
            if doubtful:
                yield f"{cell.name}: the 95 % interval contains the threshold"
    unscored = [cell.name for cell in cells if cell.assessment.state == "not_scored" and cell.n]
    if unscored:
        yield f"not scored: {', '.join(unscored)}"
    if model.failed:
        yield f"{model.failed} of {model.rows} questions without an answer"
    if model.empty and not _is_silent(model):
        yield f"no answer to {model.empty} of {model.rows} questions: the text is empty"
    if model.unchecked:
        yield f"{model.unchecked} of {asked} test cases are unchecked"
    if model.verdicts["not_run"]:
        yield f"{counted(model.verdicts['not_run'], 'test case was', 'test cases were')} not run"
    if model.verdicts["error"]:
        yield f"{model.verdicts['error']} of {asked} test cases could not be evaluated"
    failing = model.verdicts["failed"] + model.verdicts["xfailed"]
    if failing:
        yield f"{failing} of {asked} test cases fail"
    if asked < FEW_CASES:
        yield f"only {counted(asked, 'test case')}"
