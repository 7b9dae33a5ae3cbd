"""Chunks of items, which are evaluated together when the first of them needs its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.progress import ANSWERS, ProgressDisplay
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.run.planning import PlannedItem
from pytest_evalstudio.run.services import Services
from pytest_evalstudio.scoring.answering import requests_of
from pytest_evalstudio.scoring.chunks import cut
from pytest_evalstudio.scoring.messages import has_misses
from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask

if TYPE_CHECKING:
    from pytest_evalstudio.run.confirming import Confirmation

GATHERING_S = 0.25
"""Seconds for which answers are gathered: progress is seen, and the fixed cost of a step does not count."""
POLL_S = 0.05


class Pacing:
    """Number of items that are evaluated together.

    All items of a chunk are, unless each of them must be able to end the run (`-x`, `--maxfail`,
    `--stepwise`): then steps grow from one item, and begin with one again after a failure.

    Args:
        grows: whether an item may end the run.
    """

    def __init__(self, *, grows: bool) -> None:
        self._grows = grows
        self._size = 1

    def size(self) -> int | None:
        """Return the number of items of the next step, None for all of the chunk."""
        return self._size if self._grows else None

    def end_step(self, *, failed: bool) -> None:
        """Adapt the size to a finished step."""
        self._size = 1 if failed else 2 * self._size


class WaitingItem(Protocol):
    """The item of the test runner that waits for its result."""

    def has_timeout(self) -> bool:
        """Return whether a timeout ends the item if it takes too long.

        Then it is evaluated by itself, so that it is charged its own time; the answers of its step are still
        requested together.
        """

    def progress(self, beginning: str) -> ProgressDisplay:
        """Return the display of what the item waits for.

        Args:
            beginning: what is done before the first object is counted.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Environment that all chunks of a process share.

    Attributes:
        pacing: number of items that are evaluated together.
        confirmation: repetition of regressed items, None where none is asked again.
        import_report: imports what the report needs while a model or judge is waited for.
    """

    services: Services
    pacing: Pacing
    confirmation: Confirmation | None
    import_report: Callable[[], None]


class ItemChunk:
    """Items that are resolved and scored together, in steps of the run's pace.

    Items with fixtures that are set up for each of them are evaluated one by one.

    Attributes:
        name: the same in every worker of a run.
        evaluation: of the run.
        spent_s: wall time of the evaluation, until the report of the item that waited for it subtracts it.
    """

    def __init__(
        self,
        name: str,
        evaluation: Evaluation,
        pipeline: Pipeline,
        items: Sequence[PlannedItem],
        *,
        by_question: bool = False,
    ) -> None:
        self.name = name
        self.evaluation = evaluation
        self.pipeline = pipeline
        self.spent_s = 0.0
        self._by_question = by_question
        self._is_by_item = any(item.is_isolated for item in items)
        self._waiting = {item.task: item for item in items}
        self._requested: dict[EvalTask, list[Future[Answer]]] = {}
        self._results: dict[EvalTask, Result] = {}
        self._linked = {task for item in items for task in _links(item.task)}
        self._failure: Exception | None = None

    def result(self, item: PlannedItem, task: EvalTask, node: WaitingItem) -> Result:
        """Return an item's result; evaluate it, and the items of its step, if that has not been done.

        Args:
            item: of the chunk.
            task: of its current attempt.
            node: that waits for it.

        Raises:
            Exception: the fault that prevented the evaluation, for each item of the chunk.
        """
        if self._failure is not None and task.attempt == 1:
            raise self._failure
        if self.finished(item, task) is None:
            started = time.perf_counter()
            try:
                self._evaluate(item, task, node)
            except Exception as exc:
                self._failure = exc
                raise
            finally:
                self.spent_s += time.perf_counter() - started
        return self._results[item.task]

    def finished(self, item: PlannedItem, task: EvalTask) -> Result | None:
        """Return the result of an item's attempt, None if it has not been evaluated."""
        result = self._results.get(item.task)
        return result if result is not None and result.task.attempt == task.attempt else None

    def release(self, item: PlannedItem) -> None:
        """Drop an item's result once all attempts are reported and no waiting item is compared with it."""
        self._waiting.pop(item.task, None)
        if not self._waiting:
            self._results.clear()
            self._linked.clear()
            self._requested.clear()
        elif item.task not in self._linked:
            self._results.pop(item.task, None)

    def _evaluate(self, item: PlannedItem, task: EvalTask, node: WaitingItem) -> None:
        evaluation = self.evaluation
        items = self._step(item, task)
        is_timed = node.has_timeout()
        if is_timed and task.attempt == 1:
            self._request(items)
            items = self._inseparable(item)
        if any(evaluator.judge for evaluator in self.pipeline.plan.selected):
            evaluation.import_report()
        with node.progress("evaluating") as progress:
            waiting_s = 0.0
            if not is_timed and self._is_streamed(items, task):
                started = time.perf_counter()
                items = self._arrived_items(item, items, progress)
                waiting_s = (time.perf_counter() - started) / len(items)
            tasks = [task if member is item else member.task for member in items]
            results = self.pipeline.evaluate(tasks, progress=progress, earlier=self._results)
            for result in results:
                result.seconds += waiting_s
            if evaluation.confirmation is not None:
                evaluated = list(zip(items, results, strict=True))
                evaluation.confirmation.confirm(
                    self.pipeline, evaluated, progress=progress, earlier=self._results
                )
            self._follow_up(items, results, progress)
            if (shrinking := evaluation.services.shrinking) is not None:
                shrinking.shrink(self.pipeline, results, progress=progress, earlier=self._results)
        self._results.update(zip((member.task for member in items), results, strict=True))
        evaluation.pacing.end_step(failed=any(result.errors or has_misses(result) for result in results))

    def _follow_up(self, items: Sequence[PlannedItem], results: Sequence[Result], progress: Progress) -> None:
        """Let optional parts look at the cases that regressed."""
        services = self.evaluation.services
        if not services.follow_ups or (baseline := services.baseline) is None:
            return
        regressed = [
            (item, result)
            for item, result in zip(items, results, strict=True)
            if result.confirmation is not None
            or (has_misses(result) and baseline.has_regressed(item, result))
        ]
        # A perturbed case is compared with its original, which may be among these results.
        earlier = {
            **self._results,
            **{item.task: result for item, result in zip(items, results, strict=True)},
        }
        for follow_up in services.follow_ups if regressed else ():
            entries = follow_up.follow(self.pipeline, regressed, progress=progress, earlier=earlier)
            services.entries.update(entries)

    def _step(self, item: PlannedItem, task: EvalTask) -> list[PlannedItem]:
        """Return the items that are evaluated now: the given one, and following ones as the pace allows."""
        if task.attempt > 1:
            return [item]
        if self._is_by_item:  # others would be asked between the set-up and the teardown of this one
            return self._inseparable(item)
        size = self.evaluation.pacing.size()
        if size is None:
            return [member for task, member in self._waiting.items() if task not in self._results]
        members = self._inseparable(item)
        for other, member in self._waiting.items():
            if len(members) >= size:
                break
            if other not in self._results and member not in members:
                members.append(member)
        return members

    def _inseparable(self, item: PlannedItem) -> list[PlannedItem]:
        """Return an item and the unevaluated ones that it depends on, in the order of the run.

        The pipeline would ask for the answer of a linked task that is neither in the step nor evaluated, and
        ask again when its own item runs. Links are followed to the end: a linked task may have some too.
        """
        needed = {item.task}
        open_tasks = [item.task]
        while open_tasks:
            task = open_tasks.pop()
            linked = list(_links(task))
            if self._by_question:  # an evaluator of groups scores all answers to a question at once
                linked += [
                    other
                    for other in self._waiting
                    if other.case.question == task.case.question and other.model is task.model
                ]
            for other in linked:
                if other in self._waiting and other not in self._results and other not in needed:
                    needed.add(other)
                    open_tasks.append(other)
        return [member for task, member in self._waiting.items() if task in needed]

    def _request(self, step: Sequence[PlannedItem]) -> None:
        """Request the answers of a step, so that they arrive while its items are evaluated."""
        models = self.evaluation.services.models
        for member in step:
            task = member.task
            if task.answered or task in self._requested or member.host_fixture:
                continue
            self._requested[task] = models.asked[task.model.key].request(requests_of(task))

    def _cancel(self, step: Sequence[PlannedItem]) -> None:
        """Cancel the answers of a step that have not arrived."""
        futures: dict[str, list[Future[Answer]]] = {}
        for member in step:
            futures.setdefault(member.task.model.key, []).extend(self._requested.get(member.task, ()))
        asked = self.evaluation.services.models.asked
        # Models of one connection share its slots: the first must not leave theirs to the last.
        with ExitStack() as held:
            for key in futures:
                held.enter_context(asked[key].held())
            for key, requested in futures.items():
                # Also a question whose future was not returned yet when the interrupt came.
                asked[key].drop_waiting()
                asked[key].cancel(requested)

    def _is_streamed(self, step: Sequence[PlannedItem], task: EvalTask) -> bool:
        """Return whether the items of a step are evaluated as their answers arrive.

        Conversations are asked by the pipeline, which may have to judge a turn before the next one. Where an
        item may end the run, and where evaluators compare answers to one question, the step decides.
        """
        return (
            len(step) > 1
            and task.attempt == 1
            and not self._by_question
            and self.evaluation.pacing.size() is None
            and all(
                not member.task.answered and member.task.case.plan is None and not member.host_fixture
                for member in step
            )
            and not self.evaluation.services.models.asked[task.model.key].answers_at_once
        )

    def _arrived_items(
        self, item: PlannedItem, step: Sequence[PlannedItem], progress: Progress
    ) -> list[PlannedItem]:
        """Request the answers of a step, wait for those of an item, and return the items that have theirs."""
        try:
            self._request(step)
            self.evaluation.import_report()  # while the model is waited for
            futures = [future for member in step for future in self._requested[member.task]]
            total = sum(map(len, self._requested.values()))
            needed = {
                future
                for member in self._inseparable(item)
                for future in self._requested.get(member.task, ())
            }
            pending = {future for future in futures if not future.done()}
            end = time.monotonic() + GATHERING_S
            while pending and (needed & pending or time.monotonic() < end):
                pending = wait(pending, timeout=POLL_S).not_done
                progress(total - len(pending), total, what=ANSWERS)
        except BaseException:
            self._cancel(step)
            raise
        return self._separable(
            [member for member in step if pending.isdisjoint(self._requested[member.task])]
        )

    def _separable(self, items: Sequence[PlannedItem]) -> list[PlannedItem]:
        """Return the items without those that depend on an unevaluated item that is not among them."""
        evaluable = {member.task: member for member in items}
        while True:
            dependent = [
                task
                for task in evaluable
                if any(
                    link in self._waiting and link not in self._results and link not in evaluable
                    for link in _links(task)
                )
            ]
            if not dependent:
                return list(evaluable.values())
            for task in dependent:
                del evaluable[task]


