"""Real servers from the package index, started by a test on loopback."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

from support.children import Child

START_S = 240.0
"""Phoenix migrates its data base through all versions first."""


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(server: Child, url: str) -> None:
    """Wait until a server answers at a URL."""
    end = time.monotonic() + START_S
    while not _is_there(url):
        assert not server.has_ended, server.err[-2_000:]
        assert time.monotonic() < end, f"{url} is not there after {START_S} s"
        time.sleep(0.5)


def _is_there(url: str) -> bool:
    import httpx

    try:
        return httpx.get(url, timeout=5).status_code < 500
    except httpx.HTTPError:
        return False


def command(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sys.executable).with_name(name))


def search_path() -> str:
    """Return the path with the programs of this environment, which a server starts."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
