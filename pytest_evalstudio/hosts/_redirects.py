"""Refusal of redirects: another address gets neither prompts nor documents nor keys."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from urllib.parse import urljoin, urlsplit

from pytest_evalstudio.core.plugins.host import HostFault

_service: ContextVar[str] = ContextVar("evalstudio_service", default="")
"""Address of the service whose redirects are refused in this context, "" where they are followed."""
_installing = threading.Lock()
_installed: set[type] = set()


def redirect_fault(url: str, location: str) -> HostFault:
    """Return the fault for a reply that redirects.

    Args:
        url: of the service.
        location: header of the reply; its query, its path and its user are not repeated.
    """
    target = _origin(_joined(url, location))
    is_same = target == _origin(url)
    fact = "another path of the same address" if is_same else target or "an address without a host"
    return HostFault(
        f"{url} redirects to {fact}, which gets no request; if it is the service, set its address as url"
    )


@contextmanager
def refused_redirects(url: str) -> Iterator[None]:
    """Refuse redirects of requests and urllib3 in this context; other threads and tasks are not affected.

    For clients that follow redirects and have no setting for it. Their methods differ from version to
    version, and each of them makes its requests in its own way; these two libraries are below all of them.

    Args:
        url: of the service, for the message.

    Raises:
        HostFault: by the redirected request.
    """
    from urllib3.response import HTTPResponse

    _install(HTTPResponse, "get_redirect_location")
    with suppress(ModuleNotFoundError):  # not every client needs it
        import requests

        _install(requests.Session, "get_redirect_target")
    token = _service.set(url)
    try:
        yield
    finally:
        _service.reset(token)


def _install(cls: type, name: str) -> None:
    """Make the method that returns the target of a redirect refuse it where `_service` is set."""
    with _installing:
        if cls in _installed:
            return
        method = getattr(cls, name)

        @functools.wraps(method)
        def target(self: Any, *arguments: Any) -> Any:
            location = method(self, *arguments)
            if location and (url := _service.get()):
                (arguments[0] if arguments else self).close()  # the reply, whose connection stays open else
                raise redirect_fault(url, str(location))
            return location

        setattr(cls, name, target)
        _installed.add(cls)


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _origin(url: str) -> str:
    """Return scheme, host and port of a URL, "" where it has none."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}" if host else ""
