"""The guard service in a thread, as tests ask it over real HTTP."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import httpx
import uvicorn

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.guard.checking import Guard
from pytest_evalstudio.guard.service import ServiceLimits, create_app
from pytest_evalstudio.guard.watching import Watched
from support.children import LONGEST_WAIT_S


@evaluator("moody", name="Moody", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Moody:
    """Fails, waits or raises as the answer says."""

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("mood", threshold=0.5, primary=True),)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        outcomes = []
        for case in cases:
            if "wait" in case.actual_output:
                time.sleep(0.5)
            if "raise" in case.actual_output:
                raise RuntimeError(f"secret of the machine, and {case.actual_output}")
            outcomes.append(Outcome.score({"mood": 0.0 if "bad" in case.actual_output else 1.0}))
        return outcomes


@dataclass
class Serving:
    """A service that runs.

    Attributes:
        url: its address.
        notes: what it said of its configuration.
    """

    url: str
    file: Path
    notes: list[str] = field(default_factory=list)

    def post(self, path: str, body: Any, **more: Any) -> httpx.Response:
        return httpx.post(f"{self.url}{path}", json=body, timeout=LONGEST_WAIT_S, **more)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", timeout=LONGEST_WAIT_S, **more)


def configure(file: Path, *ids: str, optional: Sequence[str] = (), **thresholds: dict[str, float]) -> Path:
    """Write a guardrail configuration."""
    content = {"evaluator_ids": list(ids), "calibrated_thresholds": thresholds, "optional": list(optional)}
    file.write_text(json.dumps(content))
    return file


@contextlib.contextmanager
def serving(
    file: Path, *, token: str = "", limits: ServiceLimits | None = None, cache: Path | None = None
) -> Iterator[Serving]:
    """Serve a guardrail configuration until the context ends; the models are warm when it begins."""
    registry = Registry()
    registry.add_evaluator(Moody)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    ready = threading.Event()
    running = Serving(f"http://127.0.0.1:{listening.getsockname()[1]}", file)
    app = create_app(
        lambda: Guard(file, registry=registry, cache=cache),
        Watched(file),
        token=token,
        limits=limits,
        on_ready=ready.set,
        on_note=running.notes.append,
    )
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_keep_alive=60))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    if not ready.wait(LONGEST_WAIT_S):
        raise AssertionError(f"the guard was not ready within {LONGEST_WAIT_S} s")
    try:
        yield running
    finally:
        server.should_exit = True
        thread.join(LONGEST_WAIT_S)
        listening.close()
        if thread.is_alive():
            raise AssertionError("the guard did not stop")
