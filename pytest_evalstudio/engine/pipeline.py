"""The one way from tasks to results: resolve, score, decide."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from pytest_evalstudio.core.cases import NOTHING, Answer, Case, Prompt
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.engine.asking.prompts import prompt_of
from pytest_evalstudio.engine.origins import origin
from pytest_evalstudio.engine.scoring.calibrated import calibrated
from pytest_evalstudio.engine.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.engine.scoring.results import Result
from pytest_evalstudio.engine.scoring.score import score
from pytest_evalstudio.engine.scoring.tasks import EvalTask, ModelInfo, is_rag
from pytest_evalstudio.engine.scoring.verdicts import flips, verdict
from pytest_evalstudio.models.sentences import split_sentences

if TYPE_CHECKING:
    from pytest_evalstudio.engine.scoring.model_provider import ModelProvider
    from pytest_evalstudio.formats.config import Configuration


class Progress(Protocol):
    """Called with the progress of the current work, in the thread that does it."""

    def __call__(self, done: int, total: int, /, *, what: str = "answers") -> None: ...


class Asked(Protocol):
    """A model that can be asked; `engine.resolve.ModelSession` is one."""

    @property
    def retrieves(self) -> bool | None: ...

    def ask(self, prompts: Sequence[Prompt], *, progress: Progress | None = None) -> list[Answer]: ...

    def peek(self, prompts: Sequence[Prompt]) -> list[Answer | None]: ...


class Pipeline:
    """Asks models, scores answers and reaches verdicts under one plan.

    Items, checks of Python tests, the API, judge-check and steps of workflows are all evaluated here.

    Args:
        plan: evaluators and thresholds.
        models: model key to the session that asks it; not needed for answered tasks.
        strict_flips: whether a pass-to-fail flip of an asserted metric fails the perturbed case.
        provide: what an evaluator is provided; the splitter of sentences alone where not given.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        models: Mapping[str, Asked] = NOTHING,
        strict_flips: bool = True,
        provide: Callable[[ConfiguredEvaluator], Tools] | None = None,
    ) -> None:
        self.plan = plan
        self._models = models
        self._strict_flips = strict_flips
        self._provide = provide or _sentence_splitter_only

    @classmethod
    def under(
        cls,
        config: Configuration,
        plan: Plan,
        provider: ModelProvider,
        *,
        models: Mapping[str, Asked] = NOTHING,
    ) -> Self:
        """Return the pipeline of a configuration.

        Args:
            plan: the configuration's evaluators.
            provider: opens the models and judges that they use.
            models: model key to the session that asks it.
        """
        return cls(
            plan,
            models=models,
            strict_flips=config.flips == "fail",
            provide=functools.partial(provider.tools_of, config),
        )

    def evaluate(
        self,
        tasks: Sequence[EvalTask],
        *,
        progress: Progress | None = None,
        earlier: Mapping[EvalTask, Result] | None = None,
    ) -> list[Result]:
        """Answer, score and judge a chunk; one result per task, in order.

        Originals that are not in the chunk are scored in addition if their answers are available, so that the
        flips of their perturbations are found.

        Args:
            earlier: results of the same run for linked tasks that are not in the chunk.
        """
        started = time.perf_counter()
        earlier = earlier or {}
        companions = [task for task in self._companions(tasks) if task not in earlier]
        together = [*tasks, *companions]
        results = [
            Result(task, answers, [{} for _ in answers])
            for task, answers in zip(together, self._answers(together, progress), strict=True)
        ]
        self._score(results, earlier)
        by_task = _by_task(results, earlier)
        beside = set(companions)
        for result in results:
            self._decide(result)
        for result in results[: len(tasks)]:
            if result.task.source is None:
                continue
            result.origin = origin(result.task.case.categories, self.plan.perturbators)
            original = by_task.get(result.task.source)
            if original is not None:
                result.compared_beside = (
                    _scored(result) & _scored(original) if original.task in beside else frozenset()
                )
                result.flips = flips(
                    result.task,
                    result.verdicts,
                    original.verdicts,
                    result.origin,
                    strict=self._strict_flips,
                )
        share = (time.perf_counter() - started) / max(1, len(tasks))
        for result in results:
            result.seconds = share
        return results[: len(tasks)]

    def selected_for(self, task: EvalTask) -> tuple[ConfiguredEvaluator, ...]:
        """Return the evaluators of a task."""
        if task.chosen is None:
            task.chosen = self.plan.for_case(task.choice)
        return task.chosen

    def _companions(self, tasks: Sequence[EvalTask]) -> list[EvalTask]:
        here = {id(task) for task in tasks}
        linked = (
            other for task in tasks for other in (task.source, *task.related.values()) if other is not None
        )
        wanted = {id(other): other for other in linked if id(other) not in here}
        return [source for source in wanted.values() if source.answered or self._stored(source)]

    def _stored(self, task: EvalTask) -> bool:
        asked = self._models.get(task.model.key)
        return asked is not None and all(answer is not None for answer in asked.peek(prompts_of(task)))

    def _answers(self, tasks: Sequence[EvalTask], progress: Progress | None) -> list[tuple[Case, ...]]:
        waiting: dict[str, list[int]] = {}
        for index, task in enumerate(tasks):
            if not task.answered:
                waiting.setdefault(task.model.key, []).append(index)
        answers_of_tasks = [task.answers for task in tasks]
        for key, indices in waiting.items():
            asked = self._models[key]
            prompts = [prompt for index in indices for prompt in prompts_of(tasks[index])]
            answers = iter(asked.ask(prompts, progress=progress))
            for index in indices:
                task = tasks[index]
                answers_of_tasks[index] = tuple(
                    answered(task.case, next(answers), task.model, run, retrieves=asked.retrieves)
                    for run in range(1, task.model.runs + 1)
                )
        return answers_of_tasks

    def _score(self, results: Sequence[Result], earlier: Mapping[EvalTask, Result]) -> None:
        batches: dict[ConfiguredEvaluator, list[tuple[Result, int]]] = {}
        for result in results:
            for selected in self.selected_for(result.task):
                batches.setdefault(selected, []).extend(
                    (result, index) for index in range(len(result.answers))
                )
        by_task = _by_task(results, earlier)
        for selected, places in batches.items():
            if selected.spec.compares:
                cases = [_compared(selected, result, index, by_task) for result, index in places]
            else:
                cases = [result.answers[index] for result, index in places]
            outcomes = score(selected, cases, self._provide(selected))
            for (result, index), outcome in zip(places, outcomes, strict=True):
                result.outcomes[index][selected] = outcome
        for result in results:
            for by_evaluator in result.outcomes:
                by_evaluator.update(
                    {
                        selected: calibrated(selected, by_evaluator)
                        for selected in by_evaluator
                        if selected.attached is not None
                    }
                )

    def _decide(self, result: Result) -> None:
        for selected in self.selected_for(result.task):
            result.verdicts[selected] = verdict(
                selected, [outcomes[selected] for outcomes in result.outcomes]
            )


