"""Further tries of a request that failed for a reason that may pass."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.engine.asking.limits import LONGEST_WAIT_S

FIRST_WAIT_S = 0.5
MAX_WAIT_S = 30.0  # rate limits are mostly per minute: two waits reach the next one

T = TypeVar("T")


async def with_retries(
    once: Callable[[], Coroutine[Any, Any, T]],
    *,
    retries: int,
    seed: Callable[[], str],
    on_retry: Callable[[BaseException | None], None],
) -> T:
    """Return the result of a request, after as many tries as it takes.

    Args:
        once: makes the request.
        retries: further tries after the first.
        seed: returns the seed of the random part of the waiting times, if there are any.
        on_retry: called with the fault before each further try.

    Raises:
        HostFault: of the last try.
    """
    jitter: random.Random | None = None

    def wait_s(state: RetryCallState) -> float:
        nonlocal jitter
        jitter = jitter or random.Random(seed())
        fault = _fault_of(state)
        backoff_s = min(MAX_WAIT_S, FIRST_WAIT_S * 2.0 ** (state.attempt_number - 1)) * jitter.uniform(
            0.5, 1.0
        )
        asked_s = fault.retry_after_s if isinstance(fault, HostFault) else None
        return backoff_s if asked_s is None else asked_s

    attempts = AsyncRetrying(
        stop=stop_after_attempt(retries + 1),
        wait=wait_s,
        retry=retry_if_exception(_can_heal),
        before_sleep=lambda state: on_retry(_fault_of(state)),
        sleep=asyncio.sleep,
        reraise=True,
    )
    return await attempts(once)


def afterword(fault: HostFault, tries: int) -> str:
    """Return the end of a message about a fault that further tries did not heal."""
    if fault.retry_after_s is not None and fault.retry_after_s > LONGEST_WAIT_S:
        return f"; the service asks to wait {fault.retry_after_s:g} s, which is too long to wait for"
    return f" ({tries} tries)" if tries > 1 else ""


def _fault_of(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _can_heal(fault: BaseException) -> bool:
    return isinstance(fault, HostFault) and fault.retry and (fault.retry_after_s or 0.0) <= LONGEST_WAIT_S
