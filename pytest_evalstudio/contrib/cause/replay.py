"""Answers with parts of the baseline put back: asked in rounds for all cases, scored as the run's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from msgspec import structs

from pytest_evalstudio.core.cases import Answer, Prompt, Retrieval
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.restored import Restored
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.record.causes import CausePart
from pytest_evalstudio.scoring.answering import answered, requests_of
from pytest_evalstudio.scoring.messages import has_misses
from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.shrinking.budget import CallBudget
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

BUDGET_USED = "the calls of [cause] are used up"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Restoration:
    """Parts of the baseline in place of today's.

    Attributes:
        parts: that are put back; () for the application as it is.
        table: of the model with the baseline's settings; None for today's.
        restored: of the baseline's answer; None where the application makes everything anew.
    """

    parts: tuple[CausePart, ...] = ()
    table: ModelTable | None = None
    restored: Restored | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ask:
    """Further answers of one case.

    Attributes:
        first: number of the first answer, from 1.
        count: of answers.
    """

    task: EvalTask
    result: Result
    restoration: Restoration
    first: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Verdicts on further answers.

    Attributes:
        verdicts: whether each passes; fewer than were asked for where a reason ends the trial.
        reason: why there are no more, "" where there are all.
        calls: that were made.
    """

    verdicts: tuple[bool, ...] = ()
    reason: str = ""
    calls: int = 0


class ReplayedModel(Protocol):
    """A model that can be asked; `run.models.AskedAhead` is one."""

    @property
    def retrieves(self) -> bool | None: ...

    @property
    def retrieval(self) -> Retrieval: ...

    def ask(self, requests: Sequence[Prompt], /, *, progress: Progress | None = None) -> list[Answer]: ...


ModelFor = Callable[[ModelInfo, ModelTable | None], ReplayedModel]
"""Returns a model, with another table in place of its own where one is given."""


class Replays:
    """Asks and scores restorations within the calls of a run.

    Args:
        pipeline: of the cases.
        model_for: opens the models.
        budget: calls of the run.
        earlier: results of the same run for linked tasks.
        progress: called with the progress of the questions.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        model_for: ModelFor,
        budget: CallBudget,
        *,
        earlier: Mapping[EvalTask, Result],
        progress: Progress,
    ) -> None:
        self._pipeline = pipeline
        self._model_for = model_for
        self._budget = budget
        self._earlier = earlier
        self._progress = progress

    def replies(self, asks: Sequence[Ask]) -> list[Reply]:
        """Return the verdicts of a round, in order."""
        by_model: dict[int, list[tuple[int, Prompt]]] = {}
        models: dict[int, ReplayedModel] = {}
        reasons: dict[int, str] = {}
        for index, ask in enumerate(asks):
            try:
                model = self._model_for(ask.task.model, ask.restoration.table)
            except EvalStudioError as exc:
                reasons[index] = str(exc)
                continue
            if not self._budget.take(ask.count):
                reasons[index] = BUDGET_USED
                continue
            models[id(model)] = model
            prompts = [(index, prompt) for prompt in _prompts(ask)]
            by_model.setdefault(id(model), []).extend(prompts)
        answers: dict[int, list[tuple[Answer, ReplayedModel]]] = {}
        for key, waiting in by_model.items():
            model = models[key]
            answers_of_model = model.ask([prompt for _, prompt in waiting], progress=self._progress)
            for (index, _), answer in zip(waiting, answers_of_model, strict=True):
                answers.setdefault(index, []).append((answer, model))
        return self._scored(asks, answers, reasons)

    def _scored(
        self,
        asks: Sequence[Ask],
        answers: Mapping[int, Sequence[tuple[Answer, ReplayedModel]]],
        reasons: dict[int, str],
    ) -> list[Reply]:
        tasks: list[EvalTask] = []
        owners: list[int] = []
        for index, given in answers.items():
            ask = asks[index]
            for number, (answer, model) in enumerate(given, ask.first):
                if answer.error:
                    reasons.setdefault(index, answer.error)
                    continue
                tasks.append(_answered_task(ask.task, answer, model, number))
                owners.append(index)
        verdicts: dict[int, list[bool]] = {}
        results = (
            self._pipeline.evaluate(tasks, progress=self._progress, earlier=self._earlier) if tasks else []
        )
        for index, result in zip(owners, results, strict=True):
            if result.errors:
                reasons.setdefault(index, result.errors[0].reason)
                continue
            verdicts.setdefault(index, []).append(passes(result, asks[index].result))
        return [
            Reply(
                verdicts=tuple(verdicts.get(index, ())),
                reason=reasons.get(index, ""),
                calls=len(answers.get(index, ())),
            )
            for index in range(len(asks))
        ]


def _prompts(ask: Ask) -> list[Prompt]:
    label = " ".join(map(str, ask.restoration.parts)) or "as it is"
    task = replace(ask.task, sample=f"{ask.task.sample} explain {label}".strip())
    prompts = requests_of(task, ask.first, ask.count)
    return [
        replace(prompt, restored=ask.restoration.restored) for prompt in prompts if isinstance(prompt, Prompt)
    ]


def _answered_task(task: EvalTask, answer: Answer, model: ReplayedModel, number: int) -> EvalTask:
    """Return the task of scoring one answer, linked as the original task is."""
    case = answered(
        task.case, answer, task.model, number, retrieves=model.retrieves, retrieval=model.retrieval
    )
    return replace(task, case=structs.replace(case, run=1), answers=(case,))


def passes(replayed: Result, original: Result) -> bool:
    """Return whether an answer passes, by the evaluators that count for the regression."""
    if not original.regressed:
        return not has_misses(replayed)
    return all(
        replayed.verdicts[selected].passed is not False
        for selected in original.regressed
        if selected in replayed.verdicts
    )
