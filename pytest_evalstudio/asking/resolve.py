"""Asks one model many prompts: concurrently, politely, and without losing an answer."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from msgspec import structs

from pytest_evalstudio.asking.answers import StoredAnswer, claimed
from pytest_evalstudio.asking.cleaning import without_secrets
from pytest_evalstudio.asking.conversations import Conversations
from pytest_evalstudio.asking.deadlines import within
from pytest_evalstudio.asking.dialogues import Dialogue, Request
from pytest_evalstudio.asking.interrupted import InterruptedAnswers
from pytest_evalstudio.asking.labels import SessionLabels
from pytest_evalstudio.asking.limits import Breaker, Counters, Limits
from pytest_evalstudio.asking.load import Load
from pytest_evalstudio.asking.prices import without_prices
from pytest_evalstudio.asking.profiles import ModelProfile, RequestResources
from pytest_evalstudio.asking.requesting import HostRequests
from pytest_evalstudio.asking.retrying import afterword
from pytest_evalstudio.asking.runs import AskingRun, CacheMode
from pytest_evalstudio.asking.secrets import SHORTEST_IN_ANSWERS
from pytest_evalstudio.asking.spending import ExpectedPrices, NotAsked, within_budget
from pytest_evalstudio.asking.thoughts import without_thoughts
from pytest_evalstudio.core.cases import Answer, Prompt, Retrieval
from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError, EvaluationError, exception_text
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.loops import CLOSING_S, LoopThread
from pytest_evalstudio.core.plugins.host import Host, HostFault, HostSpec, ReadsCase
from pytest_evalstudio.core.progress import ANSWERS, report_progress
from pytest_evalstudio.text.unicode import valid_data, valid_text

if TYPE_CHECKING:
    from pytest_evalstudio.asking.tracing import QuestionTrace

LONGEST_MESSAGE = 1000

OTHERS_S = 0.05
"""Interval at which a question looks for the answer that another process has asked for."""

T = TypeVar("T")
Progress = Callable[[int, int], None]
Admission = Callable[[], Awaitable[str]]


class ModelSession:
    """One configured model, asked again and again while a pytest session lasts.

    Requests run in an event loop of its own in one background thread, so that connections stay open between
    calls and a loop that the user's test is running in is no hindrance. Made by `open_model`; ended by
    `close`.

    Attributes:
        profile: of the model.
        notes: messages of the host about its service.
    """

    def __init__(
        self, host: Host, *, profile: ModelProfile, limits: Limits, resources: RequestResources
    ) -> None:
        self.host = host
        self.spec: HostSpec = host.__evalstudio__
        self.profile = profile
        self.limits = limits
        self.notes = profile.notes
        self.prices = ExpectedPrices.of(host, profile.labels.prices)
        self._resources = resources
        self._cache = resources.cache if resources.cache_mode is not CacheMode.NEVER else None
        self._interrupted = InterruptedAnswers()
        self._counters = Counters()
        self._load = resources.load or Load(limits)
        self._breaker = Breaker(limits.breaker)
        self._thread = resources.thread or LoopThread(f"evalstudio-{profile.name}")
        self._end = ""
        self._requests = HostRequests(
            host,
            key=profile.key,
            limits=limits,
            load=self._load,
            counters=self._counters,
            max_text_chars=profile.max_text_chars,
        )
        self._conversations = Conversations(
            host,
            ask=self.answer,
            stored=lambda prompt: self._stored(self._answer_key(prompt)),
            run_key=lambda: f"{self._resources.run().id} {profile.key}",
        )
        self._closed = False

    @property
    def name(self) -> str:
        """Return the name of the model's table."""
        return self.profile.name

    @property
    def key(self) -> str:
        """Return the key, which is the same for the same name, host and settings, in every run."""
        return self.profile.key

    @property
    def labels(self) -> SessionLabels:
        """Return connection, description and prices of the configuration."""
        return self.profile.labels

    @property
    def retrieves(self) -> bool | None:
        """Return whether the model retrieves; None where each answer says so by its context."""
        return self.profile.retrieves

    @property
    def retrieval(self) -> Retrieval:
        """Return "optional" for a model that retrieves only when it needs to."""
        return self.profile.retrieval

    @property
    def deterministic(self) -> bool:
        """Return whether the model gives the same answer to the same question."""
        return self.profile.deterministic

    @property
    def counters(self) -> dict[str, Any]:
        """Return the counters of the requests that were made; stored answers are not included.

        They are call_count (requests, retries included), success_count, retry_count, timeout_count,
        failure_count and duration_stats; time_to_first_token_stats of streamed answers; usage (tokens).
        """
        used = self.labels.prices.used
        return {**self._counters.as_dict(), **non_empty(prices=used)}

    @property
    def collections(self) -> Mapping[tuple[str, ...], str]:
        """Return the ids of the host's collections by corpus, where it makes or uses any."""
        return dict(getattr(self.host, "collections", {}))

    def description(self) -> dict[str, Any]:
        """The model as reports show it, without secrets."""
        return {
            "name": self.name,
            "key": self.key,
            "host": self.spec.id,
            "settings": dict(self.profile.settings),
            **self.labels.texts(),
        }

    def mask(self, text: str) -> str:
        """A message without this model's secrets."""
        return self._resources.secrets.mask_message(text)

    def mask_output(self, text: str) -> str:
        """Return a text of any origin without this model's secrets; short ones could be ordinary words."""
        return self._resources.secrets.mask(text, shortest=SHORTEST_IN_ANSWERS)

    def peek(self, requests: Sequence[Request]) -> list[Answer | None]:
        """Return stored answers in order, None where there is none; no model is asked."""
        return [
            self._thread.run(self._conversations.stored(request))
            if isinstance(request, Dialogue)
            else self._stored(self._answer_key(request))
            for request in requests
        ]

    def earlier_answers(self, prompts: Sequence[Prompt]) -> list[Answer | None]:
        """Return the last stored answers of any run, for estimates; None where there is none."""
        if self._cache is None:
            return [None] * len(prompts)
        entries = [self._cache.get(self._answer_key(prompt)) for prompt in prompts]
        return [
            None if entry is None else self._delivered(self.prices.repriced(entry.answer))
            for entry in entries
        ]

    @property
    def stores(self) -> bool:
        """Return True if answers are stored."""
        return self._cache is not None

    @property
    def is_repeatable(self) -> bool:
        """Return whether it answers each question as before: by itself, or from the stored answers."""
        replays = self._resources.cache_mode is CacheMode.ALWAYS or self._resources.run().replays
        return self.deterministic or (self._cache is not None and replays)

    @property
    def takes_system(self) -> bool:
        """Return whether the host has a system role."""
        return self.spec.takes_system

    @property
    def concurrency(self) -> int:
        """Return how many requests are made at the same time."""
        return self.limits.concurrency

    def keep(self, prompt: Prompt, answer: Answer) -> None:
        """Store an answer that was not accepted when it arrived; see `answer`."""
        if self._cache is not None:
            self._cache.put(self._answer_key(prompt), answer, run=self._resources.run().id)

    def forget(self, prompt: Prompt) -> None:
        """Drop a stored answer that turned out to be of no use."""
        if self._cache is not None:
            self._cache.drop(self._answer_key(prompt))

    def ask(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:
        """Return answers in the order of the requests; a missing one says why in its `error`.

        An answer is stored when it arrives: an interrupted call loses only what was on its way. Answers of an
        interrupted call that no cache keeps are returned by the next call for the same prompt.

        Args:
            progress: called with (done, total) after each answer, in the background thread.

        Raises:
            ConfigurationError: if the host finds out only now that it cannot be used at all.
        """
        if self._closed:
            raise RuntimeError(f"{self.profile.kind} {self.name!r} is closed")
        return self._thread.run(self._answers(requests, progress))

    async def ask_async(self, requests: Sequence[Request]) -> list[Answer]:
        """Return answers as `ask` does, to a coroutine of another event loop."""
        if self._closed:
            raise RuntimeError(f"{self.profile.kind} {self.name!r} is closed")
        return await asyncio.wrap_future(self._thread.submit(self._answers(requests, None)))

    def within_limits(
        self, request: Callable[[], Coroutine[Any, Any, T]], *, ingest_timeout_s: float | None = None
    ) -> T:
        """Return the result of another request to the host, made once; it may raise HostFault.

        Args:
            ingest_timeout_s: limit of requests about many documents, in place of `timeout_s`.
        """

        async def result() -> T:
            await self._requests.import_client()
            if ingest_timeout_s is None:
                return await self._requests.in_time(request(), self.limits.timeout_s)
            return await self._requests.in_time(request(), ingest_timeout_s, "ingest_timeout_s")

        return self._thread.run(result())

    def submit(self, request: Request) -> Future[Answer]:
        """Ask for an answer that is needed later; see `ask`."""
        return self._thread.submit(self._requested(request))

    def held(self) -> AbstractContextManager[None]:
        """Let no waiting request of the service start while the context lasts."""
        return self._load.slots.held()

    def drop_waiting(self) -> None:
        """Cancel the questions that wait for their turn; answers of those on their way are stored."""
        self._load.slots.drop_waiting()

    def cancel(self, futures: Iterable[Future[Answer]]) -> None:
        """Cancel requests that were submitted; none of them starts to be asked any more."""
        self._thread.cancel(futures)

    def end_conversations(self, dialogues: Sequence[Dialogue]) -> None:
        """Let the host forget conversations that were paused and are not continued."""
        for dialogue in dialogues:
            self._thread.run(self._conversations.end(dialogue))

    def close(self) -> None:
        """End connections and the background thread; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            self._thread.run(self._closing())
        finally:
            if self._resources.thread is None:
                self._thread.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _answers(self, requests: Sequence[Request], progress: Progress | None) -> list[Answer]:
        task_list: dict[str, asyncio.Task[Answer]] = {}
        tasks: list[asyncio.Task[Answer]] = []
        origins: dict[asyncio.Task[Answer], Prompt] = {}
        done = 0

        def count(_: object) -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, len(requests))
            else:
                report_progress(done, len(requests), ANSWERS)

        for index, request in enumerate(requests):
            # Without a cache a question asked twice is two requests; conversations share stored turns.
            key = (self._answer_key(request) if isinstance(request, Prompt) else "") or f"#{index}"
            task = task_list.get(key)
            if task is None:
                arrived = self._interrupted.take(request) if isinstance(request, Prompt) else None
                task = asyncio.create_task(
                    self._requested(request) if arrived is None else _as_it_is(arrived)
                )
                task_list[key] = task
                if isinstance(request, Prompt):
                    origins[task] = request
            # Once for each request, also where two requests
            # share a task, so that the count reaches the total.
            task.add_done_callback(count)
            tasks.append(task)
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            # Ctrl+C in a notebook must not lose answers that have been paid for.
            self._interrupted.keep((prompt, task) for task, prompt in origins.items())
            raise
        finally:
            for task in task_list.values():
                task.cancel()
            # Cancelled requests end here, so that their claims and slots are free when the call returns.
            await asyncio.gather(*task_list.values(), return_exceptions=True)

    async def _requested(self, request: Request) -> Answer:
        if isinstance(request, Prompt):
            return await self.answer(request)
        return await self._conversations.hold(request)

    async def answer(
        self,
        prompt: Prompt,
        *,
        admit: Admission | None = None,
        accept: Callable[[Answer], bool] = lambda answer: True,
        priority: int = 0,
        is_fresh: bool = False,
    ) -> Answer:
        """Return one answer, for coroutines of the session's own thread; see `ask`.

        A question that another process or coroutine is asking already is not asked: its answer is awaited.

        Args:
            prompt: the question.
            admit: called before each try, not for stored answers; returns why it is not made, "" if it is.
            accept: whether an answer is worth storing.
            priority: of the prompts that wait for a slot, the one with the lowest number comes first.
            is_fresh: ask although the answer is stored.
        """
        key = self._answer_key(prompt)
        while True:
            stored = None if is_fresh else self._stored(key)
            if stored is not None:
                return stored
            # The slot first: a claim that waits for a slot would keep other processes from asking.
            async with self._load.slots.slot(priority), claimed(self._cache, key) as is_ours:
                if is_ours:
                    # Once more: another process may have stored it between the first look and the claim.
                    stored = None if is_fresh else self._stored(key)
                    return stored or await self._fresh(prompt, key, admit, accept)
            await asyncio.sleep(OTHERS_S)

    async def _fresh(
        self, prompt: Prompt, key: str, admit: Admission | None, accept: Callable[[Answer], bool]
    ) -> Answer:
        """Ask the host and store its answer."""
        # A fault such as a wrong key ends the asking: every further question would fail alike.
        if self._end:
            return structs.replace(self._not_asked(self._end), access_refused=True)
        if (each := self.spec.unsupported(prompt)) is not None:
            return self._failure(self.profile.unsupported(each), Answer(not_supported=True))
        if self._breaker.refuses():
            return self._failure(
                f"not asked: the host did not answer {self._breaker.misses} prompts in a row; the last"
                f" time: {self._breaker.last_fault}",
                Answer(error_cause=self._breaker.last_cause),
            )
        if self._resources.budget is not None and (spent := self._resources.budget.exhausted()):
            return self._not_asked(spent)
        tracing = self._resources.tracing() if self._resources.tracing is not None else None
        trace = tracing.question() if tracing is not None else None
        try:
            answer = await self._asked(prompt, admit, trace)
        except NotAsked as exc:
            return self._not_asked(str(exc))
        if trace is not None:
            answer = await trace.completed(answer, prompt.text, max_text_chars=self.profile.max_text_chars)
        # Before it is stored or shown: an application may quote its own key in an error.
        answer = without_secrets(valid_data(answer), self._resources.secrets)
        if answer.error:
            return self._failure(answer.error, self.labels.priced(answer))
        delivered = self._delivered(answer)
        if delivered.error:
            return self._failure(delivered.error, delivered)
        self._counters.success(answer)
        if self._cache is not None and key and accept(delivered):
            # The text is stored as it came, so that another setting of `thoughts` applies to it.
            self._cache.put(key, answer, run=self._resources.run().id)
        return delivered

    def _delivered(self, answer: Answer) -> Answer:
        """Return an answer of the host or the store as evaluators take it."""
        return self.labels.priced(without_thoughts(answer, self.profile.thoughts))

    async def _asked(self, prompt: Prompt, admit: Admission | None, trace: QuestionTrace | None) -> Answer:
        """Return an answer after as many tries as the limits allow; faults become its `error`."""
        tries = 0
        if self.profile.template is not None:
            try:
                prompt = self.profile.template.applied(prompt)
            except EvaluationError as exc:
                return Answer(error=str(exc))

        async def attempt(prompt: Prompt) -> Answer:
            with nullcontext() if trace is None else trace.attempt():
                return await self._requests.answer(prompt)

        async def once() -> Answer:
            nonlocal tries
            if admit is not None and (reason := await admit()):
                raise NotAsked(reason)
            tries += 1
            if self._resources.budget is None:
                return await attempt(prompt)
            return await within_budget(
                self._resources.budget, self.prices, prompt, attempt, self.labels.prices.cost_of
            )

        try:
            await self._requests.prepare(prompt.corpus)
            tried = self._requests.with_retries(once, prompt)
            answer = await within(tried, self.limits.deadline_s, "deadline_s")
        except HostFault as fault:
            message = self.mask(str(fault))
            if fault.ends_asking:
                self._end = message
            # Faults that no other try mends, e.g. of one question, say nothing of the service's state.
            if fault.retry:
                self._breaker.miss(message, fault.cause)
                message += afterword(fault, tries, self.limits)
            return Answer(
                error=message,
                error_cause=fault.cause,
                retries=max(0, tries - 1),
                not_supported=fault.not_supported,
            )
        # A wrong configuration is an EvalStudioError too, but ends the asking of all questions.
        except (ConfigurationError, NotAsked):
            raise
        except EvalStudioError as exc:
            return Answer(error=str(exc), retries=max(0, tries - 1))
        except (
            Exception
        ) as exc:  # a fault of the host's code is an error of this case, never the end of the run
            return Answer(error=exception_text(exc), retries=max(0, tries - 1))
        self._breaker.reset()
        self._load.answered()
        return structs.replace(answer, retries=tries - 1)

    def _answer_key(self, prompt: Prompt) -> str:
        if self._cache is None:
            return ""
        reads_case = isinstance(self.host, ReadsCase) and self.host.reads_case
        if not (reads_case or (self.profile.template is not None and self.profile.template.reads_case)):
            # The case belongs to the key only where an answer can depend on it.
            prompt = replace(prompt, case="")
        return self._cache.key(self.spec.id, without_prices(self.profile.settings), prompt)

    def _stored(self, key: str) -> Answer | None:
        if self._cache is None or not key:
            return None
        run = self._resources.run()
        stored = self._cache.get(key, stored_since=run.began if run.refreshes else 0.0)
        if stored is None or not self._may_use(stored, run):
            return None
        answer = self._delivered(self.prices.repriced(stored.answer))
        return structs.replace(answer, stored_at=stored.stored_at) if stored.stored_at < run.began else answer

    def _may_use(self, stored: StoredAnswer, run: AskingRun) -> bool:
        """Return whether a stored answer serves the run: an application is asked anew in every run."""
        return stored.run == run.id or run.replays or self._resources.cache_mode is CacheMode.ALWAYS

    def _not_asked(self, reason: str) -> Answer:
        return Answer(error=f"{self.profile.kind} {self.name!r} was not asked: {reason}", not_asked=True)

    def _failure(self, message: str, answer: Answer | None = None) -> Answer:
        self._counters.failure_count += 1
        masked = valid_text(self.mask(message))
        short = masked if len(masked) <= LONGEST_MESSAGE else _shortened(masked)
        answer = answer or Answer()
        cause = f"{answer.error_cause} {self._service}" if answer.error_cause else ""
        error = f"{self.profile.kind} {self.name!r}: {short}"
        return structs.replace(answer, text="", error=error, error_cause=cause)

    @property
    def _service(self) -> str:
        """Return what models share whose service fails: a connection, an address, a host."""
        names = (self.profile.settings.get("connection"), self.profile.settings.get("url"), self.spec.id)
        return str(next(filter(None, names)))

    async def _closing(self) -> None:
        await self._requests.cancel()
        try:
            async with asyncio.timeout(CLOSING_S):
                await self.host.close()
                if self._resources.register is not None:
                    self._resources.register.close()
        except Exception as exc:  # the answers are in; a connection that does not close must not spoil them
            host = f"{self.profile.kind} {self.name!r}: host {self.spec.id!r}"
            text = f"{host} did not close{_closing_fault(exc)}"
            warnings.warn(visible(self.mask(text)), RuntimeWarning, stacklevel=2)


def _shortened(message: str) -> str:
    """Return the beginning of a message, masked before it is cut: half a secret would not be recognised."""
    from pytest_evalstudio.metrics.detectors import redact

    return redact(message[: 2 * LONGEST_MESSAGE])[:LONGEST_MESSAGE] + " …"


def _closing_fault(exc: Exception) -> str:
    if isinstance(exc, TimeoutError):
        return f" within {CLOSING_S:g} s; check the service"
    return f": {exc}" if isinstance(exc, HostFault) else f": {exception_text(exc)}"


async def _as_it_is(answer: Answer) -> Answer:
    return answer
