"""Chunks of items, which are evaluated together when the first of them needs its outcome."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_evalstudio.core.display import visible
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.plugin.confirming import confirm
from pytest_evalstudio.scoring.answering import requests_of
from pytest_evalstudio.scoring.chunks import cut
from pytest_evalstudio.scoring.messages import misses
from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.session import EvalSession

INDEX = pytest.StashKey[int]()
"""An item's place in the run."""
PROGRESS_EVERY_S = 0.2  # a terminal or CI log need not show each of 10,000 answers
SAVE_CURSOR, RESTORE_CURSOR, CLEAR_TO_END = "\x1b7", "\x1b8", "\x1b[K"


class ItemChunk:
    """Items that are resolved and scored together, in steps of the run's pace.

    Items with fixtures that are set up for each of them are evaluated one by one.

    Attributes:
        name: the same in every worker of a run.
        spent_s: wall time of the evaluation, until the report of the item that waited for it subtracts it.
    """

    def __init__(
        self,
        name: str,
        evals: EvalSession,
        pipeline: Pipeline,
        items: Sequence[EvalItem],
        *,
        by_question: bool = False,
    ) -> None:
        self.name = name
        self.pipeline = pipeline
        self.spent_s = 0.0
        self._evals = evals
        self._by_question = by_question
        self._is_by_item = any(item.fixtures and item.fixtures.is_set_up_per_item for item in items)
        self._waiting = {item.planned: item for item in items}
        self._requested: set[EvalTask] = set()
        self._results: dict[EvalTask, Result] = {}
        self._linked = {task for item in items for task in _links(item.task)}
        self._failure: Exception | None = None

    def result(self, item: EvalItem) -> Result:
        """Return an item's result; evaluate it, and the items of its step, if that has not been done.

        Raises:
            Exception: the fault that prevented the evaluation, for each item of the chunk.
        """
        if self._failure is not None and item.task.attempt == 1:
            raise self._failure
        if self.finished(item) is None:
            started = time.perf_counter()
            try:
                self._evaluate(item)
            except Exception as exc:
                self._failure = exc
                raise
            finally:
                self.spent_s += time.perf_counter() - started
        return self._results[item.planned]

    def finished(self, item: EvalItem) -> Result | None:
        """Return the result of an item's attempt, None if it has not been evaluated."""
        result = self._results.get(item.planned)
        return result if result is not None and result.task.attempt == item.task.attempt else None

    def release(self, item: EvalItem) -> None:
        """Drop an item's result once all attempts are reported and no waiting item is compared with it."""
        self._waiting.pop(item.planned, None)
        if not self._waiting:
            self._results.clear()
            self._linked.clear()
            self._requested.clear()
        elif item.planned not in self._linked:
            self._results.pop(item.planned, None)

    def _evaluate(self, item: EvalItem) -> None:
        items = self._step(item)
        if self._evals.pacing.is_timed(item) and item.task.attempt == 1:
            self._request(items)
            items = self._inseparable(item)
        tasks = [member.task for member in items]
        if any(evaluator.judge for evaluator in self.pipeline.plan.selected):
            self._evals.recorder.import_ahead()
        with ProgressLine(item, item.task.model.label) as progress:
            results = self.pipeline.evaluate(tasks, progress=progress, earlier=self._results)
            evaluated = list(zip(items, results, strict=True))
            confirm(self._evals, self.pipeline, evaluated, progress=progress, earlier=self._results)
            if self._evals.shrink_limits is not None:
                from pytest_evalstudio.plugin.shrinking import shrink

                shrink(self._evals, self.pipeline, results, progress=progress, earlier=self._results)
        self._results.update(zip((member.planned for member in items), results, strict=True))
        self._evals.pacing.done(failed=any(result.errors or misses(result) for result in results))

    def _step(self, item: EvalItem) -> list[EvalItem]:
        """Return the items that are evaluated now: the given one, and following ones as the pace allows."""
        if item.task.attempt > 1:
            return [item]
        if self._is_by_item:  # others would be asked between the set-up and the teardown of this one
            return self._inseparable(item)
        size = self._evals.pacing.size()
        if size is None:
            return [member for task, member in self._waiting.items() if task not in self._results]
        members = self._inseparable(item)
        for task, member in self._waiting.items():
            if len(members) >= size:
                break
            if task not in self._results and member not in members:
                members.append(member)
        return members

    def _inseparable(self, item: EvalItem) -> list[EvalItem]:
        """Return an item and the unevaluated ones that it depends on, in the order of the run.

        The pipeline would ask for the answer of a linked task that is neither in the step nor evaluated, and
        ask again when its own item runs. Links are followed to the end: a linked task may have some too.
        """
        needed = {item.planned}
        open_tasks = [item.planned]
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

    def _request(self, step: Sequence[EvalItem]) -> None:
        """Request the answers of a step, so that they arrive while its items are evaluated one by one."""
        for member in step:
            if member.task.answered or member.task in self._requested or member.host_fixture:
                continue
            self._requested.add(member.task)
            self._evals.models.asked[member.task.model.key].request(requests_of(member.task))


