"""`evalstudio mcp-proxy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, say

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.tool_proxy.exchange import Settings
    from pytest_evalstudio.core.disturbances import Disturbance, DisturbanceKind

MISSING = 'a proxy over HTTP needs httpx, starlette and uvicorn: pip install "pytest-evalstudio[guard]"'


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    _add_recordings(parser)
    _add_disturbances(parser)
    _add_definitions(parser)
    _add_server(parser)


def _add_recordings(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--record", metavar="FILE", help="append calls and their results to a file")
    source.add_argument(
        "--replay",
        metavar="FILE",
        help="answer from a recording; COMMAND or URL is called for --live tools alone",
    )
    parser.add_argument(
        "--live",
        action="append",
        default=[],
        metavar="TOOL",
        help="with --replay: call this tool where no recorded call fits; name only tools that change nothing",
    )


def _add_disturbances(parser: argparse.ArgumentParser) -> None:
    kinds = "KIND[:TOOL[:CALLS[:SEED]]]"
    parser.add_argument(
        "--break",
        dest="breaks",
        action="append",
        default=[],
        metavar=kinds,
        help="break results: timeout, error, truncated or empty, of all tools or those of a pattern, of all"
        " calls or the first ones",
    )
    parser.add_argument(
        "--poison",
        dest="poisons",
        action="append",
        default=[],
        metavar=kinds,
        help="poison results: instruction (with a canary) or false_fact (other numbers)",
    )
    parser.add_argument(
        "--follow-baggage",
        action="store_true",
        help="disturb a call as its W3C Baggage says, which eval runs send with a disturbed question",
    )


def _add_definitions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pins",
        metavar="FILE",
        help="compare the definitions of tools with a file, written at the first use",
    )
    parser.add_argument(
        "--refuse-changed", action="store_true", help="with --pins: leave out tools that are not as pinned"
    )


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="S",
        help="a call that is to time out gets an error then (default: %(default)g)",
    )
    parser.add_argument(
        "--max-calls",
        type=int,
        default=1000,
        metavar="N",
        help="calls of tools at most (default: %(default)s)",
    )
    parser.add_argument(
        "--http", metavar="URL", help="the server has this URL, and the proxy one on 127.0.0.1"
    )
    parser.add_argument(
        "--kind",
        choices=("mcp", "http"),
        default="mcp",
        help="of the server at the URL: MCP, or tools by plain HTTP (default: %(default)s)",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port of the proxy (default: any that is free)"
    )
    parser.add_argument(
        "program", nargs="*", metavar="COMMAND", help="after --: program of the server, and arguments"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client ends, or over HTTP until SIGTERM or Ctrl-C."""
    settings = _settings(arguments)
    if arguments.http:
        is_complete = _serve_http(arguments, settings)
    else:
        is_complete = _serve_stdio(arguments, settings)
    if not is_complete:
        say("evalstudio: the server ended before the client", error=True)
    is_changed = settings.pins is not None and bool(settings.pins.changes)
    return FINDINGS if is_changed or not is_complete else FINE


def _serve_stdio(arguments: argparse.Namespace, settings: Settings) -> bool:
    from pytest_evalstudio.contrib.tool_proxy.stdio import StdioProxy

    is_needed = settings.recording is None or bool(settings.live_tools)
    command = arguments.program if is_needed else ()
    # Not those of sys, and never closed: a thread that waits for input holds the lock of its file.
    source, target = open(0, "rb", closefd=False), open(1, "wb", closefd=False)  # noqa: SIM115
    return StdioProxy(command, settings, source, target).run()


def _serve_http(arguments: argparse.Namespace, settings: Settings) -> bool:
    from pytest_evalstudio.core.errors import ConfigurationError

    try:
        from pytest_evalstudio.contrib.tool_proxy.http_proxy import serve
    except ModuleNotFoundError:
        raise ConfigurationError(MISSING) from None
    serve(
        arguments.http,
        settings,
        is_mcp=arguments.kind == "mcp",
        port=arguments.port,
        ready=lambda url: say(f"the tool proxy is ready at {url}", flush=True),
    )
    return True


def _settings(arguments: argparse.Namespace) -> Settings:
    from pytest_evalstudio.contrib.tool_proxy.exchange import Settings
    from pytest_evalstudio.contrib.tool_proxy.pins import Pins
    from pytest_evalstudio.contrib.tool_proxy.recording import Recorder, read_recording
    from pytest_evalstudio.core.disturbances import BREAKS, POISONS

    _check(arguments)
    disturbances = [
        *_disturbances("--break", arguments.breaks, BREAKS),
        *_disturbances("--poison", arguments.poisons, POISONS),
    ]
    return Settings(
        note=lambda text: say(f"evalstudio: {text}", error=True, flush=True),
        recorder=Recorder(Path(arguments.record)) if arguments.record else None,
        recording=read_recording(Path(arguments.replay)) if arguments.replay else None,
        live_tools=tuple(arguments.live),
        disturbances=tuple(disturbances),
        follows_baggage=arguments.follow_baggage,
        pins=Pins.read(Path(arguments.pins)) if arguments.pins else None,
        refuses_changed=arguments.refuse_changed,
        timeout_s=arguments.timeout,
        max_calls=arguments.max_calls,
    )


def _check(arguments: argparse.Namespace) -> None:
    """Check that options go together.

    Raises:
        ConfigurationError: if they do not.
    """
    from pytest_evalstudio.core.errors import ConfigurationError

    if arguments.http and arguments.program:
        raise ConfigurationError("give the program of a server or --http URL, not both")
    needs_server = not arguments.replay or arguments.live
    if needs_server and not arguments.http and not arguments.program:
        raise ConfigurationError("no server is named; give its program after --, or --http URL")
    if arguments.kind == "http" and (not arguments.http or arguments.pins):
        raise ConfigurationError("--kind http needs --http URL, and has no definitions of tools for --pins")
    if arguments.live and not arguments.replay:
        raise ConfigurationError("--live needs --replay; without it, all tools are called")
    if arguments.refuse_changed and not arguments.pins:
        raise ConfigurationError("--refuse-changed needs --pins FILE")
    if arguments.max_calls < 1 or not 0 <= arguments.timeout <= 3600:
        raise ConfigurationError("--max-calls must be 1 or more, --timeout 0 to 3600")
    if not 0 <= arguments.port <= 65_535:
        raise ConfigurationError(f"--port {arguments.port}: must be 0 to 65535")


def _disturbances(option: str, texts: list[str], kinds: tuple[DisturbanceKind, ...]) -> list[Disturbance]:
    from pytest_evalstudio.core.disturbances import parse_disturbance
    from pytest_evalstudio.core.errors import ConfigurationError

    parsed = [parse_disturbance(text, option) for text in texts]
    for each in parsed:
        if each.kind not in kinds:
            known = ", ".join(kinds)
            raise ConfigurationError(f"{option} {each.kind}: choose one of {known}")
    return parsed
