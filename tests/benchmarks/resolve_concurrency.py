"""Time of a model session compared with the ideal: 2,000 prompts of 0.2 s, 32 at a time, are 12.5 s.

Run: python tests/benchmarks/resolve_concurrency.py
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.plugins.registry import Registry
from support.openai_server import Reply, serve
from support.protocols import PROTOCOLS
from support.service import Request, Response, running

PROMPTS = 2_000
DELAY_S = 0.2
CONCURRENCY = 32
IDEAL_S = PROMPTS * DELAY_S / CONCURRENCY


def blocking(prompt: str) -> str:
    """An application that blocks, as most do."""
    time.sleep(DELAY_S)
    return "fine"


def measure(label: str, settings: Mapping[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, AnswerCache(Path(folder)) as cache:
        table = {**settings, "concurrency": CONCURRENCY, "cache": True}
        with open_model(label, table, Registry(), folder=Path(__file__).parent, cache=cache) as session:
            session.ask([Prompt(text="warm up")])
            before_kb = peak_kb()
            start = time.perf_counter()
            answers = session.ask([Prompt(text=f"question {number}") for number in range(PROMPTS)])
            elapsed = time.perf_counter() - start
            grown_mb = (peak_kb() - before_kb) / 1024
    faults = [answer.error for answer in answers if answer.error]
    print(
        f"{label:20} {elapsed:6.2f} s   {elapsed / IDEAL_S:5.3f} x ideal   {grown_mb:5.1f} MB more"
        f"   {len(faults)} errors"
        f" {faults[:1] or ''}"
    )


def peak_kb() -> int:
    """Return the most memory that this process has used, in KB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    print(f"ideal: {IDEAL_S:.2f} s")
    measure("scripted", {"host": "scripted", "default": "fine", "delay_s": DELAY_S})
    measure("python, blocking", {"host": "python", "target": "resolve_concurrency:blocking"})
    with serve() as service:
        service.default = Reply(delay_s=DELAY_S)
        measure("openai_compatible", {"host": "openai_compatible", "url": service.url, "llm_model_name": "m"})
        print(f"  requests at the same time: {service.peak}; connections: {service.connections}")
    for protocol in PROTOCOLS:
        if protocol.id in ("anthropic_llm", "ollama", "http", "amazon_bedrock_llm", "h2ogpte_llm"):
            with running(delayed(protocol.respond), protocol.asks, protocol.handler) as server:
                measure(protocol.id, {"host": protocol.id, **protocol.settings(server.url)})


def delayed(respond: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Return a service that takes its time."""

    def slow(request: Request) -> Response:
        time.sleep(DELAY_S)
        return respond(request)

    return slow


if __name__ == "__main__":
    main()
