"""Requests to the guard service beside slow connections; run by `python tests/benchmarks/guard.py --slow N`.

Each client asks on a connection that it renews from time to time, all together at a given rate. Slow
connections come from another process: a third sends half of its headers, a third half of a body, a byte per
second each, and a third sends nothing. Those that the service closes are opened again. Rounds without and
with them alternate, so that other work on the machine meets both.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import multiprocessing
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

HALVES = (
    b"POST /v1/check HTTP/1.1\r\nHost: guard\r\nX-Slow: ",
    b"POST /v1/check HTTP/1.1\r\nHost: guard\r\nContent-Length: 100000\r\n\r\n",
    b"",
)
REQUESTS_PER_CONNECTION = 20
LONGEST_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Normal traffic and slow connections.

    Attributes:
        clients: normal ones.
        rate: requests per second of all of them.
        slow: slow connections.
        seconds: of a round.
        rounds: of each kind.
    """

    clients: int
    rate: float
    slow: int
    seconds: float
    rounds: int


@dataclass
class Outcome:
    """Durations of answered requests in seconds, and numbers of the others."""

    durations: list[float] = field(default_factory=list)
    refused: int = 0
    failed: int = 0

    def add(self, other: Outcome) -> None:
        self.durations += other.durations
        self.refused += other.refused
        self.failed += other.failed

    def described(self) -> str:
        p50 = statistics.median(self.durations) * 1000
        return (
            f"{len(self.durations)} answered, {self.refused} refused, {self.failed} failed;"
            f" p50 {p50:.1f} ms, p99 {self.p99 * 1000:.1f} ms"
        )

    @property
    def p99(self) -> float:
        return statistics.quantiles(self.durations, n=100)[98]


def measure_load(url: str, bodies: Sequence[dict[str, object]], load: Load) -> None:
    """Print latencies and failures without and with slow connections."""
    address = urlsplit(url)
    host, port = str(address.hostname), int(address.port or 0)
    contents = [json.dumps(body).encode() for body in bodies]
    asyncio.run(_traffic(host, port, contents, load))  # warm
    undisturbed, disturbed = Outcome(), Outcome()
    for _ in range(load.rounds):
        undisturbed.add(asyncio.run(_traffic(host, port, contents, load)))
        attackers = multiprocessing.Process(target=_attack, args=(host, port, load.slow), daemon=True)
        attackers.start()
        time.sleep(2)
        disturbed.add(asyncio.run(_traffic(host, port, contents, load)))
        attackers.kill()
        attackers.join()
    print(f"{load.clients} clients, {load.rate:g} requests/s, undisturbed: {undisturbed.described()}")
    print(f"with {load.slow} slow connections: {disturbed.described()}")
    print(f"p99 with slow connections: {disturbed.p99 / undisturbed.p99:.2f} x")


async def _traffic(host: str, port: int, contents: Sequence[bytes], load: Load) -> Outcome:
    outcome = Outcome()
    end = time.perf_counter() + load.seconds
    waiting = itertools.cycle(contents)
    pause_s = load.clients / load.rate

    async def client(number: int) -> None:
        rng = random.Random(number)
        connection = None
        await asyncio.sleep(rng.random() * pause_s)
        for count in itertools.count(rng.randrange(REQUESTS_PER_CONNECTION)):
            if time.perf_counter() > end:
                break
            start = time.perf_counter()
            try:
                async with asyncio.timeout(LONGEST_S):
                    if connection is None:
                        connection = await asyncio.open_connection(host, port)
                    status = await _status_of(*connection, next(waiting))
            except ConnectionRefusedError:
                outcome.refused += 1
            except (OSError, EOFError, TimeoutError):
                outcome.failed += 1
                connection = None
            else:
                duration = time.perf_counter() - start
                if status == 200:
                    outcome.durations.append(duration)
                else:
                    outcome.failed += 1
            if connection is not None and count % REQUESTS_PER_CONNECTION == 0:
                connection[1].close()
                connection = None
            await asyncio.sleep(pause_s * rng.uniform(0.5, 1.5))
        if connection is not None:
            connection[1].close()

    await asyncio.gather(*(client(number) for number in range(load.clients)))
    return outcome


async def _status_of(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, content: bytes) -> int:
    """Send a request and return the status of its answer."""
    writer.write(
        b"POST /v1/check HTTP/1.1\r\nHost: guard\r\nContent-Type: application/json\r\n"
        + f"Content-Length: {len(content)}\r\n\r\n".encode()
        + content
    )
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    size = next(int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:"))
    await reader.readexactly(size)
    return int(lines[0].split()[1])


def _attack(host: str, port: int, number: int) -> None:
    async def slow(half: bytes) -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(host, port)
                writer.write(half)
                while not writer.is_closing():
                    await asyncio.sleep(1)
                    writer.write(b"x" if half else b"")
                    await writer.drain()
                writer.close()
            await asyncio.sleep(0.1)

    async def all_slow() -> None:
        await asyncio.gather(*(slow(HALVES[each % len(HALVES)]) for each in range(number)))

    asyncio.run(all_slow())