def _links(task: EvalTask) -> Iterator[EvalTask]:
    """Yield the tasks that a task is compared with."""
    yield from (other for other in (task.source, *task.related.values()) if other is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipelines:
    """Pipelines of the items that will run.

    Attributes:
        by_config: configuration to pipeline.
        evaluators: that the items use, in their order.
    """

    by_config: Mapping[Configuration, Pipeline]
    evaluators: tuple[ConfiguredEvaluator, ...]


def open_pipelines(services: Services, items: Iterable[PlannedItem]) -> Pipelines:
    """Return the pipelines of items, and open what their evaluators need.

    Raises:
        ConfigurationError: if one of these lacks its judge or an option.
    """
    pipelines: dict[Configuration, Pipeline] = {}
    evaluators_by_config: dict[Configuration, dict[ConfiguredEvaluator, None]] = {}
    used: dict[ConfiguredEvaluator, None] = {}
    for item in items:
        config = item.file.config
        if config not in pipelines:
            pipelines[config] = Pipeline.under(
                config,
                item.file.plan,
                services.provider,
                models=services.models.asked,
                spans=services.spans,
                reports_unchecked=True,
            )
            evaluators_by_config[config] = {}
        selected = dict.fromkeys(pipelines[config].selected_for(item.task))
        used.update(selected)
        if not item.task.skip:
            evaluators_by_config[config].update(selected)
    for config, evaluators in evaluators_by_config.items():
        services.provider.open_available(config, evaluators)
    return Pipelines(by_config=pipelines, evaluators=tuple(used))


def chunks_of(
    items: Sequence[PlannedItem], pipelines: Pipelines, evaluation: Evaluation, workers: int
) -> dict[EvalTask, ItemChunk]:
    """Return the chunk of each task that will run."""
    by_question = any(selected.spec.scope == "group" for selected in pipelines.evaluators)
    chunks = cut(
        [item for item in items if not item.task.skip],
        lambda item: item.task,
        place_of=lambda item: item.file.path,
        by_question=by_question,
        workers=workers,
    )
    by_task: dict[EvalTask, ItemChunk] = {}
    for number, members in enumerate(chunks):
        first = members[0]
        name = f"{first.file.nodeid}[{first.task.model.label}]#{number}"
        pipeline = pipelines.by_config[first.file.config]
        chunk = ItemChunk(name, evaluation, pipeline, members, by_question=by_question)
        by_task.update((member.task, chunk) for member in members)
    return by_task
