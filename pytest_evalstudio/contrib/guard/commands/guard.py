"""`evalstudio guard`."""

from __future__ import annotations

import os
import signal
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, configuration_for, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option

if TYPE_CHECKING:
    import argparse
    import socket

    from fastapi import FastAPI

    from pytest_evalstudio.contrib.guard.journal import Journal
    from pytest_evalstudio.contrib.guard.measuring import Measures
    from pytest_evalstudio.contrib.guard.sources import GuardSource

MISSING = 'the guard service needs FastAPI: pip install "pytest-evalstudio[guard]"'
LOOPBACK = ("127.0.0.1", "localhost", "::1")
KEEP_ALIVE_S = 60
"""Seconds for which an unused connection is kept: longer than usual clients keep it."""
GRACE_S = 30
"""Seconds in which running requests may finish after SIGTERM."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=check)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    text = "Serve checks over HTTP: POST /v1/check with question, context and answer."
    command = actions.add_parser("serve", help=text, description=text)
    command.set_defaults(command=serve)
    command.add_argument("--config", required=True, metavar="FILE", help="guardrail configuration")
    command.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    command.add_argument(
        "--port", type=int, default=0, metavar="N", help="port to listen at (default: any that is free)"
    )
    command.add_argument(
        "--token-env",
        metavar="NAME",
        help="environment variable with the bearer token; required where --host is not loopback",
    )
    command.add_argument(
        "--max-kb", type=int, default=1000, metavar="N", help="longest request (default: %(default)s)"
    )
    command.add_argument(
        "--timeout",
        type=float,
        default=30.0,
        metavar="S",
        help="longest check, then it is stopped (default: %(default)g)",
    )
    command.add_argument(
        "--workers",
        type=int,
        default=2,
        metavar="N",
        help="processes that check; each loads the models (default: %(default)s)",
    )
    command.add_argument(
        "--max-connections",
        type=int,
        default=1024,
        metavar="N",
        help="connections at a time, fewer where the limit of descriptors is low (default: %(default)s)",
    )
    _add_common(command)
    text = "Check a guardrail configuration: evaluators, thresholds, models."
    command = actions.add_parser("check", help=text, description=text)
    command.set_defaults(command=check)
    command.add_argument("config", metavar="FILE", help="guardrail configuration")
    _add_common(command)


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--settings",
        metavar="FILE",
        help="evalstudio.toml with models, judge and calibrations, in place of the nearest one",
    )
    command.add_argument(
        "--cache",
        metavar="DIR",
        help="folder of stored vectors and judges' replies (default: none are stored)",
    )
    add_plugin_option(command)


def check(arguments: argparse.Namespace) -> int:
    """Open the guard and say what it checks."""
    source = _source(arguments)
    with source.open() as guard:
        say(f"{arguments.config}: fine; it checks {', '.join(guard.evaluators)}")
        names = guard.uncalibrated
    if names:
        say(f"not calibrated by people's labels: {', '.join(sorted(names))}")
    return FINE


def serve(arguments: argparse.Namespace) -> int:
    """Serve checks until SIGTERM or Ctrl-C."""
    from pytest_evalstudio.contrib.guard.journal import Journal
    from pytest_evalstudio.contrib.guard.watching import Watched
    from pytest_evalstudio.core.errors import ConfigurationError

    try:
        from pytest_evalstudio.contrib.guard.measuring import Measures
        from pytest_evalstudio.contrib.guard.server import connection_cap
        from pytest_evalstudio.contrib.guard.service import ServiceLimits, create_app
        from pytest_evalstudio.contrib.guard.workers import kill_all
    except ModuleNotFoundError:
        raise ConfigurationError(MISSING) from None
    _check_numbers(arguments)
    token = _token(arguments)
    # Before the configuration is read, so that a change meanwhile is noticed.
    watched = Watched(Path(arguments.config))
    _source(arguments).open().close()  # a wrong configuration is a usage error, before anything is served
    listening = _listening(arguments.host, arguments.port)
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    url = f"http://{host}:{listening.getsockname()[1]}"
    journal = Journal(lambda text: say(f"evalstudio: {text}", error=True, flush=True))
    journal.take_server_logs()
    cap = connection_cap(arguments.max_connections)
    if cap < arguments.max_connections:
        journal.note(f"at most {cap} connections at a time: raise the limit of descriptors (ulimit -n)")
    measures = Measures()
    # Workers that are replaced go on with the budget of judges that those before them spent from.
    run_id = f"guard {uuid.uuid4().hex}"
    app = create_app(
        lambda: _source(arguments, run_id=run_id),
        watched,
        journal=journal,
        measures=measures,
        token=token,
        limits=ServiceLimits(
            most_bytes=arguments.max_kb * 1000, check_s=arguments.timeout, workers=arguments.workers
        ),
        on_ready=lambda: say(f"the guard is ready at {url}", flush=True),
    )
    try:
        _run(app, listening, cap, journal, measures)
    finally:
        kill_all()
    return FINE


def _run(app: FastAPI, listening: socket.socket, cap: int, journal: Journal, measures: Measures) -> None:
    import uvicorn

    from pytest_evalstudio.contrib.guard.connections import ConnectionLimits
    from pytest_evalstudio.contrib.guard.server import GuardServer

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        server_header=False,
        ws="none",
    )
    # The server handles both signals while it runs, finishes what is running, and raises them again.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server = GuardServer(
        config, listening, limits=ConnectionLimits(count=cap), journal=journal, on_closed=measures.closed
    )
    server.run()


def _check_numbers(arguments: argparse.Namespace) -> None:
    from pytest_evalstudio.core.errors import ConfigurationError

    if arguments.max_kb < 1 or not arguments.timeout > 0:
        raise ConfigurationError("--max-kb must be 1 or more, --timeout more than 0")
    if arguments.workers < 1 or arguments.max_connections < 1:
        raise ConfigurationError("--workers and --max-connections must be 1 or more")


def _source(arguments: argparse.Namespace, *, run_id: str = "") -> GuardSource:
    from pytest_evalstudio.contrib.guard.sources import GuardSource
    from pytest_evalstudio.formats.guardrails import read_guardrails

    file = Path(arguments.config)
    return GuardSource(
        file=file,
        guardrails=read_guardrails(file),
        settings=configuration_for(arguments.config, arguments.settings),
        plugin_modules=tuple(arguments.plugin_modules),
        cache=Path(arguments.cache) if arguments.cache else None,
        # `check` opens one guard, and has no such option.
        workers=getattr(arguments, "workers", 1),
        run_id=run_id,
    )


def _token(arguments: argparse.Namespace) -> str:
    from pytest_evalstudio.core.errors import ConfigurationError

    if arguments.token_env is None:
        if arguments.host not in LOOPBACK:
            raise ConfigurationError(
                f"--host {arguments.host}: other machines could reach the guard; give --token-env NAME, a"
                " variable with the bearer token"
            )
        return ""
    token = os.environ.get(arguments.token_env, "").strip()
    if not token:
        raise ConfigurationError(f"--token-env {arguments.token_env}: the variable is not set or empty")
    return token


def _listening(host: str, port: int) -> socket.socket:
    import socket

    from pytest_evalstudio.core.errors import ConfigurationError

    if not 0 <= port <= 65_535:
        raise ConfigurationError(f"--port {port}: must be 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns off the delay of small packets, which costs 40 ms a request.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # A restart may use the port while connections of the process before it are still being closed.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as exc:
        listening.close()
        raise ConfigurationError(
            f"--host {host} --port {port}: {exc.strerror or exc}; choose another port, or leave --port out"
        ) from None
    return listening
