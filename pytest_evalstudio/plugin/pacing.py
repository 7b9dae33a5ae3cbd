"""Size of the steps in which a run evaluates its chunks."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future

import pytest

from pytest_evalstudio.asking.dialogues import Dialogue, Request
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.core.cases import Answer, Retrieval
from pytest_evalstudio.core.plugins.host import Host
from pytest_evalstudio.plugin.loops import check_waiting, run_until_done
from pytest_evalstudio.scoring.pipeline import Progress


class Pacing:
    """Number of items that are evaluated together.

    All items of a chunk are, unless each of them must be able to end the run (`-x`, `--maxfail`,
    `--stepwise`): then steps grow from one item, and begin with one again after a failure. Under
    pytest-timeout each item is evaluated by itself, so that it is charged its own time; the answers of a step
    are still requested together.
    """

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        self._config = config
        self._grows = bool(option.maxfail or getattr(option, "stepwise", False))
        self._size = 1
        self._has_timeout = config.pluginmanager.hasplugin("timeout") and _timeout_of_session(config)

    @property
    def grows(self) -> bool:
        """Return whether an item may end the run."""
        return self._grows

    def size(self) -> int | None:
        """Return the number of items of the next step, None for all of the chunk."""
        return self._size if self._grows else None

    def done(self, *, failed: bool) -> None:
        """Adapt the size to a finished step."""
        self._size = 1 if failed else 2 * self._size

    def is_timed(self, item: pytest.Item) -> bool:
        """Return whether a timeout ends an item that takes too long."""
        if not self._config.pluginmanager.hasplugin("timeout"):
            return False
        return self._has_timeout or item.get_closest_marker("timeout") is not None


def _timeout_of_session(config: pytest.Config) -> bool:
    """Return whether pytest-timeout has a limit for every item."""
    try:
        limits = (config.getoption("timeout", None), config.getini("timeout"))
    except (ValueError, KeyError):
        return False
    return any(float(limit or 0) > 0 for limit in (*limits, os.environ.get("PYTEST_TIMEOUT")))


class AskedAhead:
    """A model whose answers can be requested before they are needed.

    Attributes:
        loop: of the fixture that answers for the model; None for other models and synchronous fixtures.
    """

    def __init__(self, session: ModelSession) -> None:
        self._session = session
        self._requested: dict[Request, deque[Future[Answer]]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None

    @property
    def key(self) -> str:
        return self._session.key

    @property
    def host(self) -> Host:
        return self._session.host

    @property
    def deterministic(self) -> bool:
        return self._session.deterministic

    @property
    def answers_at_once(self) -> bool:
        """Return whether nothing is waited for: the host computes its answers by itself."""
        return self._session.spec.deterministic

    @property
    def retrieves(self) -> bool | None:
        return self._session.retrieves

    @property
    def retrieval(self) -> Retrieval:
        return self._session.retrieval

    def peek(self, requests: Sequence[Request]) -> list[Answer | None]:
        """Return stored answers, None where there is none."""
        return self._session.peek(requests)

    def end_conversations(self, dialogues: Sequence[Dialogue]) -> None:
        """Let the host forget conversations that were paused and are not continued."""
        self._session.end_conversations(dialogues)

    def request(self, requests: Iterable[Request]) -> list[Future[Answer]]:
        """Ask requests and return their answers to come; a stored question is asked once."""
        futures = []
        for request in requests:
            waiting = self._requested.setdefault(request, deque())
            shared = waiting[0] if waiting and self._session.stores else None
            future = shared or self._session.submit(request)
            waiting.append(future)
            futures.append(future)
        return futures

    def ask(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:
        """Return the answers, in order; those that were requested are waited for."""
        if self.loop is not None:
            self.request(request for request in requests if request not in self._requested)
        futures = [self._taken(request) for request in requests]
        try:
            if self.loop is not None:
                run_until_done(self.loop, [future for future in futures if future is not None])
            arrived: Mapping[int, Answer] = {
                index: answer
                for index, future in enumerate(futures)
                if future is not None and (answer := _answer(future)) is not None
            }
        except BaseException:
            for future in futures:
                if future is not None:
                    future.cancel()
            raise
        rest = [index for index in range(len(requests)) if index not in arrived]
        answers_of_rest = (
            self._session.ask([requests[index] for index in rest], progress=progress) if rest else []
        )
        answers = {**arrived, **dict(zip(rest, answers_of_rest, strict=True))}
        return [answers[index] for index in range(len(requests))]

    async def ask_async(self, requests: Sequence[Request]) -> list[Answer]:
        """Return the answers, in order, to a coroutine of a test.

        Raises:
            ConfigurationError: if the test's loop cannot wait for the model.
        """
        check_waiting(self.loop)
        return await self._session.ask_async(requests)

    def _taken(self, request: Request) -> Future[Answer] | None:
        waiting = self._requested.get(request)
        if not waiting:
            return None
        future = waiting.popleft()
        if not waiting:
            del self._requested[request]
        return future


def _answer(future: Future[Answer]) -> Answer | None:
    """Wait for an answer; None if the request was cancelled with another item."""
    try:
        return future.result()
    except CancelledError:
        return None
