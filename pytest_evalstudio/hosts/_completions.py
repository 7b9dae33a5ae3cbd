"""Reading of chat completions of services that are compatible more or less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._faults import NO_KEY, TOO_MANY, codes_of, is_passing, is_rate_limit
from pytest_evalstudio.hosts._malformed import CHECK_REPLY
from pytest_evalstudio.hosts._refusals import refusal_fault, refusal_of
from pytest_evalstudio.hosts._waits import asked_wait_s

_NAMES: Mapping[type, str] = {dict: "an object", list: "a list", str: "a text", type(None): "null"}


def first_choice(reply: Any, url: str) -> tuple[str | None, str | None]:
    """Return the text of a reply and its reason to finish.

    Args:
        reply: what the client made of it, without any check.
        url: of the service.

    Raises:
        HostFault: names the field that is not as it should be.
    """
    choices = getattr(reply, "choices", None)
    if not isinstance(choices, list):
        raise _malformed(url, "choices", "a list", choices)
    if not choices:
        raise HostFault(f"{url} sent a reply without an answer: choices is empty; {CHECK_REPLY}")
    choice = choices[0]
    message = getattr(choice, "message", None)
    if message is None or isinstance(message, str | int | float | bool | list | dict):
        shown = message if hasattr(choice, "message") else choice
        field = "choices[0].message" if hasattr(choice, "message") else "choices[0]"
        raise _malformed(url, field, "an object", shown)
    finish = getattr(choice, "finish_reason", None)
    content = getattr(message, "content", None)
    text = content or getattr(message, "refusal", None) or content
    if text is not None and not isinstance(text, str):
        raise _malformed(url, "choices[0].message.content", "a text", text)
    return text, finish if isinstance(finish, str) else None


def thoughts_in(message: Any) -> str:
    """Return the reasoning that a service sends beside the text, under either of the usual names."""
    for name in ("reasoning_content", "reasoning"):
        value = getattr(message, name, None)
        if isinstance(value, str) and value:
            return value
    return ""


def error_in(reply: Any) -> Any:
    """Return the error that a reply reports although its status is 200; None for none."""
    return getattr(reply, "error", None) or (reply.get("error") if isinstance(reply, dict) else None)


def error_fault(error: Any, message: str) -> HostFault:
    """Return the fault for an error in a reply of status 200: a failed try, unless its code forbids another.

    Args:
        error: the value of the key `error`.
        message: of the fault.
    """
    code = error.get("code") if isinstance(error, Mapping) else None
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 500
    if refusal := refusal_of(status if status != 500 else 400, codes_of(error), message):
        return refusal_fault(refusal, message)
    throttled = status == TOO_MANY or is_rate_limit(error)
    return HostFault(
        message,
        retry=throttled or is_passing(status),
        retry_after_s=asked_wait_s({}, message, throttled=True) if throttled else None,
        ends_asking=status in NO_KEY,
        throttled=throttled,
    )


def refused_parameters(
    status: int, body: Mapping[str, Any], text: str, sent: frozenset[str]
) -> frozenset[str]:
    """Return which of the parameters of a request its service does not take.

    OpenAI names the parameter in `param`; others only mention it in their message.

    Args:
        status: HTTP status of the reply.
        body: the object `error` of the reply.
        text: the whole reply.
        sent: names of the parameters that can be left out.
    """
    if status not in (400, 422):
        return frozenset()
    if (param := body.get("param")) is not None:
        return sent & {str(param)}
    return frozenset(name for name in sent if name in text.lower())


def sendable(text: str) -> str:
    r"""Return a text that can be sent: half a character is written as its escape.

    >>> sendable("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _malformed(url: str, field: str, expected: str, value: object) -> HostFault:
    kind = _NAMES.get(type(value), "a number")
    return HostFault(
        f"{url} sent a reply without an answer: {field} is {kind}, expected {expected}; {CHECK_REPLY}"
    )
