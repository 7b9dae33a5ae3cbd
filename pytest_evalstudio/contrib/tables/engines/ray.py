"""The Ray engine: batches are scored by the actors of a Ray Data pipeline.

A single task reads the sources as a stream, since numbers of batches follow from their order. Each batch is
one row of the pipeline, so that Ray neither joins nor divides it.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.contrib.tables.engines.local import WORKER_DIED
from pytest_evalstudio.contrib.tables.input.sources import RowBatch, Stream
from pytest_evalstudio.contrib.tables.scoring.scorer import BatchScorer, ScorerSetup
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.core.extras import import_extra

if TYPE_CHECKING:
    from pytest_evalstudio.contrib.tables.request import ScoreRequest
    from pytest_evalstudio.contrib.tables.table.writer import BatchResult

CONNECT_S = 10.0
READER_CPUS = 0.5
"""Other than that of an actor, so that Ray does not make reader and scorer one."""
MAX_ATTEMPTS = 3
"""Attempts at a batch: Ray restarts a lost actor and retries its batch without end."""


def score_with_ray(
    stream: Stream, done: frozenset[int], setup: ScorerSetup, request: ScoreRequest
) -> Iterator[BatchResult]:
    """Score batches in a Ray cluster and return the results as they arrive.

    Args:
        stream: batches of the sources, which the cluster can read.
        done: numbers of the batches that are scored already.
        setup: of the actors.
        request: address of the cluster and resources of an actor.

    Raises:
        ConfigurationError: if the cluster cannot be reached, or lacks this package.
    """
    ray = import_extra("ray", "--engine ray", extra="ray")
    data = import_extra("ray.data", "--engine ray", extra="ray")
    is_ours = not ray.is_initialized()
    if is_ours:
        _connect(ray, request.address, setup.workers)
    try:
        finished = set(done)
        for result in _results(ray, data, stream, done, setup, request):
            finished.add(result.batch)
            yield result
        yield from _rest(stream, finished, setup)
    finally:
        if is_ours:
            ray.shutdown()


def _connect(ray: Any, address: str, workers: int) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address:
        options["address"] = address
    else:
        # A core of their own for the reader and what Ray itself does; cores are a matter of counting here.
        options |= {"include_dashboard": False, "num_cpus": workers + 1}
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        _check_address(address)
        ray.init(**options)
    except (OSError, RuntimeError, ValueError) as exc:
        fact = str(exc).strip().splitlines()[0] if str(exc).strip() else type(exc).__name__
        raise ConfigurationError(
            f"--address {address or 'local'}: the Ray cluster cannot be reached: {fact}; check the address"
        ) from None


def _check_address(address: str) -> None:
    """Connect to a cluster's address once: Ray itself tries for minutes.

    Raises:
        OSError: if nobody answers.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S):
            pass


def _results(
    ray: Any,
    data: Any,
    stream: Stream,
    done: frozenset[int],
    setup: ScorerSetup,
    request: ScoreRequest,
) -> Iterator[BatchResult]:
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    # Without a core of its own, or an actor would lack one.
    attempts = ray.remote(num_cpus=0)(_Attempts).remote()
    resources = {"num_gpus": request.gpus_per_actor} if request.gpus_per_actor else {}
    with _context(data):
        rows = (
            data.from_items([{"first": 0}])
            .map_batches(_ReadBatches(stream, done), batch_size=None, num_cpus=READER_CPUS)
            .map_batches(
                _Actor,
                fn_constructor_args=(setup, attempts),
                batch_size=1,
                compute=data.ActorPoolStrategy(size=setup.workers),
                num_cpus=1,
                **resources,
            )
        )
        for row in rows.iter_rows():
            result = pickle.loads(row["result"])
            if isinstance(result, EvalStudioError):
                raise result
            yield result


@contextmanager
def _context(data: Any) -> Iterator[None]:
    """Set what Ray Data has as options of the process, for the time of a job."""
    context = data.DataContext.get_current()
    options = {
        "target_max_block_size": 1,  # a block per batch, else one actor gets many of them
        "max_errored_blocks": -1,  # a batch that is lost becomes errors, and the others go on
        "enable_progress_bars": False,
    }
    before = {name: getattr(context, name) for name in options}
    for name, value in options.items():
        setattr(context, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(context, name, value)


class _ReadBatches:
    """Reads the sources in a task of the cluster: a generator of rows with one batch each."""

    def __init__(self, stream: Stream, done: frozenset[int]) -> None:
        self._stream = stream
        self._done = done

    def __call__(self, start: dict[str, Any]) -> Iterator[dict[str, list[bytes]]]:
        try:
            for batch in self._stream.batches():
                if batch.number not in self._done:
                    yield {"batch": [pickle.dumps(batch)]}
        # As a row: Ray would drop the block of a task that raises, since `max_errored_blocks` is -1.
        except EvalStudioError as exc:
            yield {"batch": [pickle.dumps(exc)]}


class _Attempts:
    """Counts the attempts at each batch, in an actor that the scoring ones cannot take with them."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def begin(self, batch: int) -> int:
        """Return the number of this attempt."""
        self._counts[batch] = self._counts.get(batch, 0) + 1
        return self._counts[batch]


class _Actor:
    """Holds models and judges, and scores batches."""

    def __init__(self, setup: ScorerSetup, attempts: Any) -> None:
        self._scorer: BatchScorer | EvalStudioError
        try:
            self._scorer = BatchScorer(setup)
        except EvalStudioError as exc:  # returned with the first batch
            self._scorer = exc
        self._attempts = attempts

    def __call__(self, row: dict[str, Any]) -> dict[str, list[bytes]]:
        batch = pickle.loads(row["batch"][0])
        try:
            result = self._scored(batch) if isinstance(batch, RowBatch) else batch
        # As a row: see `_ReadBatches`.
        except EvalStudioError as exc:
            result = exc
        return {"result": [pickle.dumps(result)]}

    def _scored(self, batch: RowBatch) -> BatchResult:
        import ray

        if isinstance(self._scorer, EvalStudioError):
            raise self._scorer
        try:
            attempt = ray.get(self._attempts.begin.remote(batch.number))
        except ray.exceptions.RayError:  # the machine of the counter is lost, which is no fault of the batch
            attempt = 1
        if attempt > MAX_ATTEMPTS:
            return self._scorer.failed(batch, WORKER_DIED)
        return self._scorer.score(batch)


def _rest(stream: Stream, finished: set[int], setup: ScorerSetup) -> Iterator[BatchResult]:
    """Return the results of batches that the cluster lost: their rows are errors."""
    scorer: BatchScorer | None = None
    # The number of batches is not known before all of them are read again.
    for batch in stream.batches():
        if batch.number not in finished:
            scorer = scorer or BatchScorer(setup)
            yield scorer.failed(batch, WORKER_DIED)
    if scorer is not None:
        scorer.close()
