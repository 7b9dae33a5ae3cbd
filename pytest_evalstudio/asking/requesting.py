"""Requests to the host of a model: at its pace, in time, and again after passing faults."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from msgspec import structs

from pytest_evalstudio.asking.answers import digest_of
from pytest_evalstudio.asking.case_types import answer_fault
from pytest_evalstudio.asking.deadlines import TimeIsUp, within
from pytest_evalstudio.asking.limits import Counters, Limits
from pytest_evalstudio.asking.load import Load
from pytest_evalstudio.asking.retrying import with_retries
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.numbers import number_fault
from pytest_evalstudio.core.plugins.host import Host, HostFault, HostSpec
from pytest_evalstudio.hosts._bodies import max_reply_size
from pytest_evalstudio.hosts._connected import import_client

T = TypeVar("T")
MAX_TEXT_CHARS = 1_000_000


class Preparations:
    """Preparations of corpora; all questions on a corpus that cannot be prepared share the fault."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, ...], asyncio.Task[None]] = {}
        self._queues: dict[tuple[str, ...], asyncio.Lock] = {}

    async def once(self, corpus: tuple[str, ...], work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Wait until a corpus is prepared; questions go on in the order in which they came.

        Args:
            work: prepares it; called for the first question only.
        """
        # A question that comes when the task has just ended must not overtake those that are about to wake.
        async with self._queues.setdefault(corpus, asyncio.Lock()):
            task = self._tasks.get(corpus)
            if task is None or task.cancelled():
                task = self._tasks[corpus] = asyncio.create_task(work())
            # The end of one question must not end the preparation, for which others wait as well.
            await asyncio.shield(task)

    async def cancel(self) -> None:
        """End those that are still running."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


class HostRequests:
    """Makes the requests of a model to its host, and counts timeouts and retries.

    Args:
        key: of the model; the waiting times between tries follow from it.
        load: slots and pace of the requests.
        counters: of the model.
        max_text_chars: of the configuration; far longer answers and contexts are faults.
    """

    def __init__(
        self,
        host: Host,
        *,
        key: str,
        limits: Limits,
        load: Load,
        counters: Counters,
        max_text_chars: int = MAX_TEXT_CHARS,
    ) -> None:
        self._max_text_chars = max_text_chars
        self._host = host
        self._spec: HostSpec = host.__evalstudio__
        self._key = key
        self._limits = limits
        self._load = load
        self._counters = counters
        self._preparations = Preparations()

    async def answer(self, prompt: Prompt) -> Answer:
        """Ask once.

        Raises:
            HostFault: if there is no valid answer in time.
        """
        await self._load.pace.turn()
        start = time.perf_counter()
        self._counters.call_count += 1
        answer = await self.in_time(self._host.answer(prompt), self._limits.timeout_s)
        if not isinstance(answer, Answer):
            raise HostFault(f"host {self._spec.id!r} gave a {type(answer).__name__} instead of an Answer")
        if fault := answer_fault(answer):
            raise HostFault(f"host {self._spec.id!r} gave an Answer with a wrong field: {fault}")
        if answer.not_asked or answer.access_refused:  # said by the engine alone
            answer = structs.replace(answer, not_asked=False, access_refused=False)
        if fault := number_fault(
            usage=answer.usage,
            cost_usd=answer.cost_usd,
            duration_s=answer.duration_s,
            first_token_s=answer.first_token_s,
            context_scores=answer.context_scores,
        ):
            raise HostFault(f"host {self._spec.id!r} gave an Answer whose {fault}")
        if answer.cost_usd is not None and answer.cost_usd < 0:
            raise HostFault(
                f"the answer has a negative cost, {answer.cost_usd:g} USD, so no budget can be checked;"
                " correct the cost that the application reports",
                answered=True,
            )
        self._check_length(answer)
        return (
            answer if answer.duration_s else structs.replace(answer, duration_s=time.perf_counter() - start)
        )

    def _check_length(self, answer: Answer) -> None:
        """Refuse an answer far beyond what evaluators score, so that neither cache nor record has it."""
        limit = max_reply_size(self._max_text_chars)
        for name, size in (("answer", len(answer.text)), ("context", sum(map(len, answer.context)))):
            if size > limit:
                raise HostFault(
                    f"the {name} has {size:,} characters, which is more than max_text_chars ="
                    f" {self._max_text_chars:,} allows; check the service, or raise max_text_chars"
                )

    async def in_time(
        self,
        request: Coroutine[Any, Any, T],
        timeout_s: float,
        option: str = "timeout_s",
        fact: str = "no answer",
    ) -> T:
        """Return the result of a request; see `within`.

        Raises:
            TimeIsUp: if it takes longer.
        """
        try:
            return await within(request, timeout_s, option, fact)
        except TimeIsUp:
            self._counters.timeout_count += 1
            raise

    async def with_retries(self, once: Callable[[], Coroutine[Any, Any, T]], prompt: Prompt) -> T:
        """Return the result of as many tries as the limits allow.

        Raises:
            HostFault: of the last try.
        """

        def count(fault: HostFault) -> None:
            self._counters.retry_count += 1
            if fault.throttled:
                self._load.slots.throttled()
            if fault.retry_after_s:
                self._load.pace.pause(fault.retry_after_s)
            elif fault.throttled:
                self._load.pace.slow_down()

        def seed() -> str:
            # Waiting times follow from the question: many that
            # were refused at once must not come back at once.
            return digest_of([self._key, prompt.text, prompt.run])

        return await with_retries(once, limits=self._limits, seed=seed, on_retry=count)

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        """Let the host prepare documents, once for all questions about them.

        The import of its client comes first: it takes seconds, and counts against no limit.
        """
        prompt = Prompt(text="", corpus=corpus)
        ingest_timeout_s = getattr(self._host, "ingest_timeout_s", None)

        async def attempt() -> None:
            await self._host.prepare(corpus)

        async def attempt_in_time() -> None:
            fact = "the documents are not prepared"
            await self.in_time(self._host.prepare(corpus), self._limits.timeout_s, fact=fact)

        async def preparation() -> None:
            await self.import_client()
            if ingest_timeout_s is None:
                await self.with_retries(attempt_in_time, prompt)
                return
            attempts = self.with_retries(attempt, prompt)
            fact = "the documents are not ingested"
            await self.in_time(attempts, ingest_timeout_s, "ingest_timeout_s", fact)

        await self._preparations.once(corpus, preparation)

    async def import_client(self) -> None:
        """Import the client of the host's service, where it is not imported yet."""
        if self._spec.client:
            await import_client(self._spec.client)

    async def cancel(self) -> None:
        """Cancel preparations that are under way."""
        await self._preparations.cancel()
