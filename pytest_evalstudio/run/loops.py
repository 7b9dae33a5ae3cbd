"""Event loops of asynchronous fixtures, on which the callables that they give are awaited.

Plugins such as pytest-asyncio and anyio run a fixture on a loop of their own, in the main thread and only
while the fixture or a test needs it. The engine asks in another thread, so the main thread runs that loop
meanwhile.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from concurrent.futures import Future
from typing import Any, Protocol

from pytest_evalstudio.core.errors import ConfigurationError


class FixtureDefinition(Protocol):
    """Definition of a fixture, as pytest has it."""

    @property
    def argname(self) -> str: ...
    @property
    def func(self) -> Callable[..., Any]: ...


class FixtureLoops:
    """The loops that asynchronous fixtures were set up on, by fixture name."""

    def __init__(self) -> None:
        self._loops: dict[str, asyncio.AbstractEventLoop | None] = {}

    def watched(self, fixturedef: FixtureDefinition) -> Generator[None, Any, Any]:
        """Note the loop of a fixture while it is set up; to be delegated to by `pytest_fixture_setup`."""
        original = fixturedef.func
        if inspect.iscoroutinefunction(original):
            _replace(fixturedef, self._noting(fixturedef.argname, original))
        elif inspect.isasyncgenfunction(original):
            _replace(fixturedef, self._noting_generator(fixturedef.argname, original))
        try:
            return (yield)
        finally:
            _replace(fixturedef, original)

    def loop_of(self, fixture: str, closure: Iterable[str]) -> asyncio.AbstractEventLoop | None:
        """Return the loop of a fixture, or of the last asynchronous one that it depends on; None without one.

        Raises:
            ConfigurationError: if that fixture runs under trio.
        """
        names = [name for name in (*closure, fixture) if name in self._loops]
        if not names:
            return None
        loop = self._loops[names[-1]]
        if loop is None:
            raise ConfigurationError(
                f"fixture {names[-1]!r} does not run on an asyncio loop; run it with the backend asyncio"
            )
        return None if loop.is_closed() else loop

    def _note(self, name: str) -> None:
        try:
            self._loops[name] = asyncio.get_running_loop()
        except RuntimeError:
            self._loops[name] = None

    def _noting(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def noted(*args: Any, **kwargs: Any) -> Any:
            self._note(name)
            return await function(*args, **kwargs)

        return noted

    def _noting_generator(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def noted(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            self._note(name)
            async for value in function(*args, **kwargs):
                yield value

        return noted


def _replace(fixturedef: FixtureDefinition, function: Callable[..., Any]) -> None:
    setattr(fixturedef, "func", function)  # noqa: B010  # declared final; asynchronous plugins replace it, too


def on_loop(function: object, loop: asyncio.AbstractEventLoop) -> object:
    """Return a callable whose awaitable result is awaited on another thread's loop."""
    if not callable(function):
        return function

    async def awaited(result: Any) -> Any:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_awaiting(result), loop))

    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):

        @functools.wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            return await awaited(function(*args, **kwargs))

        return asynchronous

    @functools.wraps(function)
    def synchronous(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return awaited(result) if inspect.isawaitable(result) else result

    return synchronous


async def _awaiting(result: Any) -> Any:
    return await result


def run_until_done(loop: asyncio.AbstractEventLoop, futures: Iterable[Future[Any]]) -> None:
    """Run a fixture's loop in this thread until other threads' work is done.

    Raises:
        ConfigurationError: if the loop is running already, so that it could never do what is waited for.
    """
    pending = list(futures)
    if loop.is_running():
        raise ConfigurationError(
            "the model's fixture runs on the event loop of this test, so a blocking call would never"
            " end; write `await eval_model(…).ask_async(…)`"
        )

    async def done() -> None:
        await asyncio.gather(*map(asyncio.wrap_future, pending), return_exceptions=True)

    loop.run_until_complete(done())


def check_waiting(loop: asyncio.AbstractEventLoop | None) -> None:
    """Refuse to wait in a coroutine for what never comes.

    Args:
        loop: of the model's fixture, None where it has none.

    Raises:
        ConfigurationError: outside of asyncio, and if the fixture's loop does not run now.
    """
    if not is_loop_running():
        raise ConfigurationError(
            "ask_async needs an event loop of asyncio; under trio write `await"
            " anyio.to_thread.run_sync(model.ask, question)`"
        )
    if loop is not None and not loop.is_running():
        raise ConfigurationError(
            "the model's fixture lives on another event loop, which does not run during this test; give both"
            ' one loop, e.g. @pytest.mark.asyncio(loop_scope="session"), or make the test synchronous'
        )


def is_loop_running() -> bool:
    """Return whether an event loop of asyncio runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
