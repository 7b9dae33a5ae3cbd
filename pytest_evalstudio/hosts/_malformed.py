"""Faults of connections and of replies whose form is not that of the service, in the user's words."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable
from typing import Any

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._faults import causes, innermost, quoted

CHECK_REPLY = "check that url is the address of the service, and its version"
_UNFINISHED = "complete message body"
"""Words of h11 for a body that ends before its length; its errors have no codes."""


def reply_fault(
    url: str, exc: BaseException, mask: Callable[[str], str], *, retry: bool = False
) -> HostFault:
    """Return the fault for a reply that the client or the host could not read.

    Args:
        url: of the service.
        exc: raised while the reply was read.
        mask: removes secrets.
        retry: whether another attempt can help.
    """
    return HostFault(
        f"{url} sent a reply that is not one of this service: {_fact(exc, mask)}; {CHECK_REPLY}", retry=retry
    )


def broken_off(url: str) -> HostFault:
    """Return the fault for a reply that ends in its middle, e.g. since the service crashed while it wrote."""
    fact = f"{url} ended the stream before the answer was complete"
    return HostFault(f"{fact}; check the service", retry=True, cause="reply_broken_off")


def connection_fault(url: str, exc: BaseException, mask: Callable[[str], str]) -> HostFault:
    """Return the fault for a connection that failed."""
    location = f"no connection to {url}"
    for cause in causes(exc):
        if isinstance(cause, ssl.SSLCertVerificationError):
            fact = f"its certificate is not trusted ({_reason(cause)})"
            remedy = "set ca_file to the file of its certificate authority"
            return HostFault(f"{location}: {fact}; {remedy}", cause="untrusted_certificate")
        if isinstance(cause, socket.gaierror):
            return HostFault(
                f"{location}: its host name cannot be resolved; check url", retry=True, cause="unresolved"
            )
        if isinstance(cause, ConnectionRefusedError):
            return HostFault(
                f"{location}: connection refused; check url, and that the service runs",
                retry=True,
                cause="connection_refused",
            )
        if isinstance(cause, ssl.SSLError):
            fact = str(getattr(cause, "reason", "") or "TLS failed").lower().replace("_", " ")
            return HostFault(
                f"{location}: {fact}; check the scheme of url (http or https)", retry=True, cause="tls"
            )
        if type(cause).__name__ == "RemoteProtocolError" and _UNFINISHED in str(cause):
            return broken_off(url)
        if isinstance(cause, ConnectionResetError | BrokenPipeError):
            return HostFault(
                f"{location}: the service closed it; check the service", retry=True, cause="connection_closed"
            )
    return HostFault(
        f"{location}: {_without_class(innermost(exc, mask))}; check url and the network",
        retry=True,
        cause="no_connection",
    )


def _reason(error: ssl.SSLCertVerificationError) -> str:
    return str(getattr(error, "verify_message", "") or "verification failed")


def _fact(exc: BaseException, mask: Callable[[str], str]) -> str:
    for cause in causes(exc):
        if isinstance(cause, UnicodeDecodeError):
            return "it is no text in UTF-8"
        if isinstance(cause, json.JSONDecodeError) or type(cause).__name__ == "JSONDecodeError":
            text = str(getattr(cause, "doc", ""))
            return f"it is not JSON but {quoted(text, mask)!r}" if text.strip() else "it is empty"
        errors = getattr(cause, "errors", None)
        if callable(errors) and type(cause).__name__ == "ValidationError":
            return _invalid_field(errors()[0])
        if isinstance(cause, KeyError) and cause.args:
            return f"the field {cause.args[0]!r} is missing"
    return "fields of an answer are missing or have another type"


def _invalid_field(error: Any) -> str:
    field = ".".join(map(str, error.get("loc", ())))
    if not field:
        return "it is not a JSON object"
    return f"the field {field!r} is {'missing' if error.get('type') == 'missing' else 'not valid'}"


def _without_class(text: str) -> str:
    """Return the message of a client without the representation of its connection objects."""
    return text.rpartition("object at 0x")[2].partition(": ")[2] if "object at 0x" in text else text
