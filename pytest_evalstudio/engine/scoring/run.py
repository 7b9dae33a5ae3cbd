"""Works off chunks: asks the models, puts the answers to the evaluators, reaches verdicts."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_evalstudio.core.cases import NOTHING, Answer, Case, Prompt
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.engine.perturbing.categories import Origin, origin
from pytest_evalstudio.engine.scoring.calibrated import calibrated
from pytest_evalstudio.engine.scoring.entries import flip_entries, overridden, row_entry, verdict_entry
from pytest_evalstudio.engine.scoring.identifiers import safe_identifier
from pytest_evalstudio.engine.scoring.plan import Plan, Selected
from pytest_evalstudio.engine.scoring.score import score
from pytest_evalstudio.engine.scoring.subjects import ModelInfo, Subject, is_rag
from pytest_evalstudio.engine.scoring.verdicts import Flip, Verdict, flips, verdict
from pytest_evalstudio.evaluators.detectors import redact
from pytest_evalstudio.models.sentences import split_sentences

REMEMBERED_CHARS = 20_000
WHATEVER_WAS_ASKED = ("privacy", "security", "fairness")
"""Types of problems that no question excuses."""


class Progress(Protocol):
    """Called with how much of the work at hand is done, in the thread that does it."""

    def __call__(self, done: int, total: int, /, *, what: str = "answers") -> None: ...


class Asked(Protocol):
    """A model that can be asked; `engine.resolve.ModelSession` is one."""

    @property
    def retrieves(self) -> bool | None: ...

    def ask(self, prompts: Sequence[Prompt], *, progress: Progress | None = None) -> list[Answer]: ...

    def peek(self, prompts: Sequence[Prompt]) -> list[Answer | None]: ...


@dataclass(slots=True, eq=False)
class Result:
    """What a chunk's work gives for one subject.

    Attributes:
        answers: one answered case per repeat.
        outcomes: per repeat: evaluator to outcome.
        verdicts: evaluator to verdict over the repeats.
        origin: how a perturbed case was made; None for an original.
        compared_beside: evaluators that compared it with an original which is no part of this run, but was
            scored beside it.
        seconds: the subject's share of the chunk's wall time.
    """

    subject: Subject
    answers: tuple[Case, ...]
    outcomes: list[dict[Selected, Outcome]]
    verdicts: dict[Selected, Verdict] = field(default_factory=dict)
    flips: list[Flip] = field(default_factory=list)
    origin: Origin | None = None
    compared_beside: frozenset[str] = frozenset()
    seconds: float = 0.0

    @property
    def errors(self) -> list[tuple[str, str]]:
        """(evaluator, what went wrong) for each evaluator that gave no verdict because something broke."""
        return [(selected.id, own.reason) for selected, own in self.verdicts.items() if own.status == "error"]

    def decides(self, selected: Selected) -> bool:
        """Whether an evaluator's verdict decides the item: where a perturbation changed the meaning, what is
        expected of the original is not expected here, and only leaks and unfairness count.
        """
        return (
            self.origin is None
            or self.origin.meaning_kept
            or selected.spec.problem_type in WHATEVER_WAS_ASKED
        )

    @property
    def applicable(self) -> bool:
        return any(own.status != "not_applicable" for own in self.verdicts.values())


class Engine:
    """Evaluates subjects under one plan.

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
        self._lend = lend or _splitter_alone

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


def _splitter_alone(_: Selected) -> Tools:
    return Tools(split_sentences=split_sentences)


def _prompts(subject: Subject) -> list[Prompt]:
    case, source = subject.case, subject.source
    sample = case.key if source is not None and source.case.question == case.question else ""
    return [
        Prompt(text=case.question, corpus=case.corpus, run=run, conversation=case.conversation, sample=sample)
        for run in range(1, subject.model.runs + 1)
    ]


def masked(text: str) -> str:
    """A text with personal data and secrets masked."""
    return _masked_again(text) if len(text) <= REMEMBERED_CHARS else redact(text)


@functools.lru_cache(maxsize=1024)
def _masked_again(text: str) -> str:
    """Questions and contexts recur from model to model, so the work on short ones is kept."""
    return redact(text)


def result_entry(result: Result, run_wide: Mapping[str, Selected]) -> dict[str, Any]:
    """The part of an item's entry in the record that the chunk's work decides.

    Args:
        run_wide: the evaluators as the record's header has them; thresholds that differ stand with the item.
    """
    subject = result.subject
    verdicts = {}
    for selected, own in result.verdicts.items():
        entry = verdict_entry(selected, own, masked)
        if thresholds := overridden(selected, run_wide.get(selected.id)):
            entry["thresholds"] = thresholds
        verdicts[selected.id] = entry
    return {
        "rows": [
            shortened(row_entry(case, outcomes, masked), case.folder)
            for case, outcomes in zip(result.answers, result.outcomes, strict=True)
        ],
        "verdicts": verdicts,
        "flips": flip_entries(result.flips),
        **(
            {"perturbed": _origin_entry(result.origin, result.compared_beside)}
            if result.origin is not None
            else {}
        ),
        **({"xfail": masked(subject.xfail)} if subject.xfail else {}),
    }


def _origin_entry(made: Origin, compared_beside: frozenset[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"by": list(made.by), "meaning_kept": made.meaning_kept}
    return {**entry, "compared": sorted(compared_beside)} if compared_beside else entry


def shortened(entry: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return a row with documents below its folder named from there, so that a record is the same on every
    machine, and masked.
    """
    prefix = folder.rstrip(os.sep) + os.sep
    for name in ("corpus", "context_sources", "expected_documents"):
        if name in entry:
            entry[name] = [safe_identifier(uri.removeprefix(prefix)) for uri in entry[name]]
    return entry
