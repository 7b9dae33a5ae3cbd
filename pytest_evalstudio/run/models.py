"""Models of a run: opened before it, closed after it."""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.asking.answers import AnswerCache, digest_of
from pytest_evalstudio.asking.dialogues import Dialogue, Request
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.purse import SharedPurse
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.asking.runs import AskingRun
from pytest_evalstudio.asking.spending import UNHELD, model_budget, unpriced_limit
from pytest_evalstudio.core.cases import Answer, Retrieval
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.contrib import contribs, loaded
from pytest_evalstudio.core.plugins.host import Host
from pytest_evalstudio.core.restored import ToolSource
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.hosts.fixture import FixtureCallable
from pytest_evalstudio.judges.budget import Budget, LocalPurse, Purse, part_of
from pytest_evalstudio.run.loops import FixtureLoops, check_waiting, on_loop, run_until_done
from pytest_evalstudio.run.project import Project, Warn
from pytest_evalstudio.scoring.pipeline import Progress
from pytest_evalstudio.scoring.tasks import ModelInfo

if TYPE_CHECKING:
    from pytest_evalstudio.asking.tracing import Tracing


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

    def held(self) -> AbstractContextManager[None]:
        """Let no waiting request start; see `ModelSession.held`."""
        return self._session.held()

    def drop_waiting(self) -> None:
        """Cancel the questions that wait; see `ModelSession.drop_waiting`."""
        self._session.drop_waiting()

    def cancel(self, futures: Iterable[Future[Answer]]) -> None:
        """Cancel answers to come; see `ModelSession.cancel`."""
        self._session.cancel(futures)

    def ask(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:
        """Return the answers, in order; those that were requested are waited for."""
        if self.loop is not None:
            self.request(request for request in requests if request not in self._requested)
        futures = [self._pop_requested(request) for request in requests]
        try:
            if self.loop is not None:
                run_until_done(self.loop, [future for future in futures if future is not None])
            arrived: Mapping[int, Answer] = {
                index: answer
                for index, future in enumerate(futures)
                if future is not None and (answer := _answer(future)) is not None
            }
        except BaseException:
            self.cancel(future for future in futures if future is not None)
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

    def _pop_requested(self, request: Request) -> Future[Answer] | None:
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


class Models:
    """Models of a session, opened when they are needed and closed with the session's services.

    Args:
        project: has the tables of the models.
        closing: closes the models at the end.
        run: returns the run that asks them.
        tracing: returns the traces of their questions, None where none are taken.
        loops: of the fixtures that answer for them.

    Attributes:
        asked: key to the model, of those that are open.
        with_effects: keys of models whose answers show tools, a state or a session.
    """

    def __init__(
        self,
        project: Project,
        closing: ExitStack,
        *,
        run: Callable[[], AskingRun],
        tracing: Callable[[], Tracing | None],
        loops: FixtureLoops,
    ) -> None:
        self._project = project
        self._closing = closing
        self._run = run
        self._tracing = tracing
        self._loops = loops
        self._sessions: dict[ModelInfo, ModelSession] = {}
        self._variants: dict[str, AskedAhead] = {}
        self._bound: dict[ModelInfo, tuple[object, tuple[str, ...]]] = {}
        self._budgets: dict[tuple[Path, str], Budget | None] = {}
        self.asked: dict[str, AskedAhead] = {}
        self.with_effects: set[str] = set()

    def session_of(self, info: ModelInfo) -> ModelSession:
        """Return the session of a model, opened by the first call.

        Raises:
            ConfigurationError: if the model cannot be opened, or another one has its key.
        """
        if info not in self._sessions:
            configured = self._project.models.of(info)
            session = self._opened(configured.table, configured.config)
            path = Path(configured.config.file or configured.config.folder)
            self._closing.callback(self._close, session, path)
            self._sessions[info] = session
            if self.asked.setdefault(info.key, AskedAhead(session)).key != session.key:
                raise ConfigurationError(
                    f"two collected files define different models with the key {info.key!r}; run the files"
                    " one at a time, or rename one model"
                )
        return self._sessions[info]

    def table_of(self, info: ModelInfo) -> ModelTable:
        """Return the table of a model that answers."""
        return self._project.models.of(info).table

    def variant(self, info: ModelInfo, table: ModelTable) -> AskedAhead:
        """Return a model with another table in place of its own; the budget is that of the model.

        Args:
            info: the model.
            table: with the name of the model; opened once in a process.

        Raises:
            ConfigurationError: if it cannot be opened.
        """
        configured = self._project.models.of(info)
        key = f"{info.key} {digest_of(table.settings)}"
        if key not in self._variants:
            session = self._opened(table, configured.config)
            path = Path(configured.config.file or configured.config.folder)
            self._closing.callback(self._close, session, path)
            self._variants[key] = AskedAhead(session)
        variant = self._variants[key]
        if info in self._bound:
            self._bind(variant, *self._bound[info])
        return variant

    def drop_waiting(self) -> None:
        """Ask nothing more of what was requested ahead; answers on their way still arrive."""
        for asked in (*self.asked.values(), *self._variants.values()):
            asked.drop_waiting()

    def mask(self, text: str) -> str:
        """Return a text without the secrets of the open models."""
        for session in self._sessions.values():
            text = session.mask_output(text)
        return text

    def _close(self, session: ModelSession, path: Path) -> None:
        """Close a model, and warn of what its host noted."""
        for note in dict.fromkeys(session.notes):
            self._project.warn(note, path)
        session.close()

    def named(self, name: str, config: Configuration) -> tuple[ModelInfo, AskedAhead]:
        """Return a configured model by its name, for tests written in Python.

        Raises:
            ConfigurationError: if there is none.
        """
        info = self._project.models.named(name, config)
        self.session_of(info)
        return info, self.asked[info.key]

    def bind(self, info: ModelInfo, value: object, closure: Iterable[str]) -> None:
        """Give a fixture's value to the model it answers for.

        Args:
            info: the model.
            value: of the fixture.
            closure: names of the fixtures that the fixture depends on.

        Raises:
            ConfigurationError: if it cannot be called.
        """
        self.session_of(info)
        self._bound[info] = value, tuple(closure)
        self._bind(self.asked[info.key], value, closure)

    def _bind(self, model: AskedAhead, value: object, closure: Iterable[str]) -> None:
        host = model.host
        if isinstance(host, FixtureCallable):
            loop = self._loops.loop_of(host.fixture, closure)
            model.loop = loop
            host.bind(value if loop is None else on_loop(value, loop))

    def common_purse(self, name: str, calls: int) -> tuple[int, Purse]:
        """Return the calls that this process may take, and the purse that counts them.

        Args:
            name: of the purse.
            calls: of all workers of the run.
        """
        command_line = self._project.settings.command_line
        if command_line.workers <= 1:
            return calls, LocalPurse()
        if command_line.run_id and self._cache.store.is_writable:
            return calls, SharedPurse(self._cache.store, f"{command_line.run_id} {name}")
        # Without a common store, each worker has an equal part.
        return part_of(calls, command_line.workers, command_line.worker_index), LocalPurse()

    @functools.cached_property
    def _cache(self) -> AnswerCache:
        settings = self._project.settings
        cache = AnswerCache(settings.cache(), read_only=settings.estimates)
        return self._closing.enter_context(_with_warnings(cache, settings.cache(), self._project.warn))

    def _opened(self, table: ModelTable, config: Configuration) -> ModelSession:
        session = open_model(
            table.name,
            table.settings,
            self._project.registry,
            folder=Path(config.folder),
            cache=self._cache,
            workers=self._project.settings.command_line.workers,
            run=self._run,
            allow_private_hosts=config.allow_private_hosts,
            budget=self._budget(table, config),
            allow_absent=True,
            max_text_chars=config.max_text_chars,
            thoughts=config.thoughts,
            tracing=self._tracing,
            program=self._project.models.program(config),
            tool_source=_tool_source(config),
        )
        limits = {}
        if table.budget is not None and table.budget.cost_usd is not None:
            limits[f"budget.cost_usd = {table.budget.cost_usd:g}"] = UNHELD
        if config.max_cost is not None:
            limits[f"max_cost = {config.max_cost:g}"] = "the cost of the run is not known"
        model = str(table.settings.get("llm_model_name") or table.name)
        for limit, consequence in limits.items():
            if fact := unpriced_limit(session.host, session.prices, model, limit, consequence):
                self._project.warn(f"model {table.name!r}: {fact}", Path(config.file or config.folder))
        return session

    def _budget(self, table: ModelTable, config: Configuration) -> Budget | None:
        """Return the budget of a model, which its variants share."""
        name = config.folder, table.name
        if name not in self._budgets:
            self._budgets[name] = self._new_budget(table, config)
        return self._budgets[name]

    def _new_budget(self, table: ModelTable, config: Configuration) -> Budget | None:
        if table.budget is None:
            return None
        command_line = self._project.settings.command_line
        return model_budget(
            table.budget,
            f"{config.folder} {table.name}",
            store=self._cache.store,
            run_id=command_line.run_id,
            workers=command_line.workers,
            worker_index=command_line.worker_index,
        )


def _tool_source(config: Configuration) -> ToolSource | None:
    """Return what records or replays wrapped tools, of the optional part whose table asks for it."""
    for contrib in contribs():
        if contrib.tool_source and getattr(config, contrib.table) is not None:
            source: ToolSource | None = loaded(contrib.tool_source)(config)
            return source
    return None


@contextmanager
def _with_warnings(cache: AnswerCache, folder: Path, warn: Warn) -> Iterator[AnswerCache]:
    """Close a cache at the end and warn of its faults."""
    try:
        yield cache
    finally:
        for warning in cache.warnings:
            warn(warning, folder)
        cache.close()
