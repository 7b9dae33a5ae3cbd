"""Connections to checked addresses: a document's URL must not reach into the user's own network."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import urllib.request
from collections.abc import Collection
from typing import Any

from pytest_evalstudio.core.addresses import host_of

MAX_REDIRECTS = 5


class PrivateAddress(OSError):
    """Host name of an address that is not public."""


def is_public(address: str) -> bool:
    """Return True if an IP address is public: not private, loopback, link-local, reserved or multicast.

    >>> is_public("93.184.216.34"), is_public("127.0.0.1"), is_public("::ffff:10.0.0.1")
    (True, False, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if embedded is not None:
            return is_public(str(embedded))
        if ip in _TRANSLATED:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
    return ip.is_global and not ip.is_multicast


_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def opener(*, allow_private_hosts: bool, trusted_hosts: Collection[str]) -> urllib.request.OpenerDirector:
    """Return what opens http and https URLs, with at most five redirects, each of them checked.

    Args:
        allow_private_hosts: whether addresses that are not public may be connected to.
        trusted_hosts: "host:port" of those that may have such an address, because the user named them.
    """
    director = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _HTTPHandler(allow_private_hosts, trusted_hosts),
        _HTTPSHandler(allow_private_hosts, trusted_hosts),
        _RedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        director.add_handler(handler)  # neither file: nor ftp:, wherever a redirect points
    return director


class _RedirectHandler(urllib.request.HTTPRedirectHandler):
    max_redirections = MAX_REDIRECTS


class _HTTPHandler(urllib.request.HTTPHandler):
    def __init__(self, allow_private_hosts: bool, trusted_hosts: Collection[str]) -> None:
        super().__init__()
        self._rules = allow_private_hosts, trusted_hosts

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        def connection(host: str, **settings: Any) -> http.client.HTTPConnection:
            return _checked(http.client.HTTPConnection(host, **settings), req, *self._rules)

        return self.do_open(connection, req)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    def __init__(self, allow_private_hosts: bool, trusted_hosts: Collection[str]) -> None:
        super().__init__()
        self._rules = allow_private_hosts, trusted_hosts

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        def connection(host: str, **settings: Any) -> http.client.HTTPConnection:
            return _checked(http.client.HTTPSConnection(host, **settings), req, *self._rules)

        return self.do_open(connection, req)


def _checked(
    connection: http.client.HTTPConnection,
    request: urllib.request.Request,
    allow_private_hosts: bool,
    trusted_hosts: Collection[str],
) -> http.client.HTTPConnection:
    """Make a connection use the checked addresses, so that the host name cannot change in between."""
    target = host_of(request.full_url)
    if allow_private_hosts or target in trusted_hosts:
        return connection
    if (
        f"{connection.host.lower()}:{connection.port}" != target
    ):  # by the user's proxy, which resolves the name itself
        _refuse_private(target, _resolved(*_split(target), unknown_is_fine=True))
        return connection

    def connect(address: tuple[str, int], timeout: Any = None, source_address: Any = None) -> socket.socket:
        addresses = _resolved(*address)
        _refuse_private(target, addresses)
        return _connected(addresses, address[1], timeout)

    connection._create_connection = connect  # type: ignore[attr-defined]
    return connection


def _split(target: str) -> tuple[str, int]:
    host, _, port = target.rpartition(":")
    return host, int(port or 80)


def _resolved(host: str, port: int, *, unknown_is_fine: bool = False) -> list[str]:
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        if unknown_is_fine:
            return []
        raise
    return list(dict.fromkeys(str(entry[4][0]) for entry in infos))


def _refuse_private(target: str, addresses: Collection[str]) -> None:
    private = next((address for address in addresses if not is_public(address)), None)
    if private is not None:
        raise PrivateAddress(
            f"{target.rpartition(':')[0]} is the private address {private}; set allow_private_hosts = true in"
            " the configuration to allow it"
        )


def _connected(addresses: Collection[str], port: int, timeout: Any) -> socket.socket:
    """Return a socket to the first address that answers."""
    fault: OSError = OSError("the name has no address")
    for address in addresses:
        try:
            return socket.create_connection((address, port), timeout)
        except OSError as exc:
            fault = exc
    raise fault
