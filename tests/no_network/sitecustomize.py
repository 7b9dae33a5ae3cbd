"""Put on PYTHONPATH by the tests: no process of theirs reaches beyond this machine."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex
_getaddrinfo = socket.getaddrinfo
_OWN_ADDRESS = ""


def _check(address: Any) -> None:
    if (
        isinstance(address, tuple)
        and address[0] not in ("localhost", "")
        and not _is_loopback(str(address[0]))
        and address[0] != _OWN_ADDRESS
    ):
        raise OSError(f"the tests must not reach {address[0]}: only loopback is allowed")


def _own_address() -> str:
    """Return the address of this machine, by which Ray's processes reach each other; "" without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # reserved for documentation; UDP connects without a packet
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return False


def _guarded_connect(self: socket.socket, address: Any) -> None:
    _check(address)
    return _connect(self, address)


def _guarded_connect_ex(self: socket.socket, address: Any) -> int:
    _check(address)
    return _connect_ex(self, address)


def _guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    if host is not None:
        _check((host.decode() if isinstance(host, bytes) else host, 0))
    return _getaddrinfo(host, *args, **kwargs)


def block() -> None:
    """Let no socket of this process connect to anything but this machine."""
    global _OWN_ADDRESS
    _OWN_ADDRESS = _own_address()
    socket.socket.connect = _guarded_connect  # type: ignore[method-assign]
    socket.socket.connect_ex = _guarded_connect_ex  # type: ignore[method-assign]
    socket.getaddrinfo = _guarded_getaddrinfo  # type: ignore[assignment]


block()
