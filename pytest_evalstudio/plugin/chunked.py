"""Chunks of items, which are evaluated together when the first of them needs its outcome."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_evalstudio.core.display import visible
from pytest_evalstudio.engine.pipeline import Pipeline, Progress
from pytest_evalstudio.engine.scoring.chunks import cut
from pytest_evalstudio.engine.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.engine.scoring.results import Result
from pytest_evalstudio.formats.config import Configuration

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.session import EvalSession

INDEX = pytest.StashKey[int]()
"""An item's place in the run."""
PROGRESS_EVERY_S = 0.2
SAVE_CURSOR, RESTORE_CURSOR, CLEAR_TO_END = "\x1b7", "\x1b8", "\x1b[K"


class Chunk:
    """Items that are resolved and scored together.

    Attributes:
        name: the same in every worker of a run.
        spent_s: wall time of the work, until the report of the item that did it has taken it off.
    """

    def __init__(self, name: str, evals: EvalSession, pipeline: Pipeline, items: Sequence[EvalItem]) -> None:
        self.name = name
        self.pipeline = pipeline
        self.spent_s = 0.0
        self._evals = evals
        self._waiting = {item.nodeid: item for item in items}
        self._results: dict[str, Result] = {}
        self._failure: Exception | None = None

    def result(self, item: EvalItem) -> Result:
        """An item's result; works off the chunk if that has not been done.

        Raises:
            Exception: what kept the chunk from being worked off, for each of its items.
        """
        if self._failure is not None:
            raise self._failure
        if item.nodeid not in self._results:
            started = time.perf_counter()
            try:
                self._work(item)
            except Exception as exc:
                self._failure = exc
                raise
            finally:
                self.spent_s += time.perf_counter() - started
        return self._results[item.nodeid]

    def finished(self, item: EvalItem) -> Result | None:
        """Return an item's result, None if it has not been evaluated."""
        return self._results.get(item.nodeid)

    def release(self, item: EvalItem) -> None:
        """Drop an item's result once it has been reported."""
        self._results.pop(item.nodeid, None)
        self._waiting.pop(item.nodeid, None)

    def _work(self, item: EvalItem) -> None:
        items = list(self._waiting.values()) if item.nodeid in self._waiting else [item]
        with ProgressLine(item, item.task.model.label) as progress:
            results = self.pipeline.evaluate([member.task for member in items], progress=progress)
        self._results.update(zip((member.nodeid for member in items), results, strict=True))


class ProgressLine:
    """A count of arrived answers or judgements behind the terminal's current line; nothing if it is no
    terminal.
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
        ConfigurationError: if one of these lacks its model or extra.
    """
    pipelines: dict[Configuration, Pipeline] = {}
    wanted: dict[Configuration, dict[ConfiguredEvaluator, None]] = {}
    used: dict[ConfiguredEvaluator, None] = {}
    for item in items:
        config = evals.configuration(item.path.parent)
        if config not in pipelines:
            pipelines[config] = Pipeline.under(
                config, evals.plan(config), evals.provider, models=evals.models.asked
            )
            wanted[config] = {}
        selected = dict.fromkeys(pipelines[config].selected_for(item.task))
        used.update(selected)
        if not item.task.skip:
            wanted[config].update(selected)
    for config, evaluators in wanted.items():
        evals.provider.open(config, evaluators)
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
        chunk = Chunk(name, evals, pipelines[evals.configuration(first.path.parent)], members)
        for member in members:
            member.chunk = chunk
            names[member.nodeid] = name
    return names, list(used)
