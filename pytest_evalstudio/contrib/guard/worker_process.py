"""A worker process: opens the guard, and answers batches of checks until the service ends."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Protocol

from pytest_evalstudio.contrib.guard.results import CheckRequest, GuardVerdict, GuardWord
from pytest_evalstudio.core.errors import EvalStudioError, exception_text

HANGING_S = 2.0
"""Seconds after the limit of a check at which a worker ends itself, if no service has killed it."""


@dataclass(frozen=True, slots=True)
class CheckTexts:
    """Texts of a request."""

    question: str
    context: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class EncodedVerdict:
    """Verdict as it is sent to the client: encoded by the worker, so that the service does not have to.

    Attributes:
        word: the verdict.
        content: the whole verdict as JSON.
    """

    word: GuardWord
    content: bytes


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker's models are loaded."""

    evaluators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The guard cannot be opened."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The check of a batch has raised an exception.

    Attributes:
        error: name of its type; its message may quote a request.
    """

    error: str


class BatchChecker(Protocol):
    """Checks batches, as a guard does."""

    def check_all(self, requests: Sequence[CheckRequest]) -> list[GuardVerdict]: ...


class GuardDescription(Protocol):
    """Describes a guard in a form that another process can open."""

    def open(self) -> OpenGuard: ...


class OpenGuard(BatchChecker, Protocol):
    """A guard with its models."""

    @property
    def evaluators(self) -> list[str]: ...
    def warm(self) -> None: ...
    def close(self) -> None: ...


def run_worker(connection: Connection, source: GuardDescription, check_s: float) -> None:
    """Answer the batches that arrive, until None arrives or the service has ended.

    Args:
        connection: to the service.
        source: the guard.
        check_s: seconds after which the service gives a batch up.
    """
    _leave_signals_to_service()
    threading.Thread(target=_end_with_service, daemon=True).start()
    with suppress(EOFError, OSError):  # the service has ended
        try:
            guard = source.open()
            guard.warm()
        except Exception as exc:
            is_plain = isinstance(exc, EvalStudioError)
            connection.send(Refused(str(exc) if is_plain else exception_text(exc)))
            return
        try:
            connection.send(Ready(tuple(guard.evaluators)))
            while (batch := connection.recv()) is not None:
                with _time_limit(check_s + HANGING_S):
                    reply = _reply(guard, batch)
                connection.send(reply)
        finally:
            guard.close()


def _reply(guard: BatchChecker, batch: Sequence[CheckTexts]) -> list[EncodedVerdict] | Failed:
    requests = [
        # The service has validated it.
        CheckRequest.model_construct(
            question=texts.question, context=list(texts.context), answer=texts.answer
        )
        for texts in batch
    ]
    try:
        verdicts = guard.check_all(requests)
    except Exception as exc:
        return Failed(type(exc).__name__)
    return [EncodedVerdict(verdict.verdict, verdict.model_dump_json().encode()) for verdict in verdicts]


def _leave_signals_to_service() -> None:
    """Ignore Ctrl-C and SIGTERM, which reach a whole group: the service finishes what is running.

    Handlers in Python are not inherited by programs that an evaluator starts, as SIG_IGN would be.
    """
    signals = {signal.SIGINT, signal.SIGTERM}
    for number in signals:
        signal.signal(number, lambda *_: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def _end_with_service() -> None:
    service = multiprocessing.parent_process()
    if service is not None:
        service.join()
        # `sys.exit` would end this thread only.
        os._exit(1)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """End the process if the block takes too long.

    A thread could not do that: a pattern that backtracks without end holds the interpreter's lock.
    """
    with open(os.devnull, "w") as nothing:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nothing)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
