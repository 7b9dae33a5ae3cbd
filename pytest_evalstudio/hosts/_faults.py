"""Faults of services: statuses, waiting times and quoted texts as HostFault describes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._redirects import redirect_fault

NO_KEY = frozenset({401, 403})
"""Statuses that any other request would get as well."""
RETRIED = frozenset({408, 409, 429})
MAX_QUOTE_CHARS = 300
_BASE64 = re.compile(r"[A-Za-z0-9+/=_-]{200,}")


def status_fault(
    status: int,
    text: str,
    remedies: Mapping[int, str],
    headers: Mapping[str, str] | None = None,
    *,
    url: str,
) -> HostFault:
    """Return the fault for the HTTP status of a reply.

    Args:
        text: of the service, without secrets.
        remedies: status to what the user can do.
        headers: of the reply; `Retry-After` in them is honoured.
        url: of the service; a redirect of it is refused.
    """
    if 300 <= status < 400 and (location := _header(headers, "location")):
        return redirect_fault(url, location)
    remedy = remedies.get(status, "")
    retry = is_passing(status)
    return HostFault(
        f"HTTP {status}: {text}" + (f"; {remedy}" if remedy else ""),
        retry=retry,
        retry_after_s=retry_after_s(headers) if retry and headers is not None else None,
        ends_asking=status in NO_KEY,
        throttled=status == 429,
        cause=f"http_{status}",
    )


def is_passing(status: int) -> bool:
    """Return True if a request with this HTTP status may succeed later."""
    return status in RETRIED or status >= 500


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a `Retry-After` header asks to wait, or None without a valid one.

    The header is a number or an HTTP date.

    >>> retry_after_s({"retry-after": "2.5"})
    2.5
    """
    value = _header(headers, "retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        moment = _moment(value)
        if moment is None:
            return None
        # The clock of the service counts: the one of this machine may be hours off.
        sent = _moment(_header(headers, "date") or "")
        seconds = (moment - (sent or now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None  # not a NaN


def _moment(value: str) -> datetime | None:
    """Return the time of an HTTP date, None for another text."""
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _header(headers: Mapping[str, str] | None, name: str) -> str | None:
    return next((value for key, value in (headers or {}).items() if key.lower() == name), None)


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
