"""The guard service in a thread, as tests ask it over real HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from pytest_evalstudio.contrib.guard.connections import ConnectionLimits
from pytest_evalstudio.contrib.guard.journal import Journal
from pytest_evalstudio.contrib.guard.measuring import Measures
from pytest_evalstudio.contrib.guard.server import GuardServer
from pytest_evalstudio.contrib.guard.service import ServiceLimits, create_app
from pytest_evalstudio.contrib.guard.sources import GuardSource
from pytest_evalstudio.contrib.guard.watching import Watched
from pytest_evalstudio.formats.guardrails import read_guardrails
from support.children import LONGEST_WAIT_S, Child, Children

TESTS = str(Path(__file__).parents[1])
PLUGIN = "support.guard_plugin"
MANY = ConnectionLimits(count=1024)
ONE_WORKER = ServiceLimits(workers=1)


@dataclass
class Serving:
    """A service that runs.

    Attributes:
        url: its address.
        notes: lines about its configuration and about faults.
    """

    url: str
    file: Path
    notes: list[str] = field(default_factory=list)

    def figure(self, name: str) -> float:
        """Return one of the service's figures for Prometheus, 0 where it has not been counted."""
        prefix = f"evalstudio_guard_{name} "
        lines = self.get("/metrics").text.splitlines()
        return next((float(line.removeprefix(prefix)) for line in lines if line.startswith(prefix)), 0.0)

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
    file: Path,
    *,
    token: str = "",
    limits: ServiceLimits = ONE_WORKER,
    connections: ConnectionLimits = MANY,
    cache: Path | None = None,
) -> Iterator[Serving]:
    """Serve a guardrail configuration until the context ends; the models are warm when it begins."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    ready = threading.Event()
    running = Serving(f"http://127.0.0.1:{listening.getsockname()[1]}", file)
    journal = Journal(running.notes.append)
    measures = Measures()

    def source() -> GuardSource:
        return GuardSource(
            file=file,
            guardrails=read_guardrails(file),
            plugin_modules=(PLUGIN,),
            cache=cache,
            workers=limits.workers,
        )

    app = create_app(
        source,
        Watched(file),
        journal=journal,
        measures=measures,
        token=token,
        limits=limits,
        on_ready=ready.set,
    )
    server = GuardServer(
        uvicorn.Config(app, log_config=None, access_log=False, timeout_keep_alive=60, ws="none"),
        listening,
        limits=connections,
        journal=journal,
        on_closed=measures.closed,
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    if not ready.wait(LONGEST_WAIT_S):
        raise AssertionError(f"the guard was not ready within {LONGEST_WAIT_S} s: {running.notes}")
    try:
        yield running
    finally:
        server.should_exit = True
        thread.join(LONGEST_WAIT_S)
        if thread.is_alive():
            raise AssertionError("the guard did not stop")


def guard_service(
    folder: Path,
    children: Children,
    *options: str,
    evaluators: Sequence[str] = ("moody",),
    prepare: Callable[[], None] | None = None,
    program: Sequence[str] = (sys.executable, "-m", "pytest_evalstudio.cli"),
) -> tuple[Child, str]:
    """Start `evalstudio guard serve`; return its process, which leads a group, and its address.

    Args:
        prepare: called in the new process before the command.
        program: the command `evalstudio`.
    """
    configure(folder / "g.json", *evaluators)
    command = [*program, "guard", "serve", "--config", "g.json"]
    environment = {"PYTHONPATH": os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")])}
    process = children.start(
        [*command, "--plugin-module", PLUGIN, *options],
        folder,
        environment=environment,
        is_group=True,
        prepare=prepare,
    )
    process.wait_until(lambda: "\n" in process.out, "the address")
    return process, process.out.split()[-1]
