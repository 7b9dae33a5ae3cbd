"""Reading of chat completions of services that are compatible more or less."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._faults import (
    NO_CREDIT,
    NO_KEY,
    TOO_MANY,
    codes_of,
    is_passing,
    is_rate_limit,
    quoted,
    status_fault,
)
from pytest_evalstudio.hosts._malformed import CHECK_REPLY
from pytest_evalstudio.hosts._refusals import refusal_fault, refusal_of
from pytest_evalstudio.hosts._waits import asked_wait_s

REMEDIES: Mapping[int, str] = {
    400: "check llm_model_name and arguments",
    401: "check api_key",
    403: "check that api_key may use this model",
    404: "check url (it usually ends in /v1) and llm_model_name",
    422: "check arguments",
}

_NAMES: Mapping[type, str] = {dict: "an object", list: "a list", str: "a text", type(None): "null"}


class RefusedRequest(Exception):
    """A reply whose status is an error.

    Args:
        status: of HTTP.
        text: whole body of the reply.
        phrase: words that go with the status.
        headers: of the reply.
    """

    def __init__(self, status: int, text: str, phrase: str, headers: Mapping[str, str]) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.text = text
        self.phrase = phrase
        self.headers = headers
        self.error = _error_object(text)

    @property
    def reason(self) -> str:
        """Return the words of the service, of which secrets are not removed yet."""
        return str(self.error.get("message") or self.text or self.phrase)


def _error_object(text: str) -> Mapping[str, Any]:
    """Return the object `error` of a body, or the body where it has none."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    error = body.get("error", body) if isinstance(body, Mapping) else body
    return error if isinstance(error, Mapping) else {}


def first_choice(reply: Mapping[str, Any], url: str) -> tuple[Mapping[str, Any], str | None, str | None]:
    """Return the first choice of a reply, its text and its reason to finish.

    Args:
        reply: JSON of a chat completion, without any check.
        url: of the service.

    Raises:
        HostFault: names the field that is not as it should be.
    """
    choices = reply.get("choices")
    if not isinstance(choices, list):
        raise _malformed(url, "choices", "a list", choices)
    if not choices:
        raise HostFault(f"{url} sent a reply without an answer: choices is empty; {CHECK_REPLY}")
    choice = choices[0]
    if not isinstance(choice, Mapping):
        raise _malformed(url, "choices[0]", "an object", choice)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise _malformed(url, "choices[0].message", "an object", message)
    content = message.get("content")
    text = content or message.get("refusal") or content
    if text is not None and not isinstance(text, str):
        raise _malformed(url, "choices[0].message.content", "a text", text)
    finish = choice.get("finish_reason")
    return choice, text, finish if isinstance(finish, str) else None


def thoughts_in(message: Mapping[str, Any]) -> str:
    """Return the reasoning that a service sends beside the text, under either of the usual names."""
    for name in ("reasoning_content", "reasoning"):
        value = message.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def refused_fault(refused: RefusedRequest, url: str, mask: Callable[[str], str]) -> HostFault:
    """Return the fault for a reply whose status is an error.

    Args:
        url: of the service.
        mask: removes secrets.
    """
    reason = quoted(refused.reason, mask)
    if codes_of(refused.error) & NO_CREDIT:
        fact = f"HTTP {refused.status}: {reason}; the account has no credit left"
        return HostFault(fact, ends_asking=True)
    return status_fault(refused.status, reason, REMEDIES, refused.headers, url=url, body=refused.text)


def error_fault(error: object, url: str, mask: Callable[[str], str]) -> HostFault:
    """Return the fault for an error in a reply of status 200: a failed try, unless its code forbids another.

    Args:
        error: the value of the key `error`.
        url: of the service.
        mask: removes secrets.
    """
    text = str(error.get("message") or error) if isinstance(error, Mapping) else str(error)
    message = f"{url} sent a reply without an answer: {quoted(text, mask)}; check the service"
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


def refused_parameters(refused: RefusedRequest, sent: frozenset[str]) -> frozenset[str]:
    """Return which of the parameters of a request its service does not take.

    OpenAI names the parameter in `param`; others only mention it in their message.

    Args:
        refused: reply of the service.
        sent: names of the parameters that can be left out.
    """
    if refused.status not in (400, 422):
        return frozenset()
    if (param := refused.error.get("param")) is not None:
        return sent & {str(param)}
    return frozenset(name for name in sent if name in refused.text.lower())


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
