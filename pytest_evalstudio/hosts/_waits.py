"""Waiting times that services ask for, in headers and bodies of their replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")
_RETRY_AFTER = "retry-after"
_FORWARDED = "llm_provider-"
"""Prefix of the headers that LiteLLM's proxy passes on."""
_RESET = re.compile(
    r"(?:x-ratelimit-reset|ratelimit-reset)(?P<kind>-[a-z-]{1,40})?"
    r"|anthropic-ratelimit(?P<anthropic>(?:-[a-z]{1,20}){1,3})-reset"
)
MAX_RESET_S = 60.0
"""Limits are whole again at the time of a reset; requests are allowed before, mostly within a minute."""
_EPOCH_S, _EPOCH_MS = (
    1e9,
    1e11,
)  # greater numbers are moments, not spans: 2001 in seconds, 1973 in milliseconds
_UNITS_S: Mapping[str, float] = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = r"\d{1,9}(?:\.\d{1,9})?\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)"
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s?(ms|[smhd])")
_WHOLE_SPAN = re.compile(rf"(?:{_PART}\s?){{1,5}}")
_RETRY_INFO = re.compile(r'retryDelay\\{0,3}"\s{0,9}:\s{0,9}\\{0,3}"(\d{1,9}(?:\.\d{1,9})?)s')
"""Delay of a `google.rpc.RetryInfo`; proxies quote it within a text, with its quotes escaped."""
_REQUEST = re.compile(
    rf"\b(?:try again|retry|wait)(?: (?:in|after|for|at least))? ((?:{_PART}\s?){{1,4}})(?![\w])",
    re.IGNORECASE,
)
_MAX_BODY_CHARS = 20_000


def asked_wait_s(
    headers: Mapping[str, str], body: str, *, throttled: bool, now: datetime | None = None
) -> float | None:
    """Return the seconds that a reply asks to wait, None where it does not ask.

    A header comes before the body. Only a refused rate says more than "later": in the words of its message,
    and by the time at which a limit is whole again.

    Args:
        headers: of the reply.
        body: of the reply, or its message.
        throttled: whether the service refuses the rate of the requests.
        now: the clock of this machine; the one of the service counts where it sends a date.

    >>> asked_wait_s({"llm_provider-retry-after": "2"}, "", throttled=True)
    2.0
    >>> asked_wait_s({}, "Rate limit reached. Please try again in 1m30s.", throttled=True)
    90.0
    """
    fields = {name.lower(): value for name, value in headers.items()}
    sent = _moment(fields.get("date", "")) or now or datetime.now(UTC)
    if (seconds := _in_headers(fields, sent)) is not None:
        return seconds
    body = body[:_MAX_BODY_CHARS]
    if delay := _RETRY_INFO.search(body):
        return float(delay[1])
    if not throttled:
        return None
    if request := _REQUEST.search(body):
        return _span_s(request[1])
    return _until_reset_s(fields, sent)


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a `Retry-After` header asks to wait, or None without a valid one.

    The header is a number or an HTTP date; `retry-after-ms` is more precise and comes first. Headers that a
    proxy passes on count where it sends none of its own.

    >>> retry_after_s({"retry-after": "2.5"})
    2.5
    """
    fields = {name.lower(): value for name, value in headers.items()}
    return _in_headers(fields, _moment(fields.get("date", "")) or now or datetime.now(UTC))


def header(headers: Mapping[str, str], name: str) -> str | None:
    """Return the value of a header, whatever the case of its name; None where there is none."""
    return next((value for key, value in headers.items() if key.lower() == name), None)


def _in_headers(fields: Mapping[str, str], sent: datetime) -> float | None:
    for prefix in ("", _FORWARDED):
        for name in _MILLISECONDS:
            if (milliseconds := _number(fields.get(prefix + name, ""))) is not None:
                return max(0.0, milliseconds / 1000)
        value = fields.get(prefix + _RETRY_AFTER)
        if value is not None and (seconds := _seconds(value, sent)) is not None:
            return seconds
    return None


def _until_reset_s(fields: Mapping[str, str], sent: datetime) -> float | None:
    """Return the seconds until the used-up limits are whole again.

    Where no header says which limit is used up, all of them count.
    """
    resets = list(_resets(fields, sent))
    used_up = [seconds for seconds, remaining in resets if remaining == "0"]
    seconds = used_up or [seconds for seconds, _ in resets]
    return min(MAX_RESET_S, max(seconds)) if seconds else None


def _resets(fields: Mapping[str, str], sent: datetime) -> Iterator[tuple[float, str]]:
    """Yield the seconds until each reset and what is left of its limit, "" where that is not said."""
    for name, value in fields.items():
        match = _RESET.fullmatch(name.removeprefix(_FORWARDED))
        if match and (seconds := _seconds(value, sent)) is not None:
            yield seconds, fields.get(name.replace("reset", "remaining"), "").strip()


def _seconds(value: str, sent: datetime) -> float | None:
    """Return the seconds of a header: a number, a span such as "1m30s", or a moment in any usual form."""
    value = value.strip()
    number = _number(value)
    if number is not None:
        if number > _EPOCH_MS:
            number /= 1000
        return max(0.0, number - sent.timestamp() if number > _EPOCH_S else number)
    if _WHOLE_SPAN.fullmatch(value):
        return _span_s(value)
    moment = _moment(value)
    return None if moment is None else max(0.0, (moment - sent).total_seconds())


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None


def _span_s(text: str) -> float:
    """Return the seconds of a span.

    >>> _span_s("1m30s"), _span_s("820ms"), _span_s("26 seconds")
    (90.0, 0.82, 26.0)
    """
    parts = _SPAN.findall(text.lower())
    return round(
        sum(float(number) * _UNITS_S["ms" if unit == "milli" else unit] for number, unit in parts), 6
    )


def _moment(value: str) -> datetime | None:
    """Return the time of an HTTP date or an RFC 3339 timestamp, None for another text."""
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
