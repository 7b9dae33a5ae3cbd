"""Faults of services: statuses, waiting times and quoted texts as HostFault describes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._redirects import redirect_fault
from pytest_evalstudio.hosts._refusals import error_object, refusal_fault, refusal_of
from pytest_evalstudio.hosts._waits import asked_wait_s, header

NO_KEY = frozenset({401, 403})
"""Statuses that any other request would get as well."""
TOO_MANY = 429
RETRIED = frozenset({408, 409, TOO_MANY})
RATE_LIMITS = frozenset({"rate_limit_exceeded", "rate_limit_error", "throttling_error", "RESOURCE_EXHAUSTED"})
"""Codes and types of OpenAI, Anthropic, LiteLLM and Google."""
_CODE_LEVELS = 3
"""A body has an error, and that of Azure an inner one."""
NO_CREDIT = frozenset({"insufficient_quota", "budget_exceeded"})
"""Codes and types by which OpenAI and LiteLLM refuse every further request of an account."""
MAX_QUOTE_CHARS = 300
_BASE64 = re.compile(r"[A-Za-z0-9+/=_-]{200,}")


def status_fault(
    status: int,
    text: str,
    remedies: Mapping[int, str],
    headers: Mapping[str, str] | None = None,
    *,
    url: str,
    body: str = "",
) -> HostFault:
    """Return the fault for the HTTP status of a reply.

    Args:
        text: of the service, without secrets.
        remedies: status to what the user can do.
        headers: of the reply; the wait that they ask for is kept.
        url: of the service; a redirect of it is refused.
        body: of the reply, which may name a reason and a wait as well; "" for no more than `text`.
    """
    if 300 <= status < 400 and (location := header(headers or {}, "location")):
        return redirect_fault(url, location)
    if refusal := refusal_of(status, codes_of(error_object(body)), body or text):
        return refusal_fault(refusal, f"HTTP {status}: {text}")
    remedy = remedies.get(status, "")
    retry, throttled = is_passing(status), status == TOO_MANY
    wait_s = asked_wait_s(headers or {}, body or text, throttled=throttled) if retry else None
    return HostFault(
        f"HTTP {status}: {text}" + (f"; {remedy}" if remedy else ""),
        retry=retry,
        retry_after_s=wait_s,
        ends_asking=status in NO_KEY,
        throttled=throttled,
        cause=f"http_{status}",
    )


def is_passing(status: int) -> bool:
    """Return True if a request with this HTTP status may succeed later."""
    return status in RETRIED or status >= 500


def withheld() -> HostFault:
    """Return the fault for an answer of which the content filter of the service leaves nothing."""
    return HostFault("the service's content filter withheld the answer", cause="answer_filtered")


def codes_of(error: object) -> frozenset[str]:
    """Return the codes and types of an error object and of those within it, under their usual names."""
    codes: set[str] = set()
    level = [error]
    for _ in range(_CODE_LEVELS):
        objects = [each for each in level if isinstance(each, Mapping)]
        values = (each.get(name) for each in objects for name in ("code", "type", "status"))
        codes.update(str(value) for value in values if isinstance(value, str | int))
        level = [each.get(name) for each in objects for name in ("error", "innererror")]
    return frozenset(codes)


def is_rate_limit(error: object) -> bool:
    """Return True if an error object, e.g. one within a stream, refuses the rate of the requests."""
    return bool(codes_of(error) & RATE_LIMITS)


def quoted(text: str, mask: Callable[[str], str]) -> str:
    """Return a text of the service on one line, masked before it is shortened.

    No part of a secret is left, nor the content of an image or file that the service repeats.
    """
    line = " ".join(without_base64(mask(text)).split())
    return line if len(line) <= MAX_QUOTE_CHARS else line[:MAX_QUOTE_CHARS] + " …"


def without_base64(text: str) -> str:
    """Return a text with long stretches of Base64 replaced by their length.

    >>> without_base64("image_url: data:image/png;base64," + "QUJD" * 100)
    'image_url: data:image/png;base64,(400 characters)'
    """
    return _BASE64.sub(lambda stretch: f"({len(stretch[0])} characters)", text)


def innermost(exc: BaseException, mask: Callable[[str], str]) -> str:
    """Return the message of the exception that caused the others."""
    exc = list(causes(exc, with_context=False))[-1]
    return quoted(str(exc) or type(exc).__name__, mask)


def host_fault_in(exc: BaseException | None) -> HostFault | None:
    """Return the fault of this package that led to an exception of a client, None where there is none."""
    return next((cause for cause in causes(exc) if isinstance(cause, HostFault)), None)


def causes(exc: BaseException | None, *, with_context: bool = True) -> Iterator[BaseException]:
    """Yield an exception and those that led to it, each once; of a group of concurrent requests, its first.

    Args:
        with_context: whether an exception that was being handled counts where no cause is given.
    """
    seen: set[int] = set()  # chains can be circles: a member of a group may have the group as its context
    while exc is not None and id(exc) not in seen:
        seen.add(id(exc))
        yield exc
        if isinstance(exc, BaseExceptionGroup):
            exc = exc.exceptions[0]
        else:
            exc = exc.__cause__ or (exc.__context__ if with_context else None)


def is_unknown_argument(exc: BaseException) -> bool:
    """Return True if a method of a client refuses an argument of the configuration."""
    return isinstance(exc, TypeError) and "unexpected keyword argument" in str(exc)


def is_transport_error(exc: BaseException) -> bool:
    """Return True for the transport errors of httpx, under any name that a client installs it by."""
    return any(
        base.__name__ == "TransportError" and base.__module__.partition(".")[0].startswith("httpx")
        for base in type(exc).__mro__
    )
