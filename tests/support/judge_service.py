"""A judge in a process of its own: for benchmarks, which measure the process that asks."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import NamedTuple

from support.openai_server import Reply, serve


class Asked(NamedTuple):
    """Requests to a service; times are monotonic seconds, the same for all processes of a machine."""

    calls: int
    peak: int
    first: float
    last: float


@contextmanager
def judge_service(replied: Callable[[str], Reply]) -> Iterator[tuple[str, Callable[[], Asked]]]:
    """Start a chat service on loopback; yield its address, and a function that returns what it was asked.

    Args:
        replied: reply to a prompt; a function of a module.
    """
    parent_end, child_end = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(child_end, replied), daemon=True
    )
    process.start()
    url: str = parent_end.recv()

    def traffic() -> Asked:
        parent_end.send("asked")
        return Asked(*parent_end.recv())

    try:
        yield url, traffic
    finally:
        parent_end.send("stop")
        process.join()


def _serve(pipe: Connection, replied: Callable[[str], Reply]) -> None:
    with serve() as service:
        service.default = replied
        pipe.send(service.url)
        while pipe.recv() != "stop":
            times = service.times or [0.0]
            pipe.send((len(service.requests), service.peak, times[0], times[-1]))
