"""The event loop of the applications of this process."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import inspect
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_evalstudio.core.loops import LoopThread

ENDING_S = 5.0
"""Time that a cancelled call has to end before its caller goes on."""

_starting = threading.Lock()
_thread: LoopThread | None = None


async def on_application_loop(function: Callable[[], Any]) -> Any:
    """Call a function on the loop of the applications, and return its awaited result.

    All asynchronous code of applications runs there, whatever loop asks: locks and connections that a module
    shares among its functions belong to the loop of their first use.
    """
    asking = asyncio.get_running_loop()
    loop = _started().loop
    if loop is asking:
        return await _awaited(function)
    ended = asyncio.Event()
    faults: list[BaseException] = []
    has_begun = False

    async def call() -> Any:
        nonlocal has_begun
        has_begun = True
        try:
            return await _awaited(function)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # SystemExit would end the loop for all applications
            faults.append(exc)
        finally:
            _notify(asking, ended)

    future = asyncio.run_coroutine_threadsafe(call(), loop)
    try:
        result = await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        if has_begun:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ENDING_S):
                    await ended.wait()
        raise
    if faults:
        raise faults[0]
    return result


async def _awaited(function: Callable[[], Any]) -> Any:
    result = function()
    return await result if inspect.isawaitable(result) else result


def _notify(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    try:
        loop.call_soon_threadsafe(event.set)
    except RuntimeError:  # the asking loop has ended: nobody waits
        return


def _started() -> LoopThread:
    """Return the thread, which lasts as long as the process: so do the modules of the applications."""
    global _thread
    from pytest_evalstudio.core.loops import LoopThread

    with _starting:
        if _thread is None:
            _thread = LoopThread("evalstudio-applications")
            atexit.register(_stop, _thread)
        return _thread


def _stop(thread: LoopThread) -> None:
    thread.stop()


def _forget() -> None:
    """Forget the thread in a forked process, which does not have it."""
    global _thread, _starting
    _thread, _starting = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