def _by_task(results: Iterable[Result], earlier: Mapping[EvalTask, Result]) -> dict[EvalTask, Result]:
    return {**earlier, **{result.task: result for result in results}}


def _compared(
    selected: ConfiguredEvaluator, result: Result, index: int, by_task: Mapping[EvalTask, Result]
) -> Case:
    """Return the case of a repeat, with the case that the evaluator compares it with, if any."""
    case = result.answers[index]
    linked = result.task.related.get(selected.spec.compares)
    other = by_task.get(linked) if linked is not None else None
    return (
        case
        if other is None
        else dataclasses.replace(case, counterpart=other.answers[min(index, len(other.answers) - 1)])
    )


def answered(case: Case, answer: Answer, model: ModelInfo, run: int, *, retrieves: bool | None) -> Case:
    """Return the case of a question with a model's answer, as evaluators take it."""
    return dataclasses.replace(
        case,
        actual_output=answer.text,
        context=answer.context,
        context_sources=answer.context_sources,
        context_scores=answer.context_scores,
        model_key=model.key,
        model_name=model.label,
        is_rag=is_rag(retrieves, answer.context),
        run=run,
        duration_s=answer.duration_s,
        first_token_s=answer.first_token_s,
        served_model=answer.served_model,
        request_id=answer.request_id,
        cost_usd=answer.cost_usd,
        usage=answer.usage,
        retries=answer.retries,
        tool_calls=answer.tool_calls,
        error=answer.error,
        artifacts=answer.artifacts,
    )


def _scored(result: Result) -> frozenset[str]:
    """Return the ids of the evaluators that scored the result."""
    return frozenset(selected.id for selected, own in result.verdicts.items() if own.status == "score")


def _sentence_splitter_only(_: ConfiguredEvaluator) -> Tools:
    return Tools(split_sentences=split_sentences)


def prompts_of(task: EvalTask) -> list[Prompt]:
    """Return the prompts of a task whose model is to be asked, one per repeat."""
    case, source = task.case, task.source
    return [
        prompt_of(
            case.question,
            key=case.key,
            corpus=case.corpus,
            run=run,
            conversation=case.conversation,
            originals=(source.case.question,) if source is not None else (),
            attempt=task.attempt,
        )
        for run in range(1, task.model.runs + 1)
    ]
