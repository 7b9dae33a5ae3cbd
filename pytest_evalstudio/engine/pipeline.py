"""The one way from tasks to results: resolve, score, decide."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from pytest_evalstudio.core.cases import NOTHING, Answer, Case, Prompt
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.engine.asking.prompts import prompt_of
from pytest_evalstudio.engine.origins import origin
from pytest_evalstudio.engine.scoring.calibrated import calibrated
from pytest_evalstudio.engine.scoring.plan import Plan, Selected
from pytest_evalstudio.engine.scoring.results import Result
from pytest_evalstudio.engine.scoring.score import score
from pytest_evalstudio.engine.scoring.subjects import ModelInfo, Subject, is_rag
from pytest_evalstudio.engine.scoring.verdicts import flips, verdict
from pytest_evalstudio.models.sentences import split_sentences

if TYPE_CHECKING:
    from pytest_evalstudio.engine.scoring.lending import Lender
    from pytest_evalstudio.formats.config import Configuration


class Progress(Protocol):
    """Called with how much of the work at hand is done, in the thread that does it."""

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
        models: model key to the session that asks it; not needed for answered subjects.
        strict_flips: whether a pass-to-fail flip of an asserted metric fails the perturbed case.
        lend: what an evaluator is lent; the splitter of sentences alone where not given.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        models: Mapping[str, Asked] = NOTHING,
        strict_flips: bool = True,
        lend: Callable[[Selected], Tools] | None = None,
    ) -> None:
        self.plan = plan
        self._models = models
        self._strict_flips = strict_flips
        self._lend = lend or _sentence_splitter_only

    @classmethod
    def under(
        cls, config: Configuration, plan: Plan, provider: Lender, *, models: Mapping[str, Asked] = NOTHING
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
            lend=functools.partial(provider.tools_of, config),
        )

    def evaluate(self, subjects: Sequence[Subject], *, progress: Progress | None = None) -> list[Result]:
        """Answer, score and judge a chunk; one result per subject, in order.

        Originals that are not in the chunk are scored beside it where their answers are at hand, so that the
        flips of their perturbations are found.
        """
        started = time.perf_counter()
        companions = self._companions(subjects)
        together = [*subjects, *companions]
        results = [
            Result(subject, answers, [{} for _ in answers])
            for subject, answers in zip(together, self._answers(together, progress), strict=True)
        ]
        self._score(results, progress)
        by_subject = {id(result.subject): result for result in results}
        beside = {id(companion) for companion in companions}
        for result in results:
            self._decide(result)
        for result in results[: len(subjects)]:
            if result.subject.source is None:
                continue
            result.origin = origin(result.subject.case.categories, self.plan.perturbators)
            original = by_subject.get(id(result.subject.source))
            if original is not None:
                result.compared_beside = (
                    _scored(result) & _scored(original) if id(original.subject) in beside else frozenset()
                )
                result.flips = flips(
                    result.subject,
                    result.verdicts,
                    original.verdicts,
                    result.origin,
                    strict=self._strict_flips,
                )
        share = (time.perf_counter() - started) / max(1, len(subjects))
        for result in results:
            result.seconds = share
        return results[: len(subjects)]

    def selected_for(self, subject: Subject) -> tuple[Selected, ...]:
        """The evaluators of a subject."""
        if subject.chosen is None:
            subject.chosen = self.plan.for_case(subject.choice)
        return subject.chosen

    def _companions(self, subjects: Sequence[Subject]) -> list[Subject]:
        here = {id(subject) for subject in subjects}
        linked = (
            other
            for subject in subjects
            for other in (subject.source, *subject.related.values())
            if other is not None
        )
        wanted = {id(other): other for other in linked if id(other) not in here}
        return [source for source in wanted.values() if source.answered or self._stored(source)]

    def _stored(self, subject: Subject) -> bool:
        asked = self._models.get(subject.model.key)
        return asked is not None and all(answer is not None for answer in asked.peek(_prompts(subject)))

    def _answers(self, subjects: Sequence[Subject], progress: Progress | None) -> list[tuple[Case, ...]]:
        waiting: dict[str, list[int]] = {}
        for index, subject in enumerate(subjects):
            if not subject.answered:
                waiting.setdefault(subject.model.key, []).append(index)
        found = [subject.answers for subject in subjects]
        for key, indices in waiting.items():
            asked = self._models[key]
            prompts = [prompt for index in indices for prompt in _prompts(subjects[index])]
            answers = iter(asked.ask(prompts, progress=progress))
            for index in indices:
                subject = subjects[index]
                found[index] = tuple(
                    answered(subject.case, next(answers), subject.model, run, retrieves=asked.retrieves)
                    for run in range(1, subject.model.runs + 1)
                )
        return found

    def _score(self, results: Sequence[Result], progress: Progress | None) -> None:
        batches: dict[Selected, list[tuple[Result, int]]] = {}
        for result in results:
            for selected in self.selected_for(result.subject):
                batches.setdefault(selected, []).extend(
                    (result, index) for index in range(len(result.answers))
                )
        by_subject = {id(result.subject): result for result in results}
        for selected, places in batches.items():
            if selected.spec.compares:
                cases = [_compared(selected, result, index, by_subject) for result, index in places]
            else:
                cases = [result.answers[index] for result, index in places]
            outcomes = score(selected, cases, self._lend(selected))
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
        for selected in self.selected_for(result.subject):
            result.verdicts[selected] = verdict(
                selected, [outcomes[selected] for outcomes in result.outcomes]
            )


def _compared(selected: Selected, result: Result, index: int, by_subject: Mapping[int, Result]) -> Case:
    """A repeat's case, with the one that the evaluator compares it with where there is one."""
    case = result.answers[index]
    other = by_subject.get(id(result.subject.related.get(selected.spec.compares)))
    return (
        case
        if other is None
        else dataclasses.replace(case, counterpart=other.answers[min(index, len(other.answers) - 1)])
    )


def answered(case: Case, answer: Answer, model: ModelInfo, run: int, *, retrieves: bool | None) -> Case:
    """A question and what a model said to it, as evaluators see it."""
    return dataclasses.replace(
        case,
        actual_output=answer.text,
        context=answer.context,
        context_sources=answer.context_sources,
        model_key=model.key,
        model_name=model.label,
        is_rag=is_rag(retrieves, answer.context),
        run=run,
        duration_s=answer.duration_s,
        cost_usd=answer.cost_usd,
        usage=answer.usage,
        retries=answer.retries,
        error=answer.error,
    )


def _scored(result: Result) -> frozenset[str]:
    """Ids of the evaluators that scored it."""
    return frozenset(selected.id for selected, own in result.verdicts.items() if own.status == "score")


def _sentence_splitter_only(_: Selected) -> Tools:
    return Tools(split_sentences=split_sentences)


def _prompts(subject: Subject) -> list[Prompt]:
    case, source = subject.case, subject.source
    return [
        prompt_of(
            case.question,
            key=case.key,
            corpus=case.corpus,
            run=run,
            conversation=case.conversation,
            originals=(source.case.question,) if source is not None else (),
        )
        for run in range(1, subject.model.runs + 1)
    ]
