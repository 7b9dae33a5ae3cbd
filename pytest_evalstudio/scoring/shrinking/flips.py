"""Shrinking the flips of a run: questions with fewer edits are asked until the smallest one is known."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from pytest_evalstudio.asking.dialogues import Dialogue, Request
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.flips import Flip, ShrinkCode, SmallestEdit
from pytest_evalstudio.scoring.answering import requests_of
from pytest_evalstudio.scoring.pipeline import AnsweringModel, Pipeline, Progress
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.shrinking.budget import CallBudget
from pytest_evalstudio.scoring.shrinking.search import FlipSearch, Probe
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

OF_FLIP = "the calls of one flip are used up"
OF_RUN = "the calls of the run are used up"

FlipKey = tuple[str, str, str]
"""Evaluator, metric and direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkLimits:
    """Limits of the search.

    Attributes:
        budget: calls of the run.
        calls_per_flip: calls of each flip, 1 or more.
    """

    budget: CallBudget
    calls_per_flip: int


class FlipShrinker:
    """Searches the smallest edits of flips.

    Args:
        pipeline: asks and scores, as it does for the run's own questions.
        models: model key to the session that asks it.
        is_repeatable: whether a model answers each question as it did in this run.
        limits: of the calls.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        models: Mapping[str, AnsweringModel],
        is_repeatable: Callable[[ModelInfo], bool],
        limits: ShrinkLimits,
    ) -> None:
        self._pipeline = pipeline
        self._models = models
        self._is_repeatable = is_repeatable
        self._limits = limits

    def shrink(
        self,
        results: Sequence[Result],
        *,
        progress: Progress | None = None,
        earlier: Mapping[EvalTask, Result],
    ) -> None:
        """Note the smallest edit in each flip of some results.

        Cases with flips that fail them come first. Unchanged copies have no edits, and are left out.

        Args:
            results: of a chunk.
            progress: called with the progress of each round.
            earlier: results of the originals and of other linked tasks.
        """
        cases = [jobs for result in results if (jobs := self._jobs(result))]
        waiting = deque(sorted(cases, key=lambda jobs: min(map(_rank, jobs))))
        by_task = {**earlier, **{result.task: result for result in results}}
        active: list[_Job] = []
        while waiting or active:
            # Few at a time where the budget is short: it ends some searches rather than begins all. The flips
            # of a case are searched together, since they share questions.
            width = max(1, self._limits.budget.remaining // self._limits.calls_per_flip)
            while waiting and len(active) < width:
                active += waiting.popleft()
            self._round([job for job in active if not job.is_done], by_task, progress)
            active = [job for job in active if not job.is_done]

    def _jobs(self, result: Result) -> list[_Job]:
        source, case = result.task.source, result.task.case
        if source is None or not result.flips:
            return []
        before, after = _messages(source.case), _messages(case)
        # A control copy: its flip is noise of the model, and no edit can be left out.
        if before == after:
            return []
        changed = [turn for turn, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]]
        # With two changed messages no single text holds all edits, so the search would be of one half only.
        is_single = len(changed) == 1 and len(before) == len(after)
        texts = (
            (before[changed[0]], after[changed[0]]) if is_single else (source.case.question, case.question)
        )
        # Shared, since flips of one case often need the same question; each answer then costs calls once.
        answers: dict[tuple[FlipKey, Probe], bool] = {}
        jobs = [
            _Job(
                result=result,
                index=index,
                turn=changed[0] if is_single else 0,
                search=FlipSearch(
                    *texts,
                    is_repeatable=result.task.answered or self._is_repeatable(result.task.model),
                ),
                answers=answers,
            )
            for index in range(len(result.flips))
        ]
        for job in jobs:
            if result.task.answered:
                job.end(ShrinkCode.NO_MODEL)
            elif not is_single or source.case.conversation != case.conversation:
                job.end(ShrinkCode.OTHER_CHANGES)
        return jobs

    def _round(
        self, jobs: Sequence[_Job], by_task: Mapping[EvalTask, Result], progress: Progress | None
    ) -> None:
        """Ask one question of each job; jobs of one case that have the same question share it."""
        shared: dict[tuple[Result, Probe], list[_Job]] = {}
        for job in jobs:
            if (probe := job.unanswered()) is not None:
                shared.setdefault((job.result, probe), []).append(job)
        questions = [
            question
            for (result, probe), together in shared.items()
            if (question := self._admitted(result, probe, together)) is not None
        ]
        if not questions:
            return
        results = self._pipeline.evaluate(
            [question.task for question in questions], progress=progress, earlier=by_task
        )
        for question, result in zip(questions, results, strict=True):
            # The answers include stored ones, which took no call.
            spent_calls = min(question.answers, sum(map(_calls, result.answers))) + _judge_calls(result)
            self._limits.budget.settle(question.reserved_calls, spent_calls)
            question.jobs[0].calls += spent_calls
            for job in question.jobs:
                job.note(question.probe, result)

    def _admitted(self, result: Result, probe: Probe, jobs: Sequence[_Job]) -> _Question | None:
        """Return a question within the limits; None, and end its jobs, if it exceeds them."""
        task = self._task(result, probe, jobs)
        requests = requests_of(task, count=task.model.runs)
        session = self._models[task.model.key]
        answers = sum(
            _most_calls(request)
            for request, stored in zip(requests, session.peek(requests), strict=True)
            if stored is None
        )
        # As many calls of judges as the case itself took per repeat; the real number is settled afterwards.
        repeats = max(1, len(result.outcomes))
        judged = _judge_calls(result, task.chosen or ()) * len(requests) // repeats
        reserved_calls = answers + judged
        reason = ""
        if jobs[0].calls + reserved_calls > self._limits.calls_per_flip:
            reason = OF_FLIP
        elif not self._limits.budget.take(reserved_calls):
            reason = OF_RUN
        for job in jobs if reason else ():
            job.end(ShrinkCode.BUDGET, reason)
        return (
            None
            if reason
            else _Question(probe=probe, jobs=jobs, task=task, answers=answers, reserved_calls=reserved_calls)
        )

    def _task(self, result: Result, probe: Probe, jobs: Sequence[_Job]) -> EvalTask:
        """Return the task of a question, scored by the evaluators whose flips are open."""
        ids = {job.flip.evaluator for job in jobs}
        selected = self._pipeline.selected_for(result.task)
        # A calibrated score is computed from the scores of other evaluators, which therefore run as well.
        for each in selected:
            if each.id in ids and each.attached is not None:
                ids |= {metric.evaluator for metric in each.attached.calibration.metrics}
        return dataclasses.replace(
            result.task,
            case=_with_message(result.task.case, jobs[0].turn, probe.text),
            chosen=tuple(each for each in selected if each.id in ids),
            sample=probe.sample,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """Question of a round.

    Attributes:
        jobs: of one case; the first one takes the calls.
        answers: highest number of calls of the model.
        reserved_calls: admitted by the budget, those of judges included.
    """

    probe: Probe
    jobs: Sequence[_Job]
    task: EvalTask
    answers: int
    reserved_calls: int


class _Job:
    """Search for the smallest edit of one flip.

    Args:
        result: of the perturbed case.
        index: of the flip in the result.
        turn: index of the perturbed message.
        search: in the message.
        answers: whether each question of the case flips, by the key of the flip; shared by its jobs.
    """

    def __init__(
        self,
        *,
        result: Result,
        index: int,
        turn: int,
        search: FlipSearch,
        answers: dict[tuple[FlipKey, Probe], bool],
    ) -> None:
        self.result = result
        self.turn = turn
        self.flip = result.flips[index]
        self.calls = 0
        self.is_done = False
        self._index = index
        self._search = search
        self._probes = search.probes()
        self._key = _key_of(self.flip)
        self._answers = answers
        # Both ends are known from the run itself, and are never asked again.
        self._answers[self._key, Probe(text=search.original)] = False
        self._answers[self._key, Probe(text=search.perturbed)] = True
        self._pending: Probe | None = None

    def unanswered(self) -> Probe | None:
        """Return the next question without an answer; None, and end the search, if there is none."""
        try:
            probe = self._pending or next(self._probes)
            while (flips := self._answers.get((self._key, probe))) is not None:
                probe = self._probes.send(flips)
        except StopIteration as end:
            self.end(end.value)
            return None
        self._pending = probe
        return probe

    def note(self, probe: Probe, result: Result) -> None:
        """Take the result of a question, and end the search if it has none."""
        reason = result.not_run or next((fault.reason for fault in result.errors), "")
        if reason:
            self.end(ShrinkCode.INTERRUPTED, reason)
        else:
            self._answers[self._key, probe] = any(_key_of(flip) == self._key for flip in result.flips)

    def end(self, code: ShrinkCode, reason: str = "") -> None:
        """Note the end of the search in the flip."""
        self.is_done = True
        self._probes.close()
        smallest = SmallestEdit(
            code=code,
            original=self._search.original,
            question=self._search.question,
            edits=len(self._search.smallest),
            total_edits=self._search.total,
            calls=self.calls,
            reason=reason,
        )
        self.result.flips[self._index] = structs.replace(self.flip, smallest=smallest)


def _rank(job: _Job) -> tuple[bool, bool]:
    """Return the sort key of a job: flips that fail their case come first, changes of the meaning last."""
    return not job.flip.fails, not job.flip.meaning_kept


def _key_of(flip: Flip) -> FlipKey:
    return flip.evaluator, flip.metric, flip.direction


def _messages(case: Case) -> tuple[str, ...]:
    """Return the messages of the user that are known before."""
    return (case.question,) if case.plan is None else case.plan.messages


def _with_message(case: Case, turn: int, text: str) -> Case:
    """Return a case with another message in place of one of its own."""
    if case.plan is None:
        return structs.replace(case, question=text)
    messages = [*case.plan.messages]
    messages[turn] = text
    return structs.replace(case, question=messages[0], plan=case.plan.with_messages(messages))


def _most_calls(request: Request) -> int:
    """Return how many calls a question or conversation takes at most, those of a simulated user included."""
    if not isinstance(request, Dialogue):
        return 1
    # Each message that a model plays is a call of its own before the call of the application.
    return request.user.max_messages * (2 if request.user.asks_model else 1)


def _calls(case: Case) -> int:
    """Return the calls of an answer; each message of a user that a model plays takes one too."""
    user = None if case.plan is None else case.plan.user
    is_played = user is not None and not user.is_scripted
    return max(1, len(case.answer.turns)) * (2 if is_played else 1)


def _judge_calls(result: Result, evaluators: Collection[ConfiguredEvaluator] | None = None) -> int:
    """Return the calls of judges for all repeats of a result.

    Args:
        result: with its outcomes.
        evaluators: those that count; None for all.
    """
    return sum(
        outcome.judging.calls
        for by_evaluator in result.outcomes
        for selected, outcome in by_evaluator.items()
        if outcome.judging is not None and (evaluators is None or selected in evaluators)
    )