def _links(task: EvalTask) -> Iterator[EvalTask]:
    """Yield the tasks that a task is compared with."""
    yield from (other for other in (task.source, *task.related.values()) if other is not None)


class ProgressLine:
    """Count of arrived answers or judgements after the terminal's current line.

    Without a terminal nothing is shown.
    """

    def __init__(self, item: pytest.Item, label: str) -> None:
        self._label = visible(label)[:30]
        reporter = item.config.pluginmanager.get_plugin("terminalreporter")
        self._wanted = reporter is not None and reporter.isatty and os.environ.get("TERM") != "dumb"
        self._capture = item.config.pluginmanager.get_plugin("capturemanager")
        self._next = 0.0
        self._shown = False

    def __enter__(self) -> Progress:
        return self._show

    def _show(self, done: int, total: int, /, *, what: str = "answers") -> None:
        now = time.monotonic()
        if not self._wanted or now < self._next:
            return
        self._next = now + PROGRESS_EVERY_S
        self._shown = True
        self._write(f"{SAVE_CURSOR} {self._label}: {done}/{total} {what}{CLEAR_TO_END}{RESTORE_CURSOR}")

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._write(CLEAR_TO_END)

    def _write(self, text: str) -> None:
        with (
            self._capture.global_and_fixture_disabled()
            if self._capture is not None
            else contextlib.nullcontext()
        ):
            sys.stdout.write(text)
            sys.stdout.flush()


def assign(evals: EvalSession, items: Sequence[EvalItem]) -> tuple[dict[str, str], list[ConfiguredEvaluator]]:
    """Put the items that will run into chunks.

    Returns:
        Node id to the name of its chunk, and the evaluators that the items use.

    Raises:
        ConfigurationError: if one of these lacks its judge or an option.
    """
    pipelines: dict[Configuration, Pipeline] = {}
    evaluators_by_config: dict[Configuration, dict[ConfiguredEvaluator, None]] = {}
    used: dict[ConfiguredEvaluator, None] = {}
    for item in items:
        config = evals.configuration(item.path.parent)
        if config not in pipelines:
            pipelines[config] = Pipeline.under(
                config,
                evals.plan(config),
                evals.provider,
                models=evals.models.asked,
                spans=evals.spans,
                reports_unchecked=True,
            )
            evaluators_by_config[config] = {}
        selected = dict.fromkeys(pipelines[config].selected_for(item.task))
        used.update(selected)
        if not item.task.skip:
            evaluators_by_config[config].update(selected)
    for config, evaluators in evaluators_by_config.items():
        evals.provider.open_available(config, evaluators)
    running = [item for item in items if not item.task.skip]
    names: dict[str, str] = {}
    by_question = any(selected.spec.scope == "group" for selected in used)
    chunks = cut(
        running,
        lambda item: item.task,
        place_of=lambda item: item.path,
        by_question=by_question,
        workers=evals.workers,
    )
    for number, members in enumerate(chunks):
        first = members[0]
        name = f"{first.file.nodeid}[{first.task.model.label}]#{number}"
        pipeline = pipelines[evals.configuration(first.path.parent)]
        chunk = ItemChunk(name, evals, pipeline, members, by_question=by_question)
        for member in members:
            member.chunk = chunk
            member.locate()
            names[member.nodeid] = name
    return names, list(used)
