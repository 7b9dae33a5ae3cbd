"""A question to an HTTP service, to see the form of its reply."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_evalstudio.cli.starter.replies import proposed_pointers
from pytest_evalstudio.core.errors import ConfigurationError

QUESTION = "What can you help me with?"
KEY = "question"
"""Key of the question in the body, where the service does not ask for another one."""
TIMEOUT_S = 60.0
MAX_BYTES = 4_000_000
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_EVENTS = "text/event-stream"
_LINES = ("application/x-ndjson", "application/jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceForm:
    """Form of a service's request and reply.

    Attributes:
        question_key: key of the question in the body.
        format: `format` of the host `http`; "" for JSON.
        pointers: `reply` of the host; {} for its default.
        note: what the user must look at, "" for nothing.
    """

    question_key: str = KEY
    format: str = ""
    pointers: Mapping[str, str]
    note: str = ""


def form_of_service(url: str) -> ServiceForm:
    """Ask a service once, and return the form of its reply.

    A request that is refused since the body lacks a key is sent once more with that key.

    Args:
        url: `${NAME}` in it is read from the environment.

    Raises:
        ConfigurationError: if httpx is missing, or the service cannot be reached.
    """
    status, kind, text = _asked(url, KEY)
    key = KEY
    missing = _missing_key(text) if status in (400, 422) else None
    if missing and missing != KEY:
        key = missing
        status, kind, text = _asked(url, key)
    if status in (401, 403):
        return ServiceForm(
            question_key=key,
            pointers={},
            note=f"the service wants a key (status {status}): set api_key and reply in evalstudio.toml",
        )
    if status >= 400:
        note = f"the service answered with status {status}: check url, body and reply in evalstudio.toml"
        return ServiceForm(question_key=key, pointers={}, note=note)
    return _form_of_reply(kind, text, key)


def _form_of_reply(kind: str, text: str, key: str) -> ServiceForm:
    if kind == _EVENTS:
        note = "the service streams: check in evalstudio.toml where its events have the answer"
        return ServiceForm(question_key=key, format="events", pointers={}, note=note)
    if kind in _LINES:
        note = "the service streams lines: check in evalstudio.toml where they have the answer"
        return ServiceForm(question_key=key, format="ndjson", pointers={}, note=note)
    try:
        reply: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ServiceForm(question_key=key, format="text", pointers={})
    pointers = proposed_pointers(reply)
    note = "" if pointers else "no text of the reply looks like an answer: set reply in evalstudio.toml"
    return ServiceForm(question_key=key, pointers=pointers, note=note)


def _asked(url: str, key: str) -> tuple[int, str, str]:
    """Return status, media type and text of a reply.

    Raises:
        ConfigurationError: if httpx is missing, or the service cannot be reached.
    """
    from pytest_evalstudio.hosts._connected import check_url, require_package

    require_package("--http", "httpx", "http")
    import httpx

    address = _with_variables(url)
    check_url("--http", address)
    try:
        with httpx.stream("POST", address, json={key: QUESTION}, timeout=TIMEOUT_S) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > MAX_BYTES:
                    raise ConfigurationError(f"--http {url}: the reply is longer than {MAX_BYTES:,} bytes")
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return response.status_code, kind, content.decode("utf-8", "replace")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as exc:
        raise ConfigurationError(
            f"--http {url}: {str(exc) or type(exc).__name__}; start the service and check the address"
        ) from None


def _with_variables(url: str) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise ConfigurationError(f"--http {url}: the environment variable {match[1]} is not set")
        return os.environ[match[1]]

    return _VARIABLE.sub(value, url)


def _missing_key(text: str) -> str | None:
    """Return the first key that the body of a refused request lacks, as FastAPI and pydantic report it."""
    try:
        details = json.loads(text)["detail"]
        places = [detail["loc"] for detail in details if detail.get("type") == "missing"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    keys = [
        place[-1] for place in places if isinstance(place, list) and len(place) == 2 and place[0] == "body"
    ]
    return keys[0] if keys and isinstance(keys[0], str) else None
