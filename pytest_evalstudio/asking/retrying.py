"""Further tries of a request that failed for a reason that may pass."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from pytest_evalstudio.asking.limits import LONGEST_WAIT_S, Limits
from pytest_evalstudio.core.plugins.host import HostFault

FIRST_WAIT_S = 0.5
MAX_WAIT_S = 30.0  # rate limits are mostly per minute: two waits reach the next one

T = TypeVar("T")


async def with_retries(
    once: Callable[[], Coroutine[Any, Any, T]],
    *,
    limits: Limits,
    seed: Callable[[], str],
    on_retry: Callable[[HostFault], None],
) -> T:
    """Return the result of a request, after as many tries as it takes.

    Tries that the service refuses for the rate of the requests are counted apart from other faults: their
    number is not limited, but their time is.

    Args:
        once: makes the request.
        limits: number of tries, and time to wait for a service that is asked too much.
        seed: returns the seed of the random part of the waiting times, if there are any.
        on_retry: called with the fault before each further try.

    Raises:
        HostFault: of the last try.
    """
    jitter: random.Random | None = None
    faults = refusals = 0
    refused_since: float | None = None
    while True:
        try:
            return await once()
        except HostFault as exc:
            fault = exc
        if not fault.retry:
            raise fault
        jitter = jitter or random.Random(seed())
        asked_s = fault.retry_after_s
        if fault.throttled:
            refusals += 1
            # A service that asks to wait for no time, and refuses again, is not asked without end.
            wait_s = max(asked_s or 0.0, _backoff_s(refusals, jitter))
            now = time.monotonic()
            refused_since = now if refused_since is None else refused_since
            is_last = now - refused_since + wait_s > limits.rate_limit_wait_s
        else:
            faults += 1
            wait_s = _backoff_s(faults, jitter) if asked_s is None else asked_s
            is_last = faults > limits.retries or wait_s > LONGEST_WAIT_S
        if is_last:
            raise fault
        on_retry(fault)
        await asyncio.sleep(wait_s)


def afterword(fault: HostFault, tries: int, limits: Limits) -> str:
    """Return the end of a message about a fault that further tries did not heal."""
    longest_s = limits.rate_limit_wait_s if fault.throttled else LONGEST_WAIT_S
    if fault.retry_after_s is not None and fault.retry_after_s > longest_s:
        return f"; the service asks to wait {fault.retry_after_s:g} s, which is too long to wait for"
    if fault.throttled:
        return (
            f" ({tries} {'try' if tries == 1 else 'tries'} within rate_limit_wait_s ="
            f" {limits.rate_limit_wait_s:g}); set requests_per_minute, or a lower concurrency"
        )
    return f" ({tries} tries)" if tries > 1 else ""


def _backoff_s(tries: int, jitter: random.Random) -> float:
    """Return the seconds to wait after so many tries where the service does not say how long."""
    return min(MAX_WAIT_S, FIRST_WAIT_S * 2.0 ** min(tries - 1, 16)) * jitter.uniform(0.5, 1.0)
