"""The local engine: batches are scored in this process, or in a pool of processes."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.tables.scoring.scorer import BatchScorer, ScorerSetup
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.core.processes import safe_context

if TYPE_CHECKING:
    from pytest_evalstudio.contrib.tables.input.sources import RowBatch
    from pytest_evalstudio.contrib.tables.table.writer import BatchResult

AHEAD = 2
"""Batches in flight for each worker: one that is scored, one that waits."""
WORKER_DIED = "the process that scored its batch died again and again; score the row alone to see why"

NOT_STARTED = (
    "the worker processes do not start; a script calls score_table below"
    ' `if __name__ == "__main__":`, or with workers=1'
)

_scorer: BatchScorer | EvalStudioError | None = None
"""The scorer of a worker process, or why there is none."""


def score_here(batches: Iterable[RowBatch], setup: ScorerSetup) -> Iterator[BatchResult]:
    """Score batches in this process."""
    scorer = BatchScorer(setup)
    try:
        for batch in batches:
            yield scorer.score(batch)
    finally:
        scorer.close()


def score_in_pool(batches: Iterable[RowBatch], setup: ScorerSetup) -> Iterator[BatchResult]:
    """Score batches in a pool of processes and return the results as they arrive.

    When a worker dies, the batches in flight are scored again one by one. A batch whose worker dies again is
    the cause: its rows are errors.
    """
    pool = _Pool(setup)
    source = iter(batches)
    in_flight: dict[Future[BatchResult], RowBatch] = {}
    try:
        while True:
            while len(in_flight) < AHEAD * setup.workers and (batch := next(source, None)) is not None:
                in_flight[pool.submit(batch)] = batch
            if not in_flight:
                return
            done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
            suspects = []
            for future in done:
                batch = in_flight.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    suspects.append(batch)
            if suspects:
                suspects += in_flight.values()
                in_flight.clear()
                pool.rebuild()
                for batch in sorted(suspects, key=lambda each: each.number):
                    yield pool.score_alone(batch)
    finally:
        pool.close()


class _Pool:
    """A pool of worker processes that can be made again."""

    def __init__(self, setup: ScorerSetup) -> None:
        self._setup = setup
        self._executor = self._made()

    def submit(self, batch: RowBatch) -> Future[BatchResult]:
        try:
            return self._executor.submit(_score, batch)
        # `submit` itself raises where the pool broke before; callers handle the future alone.
        except BrokenProcessPool as exc:
            broken: Future[BatchResult] = Future()
            broken.set_exception(exc)
            return broken

    def score_alone(self, batch: RowBatch) -> BatchResult:
        """Score a batch while no other one is in flight."""
        try:
            return self.submit(batch).result()
        except BrokenProcessPool:
            self.rebuild()
            scorer = BatchScorer(self._setup)
            try:
                return scorer.failed(batch, WORKER_DIED)
            finally:
                scorer.close()

    def rebuild(self) -> None:
        """Replace a broken pool."""
        self.close()
        self._executor = self._made()

    def close(self) -> None:
        """End the workers, also those that are scoring."""
        _end(self._executor)

    def _made(self) -> ProcessPoolExecutor:
        """Return a pool with a worker that is ready.

        Raises:
            EvalStudioError: if no worker can be.
        """
        executor = ProcessPoolExecutor(
            self._setup.workers,
            mp_context=safe_context(),
            initializer=_begin,
            initargs=(self._setup,),
        )
        # A worker that cannot import the main script dies at once. A first task shows it before batches are
        # sent.
        try:
            executor.submit(_ready).result()
        except BaseException as exc:
            _end(executor)
            if isinstance(exc, BrokenProcessPool):
                raise ConfigurationError(NOT_STARTED) from None
            raise
        return executor


def _end(executor: ProcessPoolExecutor) -> None:
    # Private, since an executor has no method to end its workers before Python 3.14; None after a shutdown.
    processes = list((executor._processes or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()


def _begin(setup: ScorerSetup) -> None:
    """Prepare a worker: it leaves Ctrl-C to its parent, and ends with it."""
    global _scorer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _scorer = BatchScorer(setup)
    # An initializer that raises breaks the pool and hides the reason; `_own_scorer` raises it with the task.
    except EvalStudioError as exc:
        _scorer = exc


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _ready() -> None:
    _own_scorer()


def _score(batch: RowBatch) -> BatchResult:
    return _own_scorer().score(batch)


def _own_scorer() -> BatchScorer:
    """Return the scorer of this worker.

    Raises:
        EvalStudioError: if it could not be made.
    """
    if isinstance(_scorer, BatchScorer):
        return _scorer
    raise _scorer or ConfigurationError(NOT_STARTED)
