"""`evalstudio mcp`."""

from __future__ import annotations

import importlib.util
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.core.defaults import BASELINE_FILE, REPORT_FOLDER
from pytest_evalstudio.core.errors import ConfigurationError, ResourceMissing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pytest_evalstudio.contrib.agent_loop.workspace import Workspace
    from pytest_evalstudio.core.agent_part import AgentPart

TOKEN_VARIABLE = "EVALSTUDIO_MCP_TOKEN"
MIN_TOKEN_CHARS = 16


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "--folder", default=".", metavar="DIR", help="project; files outside are refused (default: this one)"
    )
    parser.add_argument(
        "--report", default=REPORT_FOLDER, metavar="DIR", help="report of its runs (default: %(default)s)"
    )
    parser.add_argument(
        "--baseline",
        default=BASELINE_FILE,
        metavar="FILE",
        help="baseline that its runs are compared with, if there is one (default: %(default)s)",
    )
    parser.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help=f"serve at http://127.0.0.1:PORT/mcp, with the token of ${TOKEN_VARIABLE} or a new one that is"
        " printed; without it, over standard input and output",
    )
    parser.add_argument("--max-runs", type=int, default=50, metavar="N", help="runs (default: %(default)s)")
    parser.add_argument(
        "--max-tests", type=int, default=500, metavar="N", help="tests of a run (default: %(default)s)"
    )
    parser.add_argument(
        "--timeout", type=float, default=900.0, metavar="S", help="seconds of a run (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client ends."""
    if importlib.util.find_spec("mcp") is None:
        fact = "evalstudio mcp needs the mcp package"
        raise ResourceMissing(f'{fact}: pip install "pytest-evalstudio[mcp]"', brief=fact)
    workspace = _workspace(arguments)
    from pytest_evalstudio.contrib.agent_loop.server import TokenRequired, build_server

    server = build_server(workspace)
    if arguments.http is None:
        server.run("stdio")
        return FINE
    import uvicorn

    if (token := os.environ.get(TOKEN_VARIABLE)) is None:
        token = secrets.token_urlsafe(24)
        say(f"token: {token}", error=True)
    if len(token) < MIN_TOKEN_CHARS:
        raise ConfigurationError(
            f"{TOKEN_VARIABLE}: is shorter than {MIN_TOKEN_CHARS} characters; choose another"
        )
    say(f"serving at http://127.0.0.1:{arguments.http}/mcp", error=True)
    uvicorn.run(
        TokenRequired(server.streamable_http_app(), token),
        host="127.0.0.1",
        port=arguments.http,
        log_level="error",
    )
    return FINE


def _workspace(arguments: argparse.Namespace) -> Workspace:
    from pytest_evalstudio.contrib.agent_loop.workspace import RunLimits, Workspace

    try:
        folder = Path(arguments.folder).resolve(strict=True)
        is_folder = folder.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        is_folder = False
    if not is_folder:
        raise ConfigurationError(f"--folder {arguments.folder}: there is no such folder")
    for name in ("max_runs", "max_tests", "timeout"):
        if getattr(arguments, name) <= 0:
            raise ConfigurationError(f"--{name.replace('_', '-')}: must be above 0")
    return Workspace(
        folder=folder,
        report=folder / arguments.report,
        baseline=folder / arguments.baseline,
        parts=_parts(folder),
        limits=RunLimits(runs=arguments.max_runs, tests=arguments.max_tests, seconds=arguments.timeout),
    )


def _parts(folder: Path) -> tuple[AgentPart, ...]:
    """Return what the optional parts bring."""
    from pytest_evalstudio.core.plugins.contrib import contribs, loaded

    makers: list[Callable[[Path], AgentPart | None]] = [
        loaded(contrib.agent_part) for contrib in contribs() if contrib.agent_part
    ]
    return tuple(part for make in makers if (part := make(folder)) is not None)
