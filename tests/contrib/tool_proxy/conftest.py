"""A server of the Model Context Protocol, and the protocol's own client before the proxy."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

SERVER = """
import os
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("desk")
log = Path(__file__).with_suffix(".log")


def noted(name):
    with log.open("a") as file:
        file.write(name + "\\n")


@server.tool()
def fee(country: str) -> str:
    '''DESCRIPTION'''
    noted("fee")
    if country == "XX":
        raise ToolError(f"no such country: {country}")
    return f"The fee is 5.50 EUR to {country}, sk-proj-abcdefghijklmnopqrstuvwx1234567890."


@server.tool()
def count() -> int:
    noted("count")
    return len(log.read_text().splitlines())


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run("stdio")
"""
PLAIN_SERVER = """
import json
import sys
from pathlib import Path

log = Path(__file__).with_suffix(".log")
COUNTRY = {"type": "object", "properties": {"country": {"type": "string"}}, "required": ["country"]}
TOOLS = [
    {"name": "fee", "description": "DESCRIPTION", "inputSchema": COUNTRY},
    {"name": "count", "description": "", "inputSchema": {"type": "object", "properties": {}}},
]


def called(name, arguments):
    with log.open("a") as file:
        file.write(name + "\\n")
    if name == "fee":
        return f"The fee is 5.50 EUR to {arguments['country']}, sk-proj-abcdefghijklmnopqrstuvwx1234567890."
    return str(len(log.read_text().splitlines()))


for line in sys.stdin:
    message = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": message.get("id")}
    parameters = message.get("params", {})
    if message["method"] == "initialize":
        reply["result"] = {
            "protocolVersion": parameters["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "desk", "version": "1"},
        }
    elif message["method"] == "tools/list":
        reply["result"] = {"tools": TOOLS}
    elif message["method"] == "tools/call":
        text = called(parameters["name"], parameters["arguments"])
        reply["result"] = {"content": [{"type": "text", "text": text}], "isError": False}
    else:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    if "id" in message:
        print(json.dumps(reply), flush=True)
"""
"""The same tools over stdio without the library, which takes most of a second to import."""


@dataclass
class Session:
    """Replies of a server to the real client."""

    tools: list[dict[str, Any]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return ["".join(block.text for block in result.content) for result in self.results]


Calls = Sequence[tuple[str, dict[str, Any]]]


async def _session(transport: Any, calls: Calls, metadata: dict[str, Any] | None) -> Session:
    from mcp import Client

    session = Session()
    async with Client(transport) as client:
        page = await client.list_tools()
        session.tools = [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools
        ]
        for name, arguments in calls:
            session.results.append(await client.call_tool(name, arguments, meta=metadata))
    return session


@dataclass
class Desk:
    """A server in a folder, and clients that reach it by the proxy."""

    folder: Path
    errors: str = ""
    program: str = SERVER

    @property
    def server(self) -> Path:
        return self.folder / "server.py"

    def write(self, description: str = "Return the fee of a transfer.") -> None:
        self.server.write_text(self.program.replace("DESCRIPTION", description), encoding="utf-8")

    @property
    def called(self) -> list[str]:
        """Names of the tools that have run."""
        log = self.server.with_suffix(".log")
        return log.read_text().split() if log.exists() else []

    def arguments(self, *options: str) -> list[str]:
        return ["-m", "pytest_evalstudio.cli", "mcp-proxy", *options]

    def over_stdio(
        self, *options: str, calls: Calls, command: bool = True, metadata: dict[str, Any] | None = None
    ) -> Session:
        from mcp import StdioServerParameters, stdio_client

        program = ["--", sys.executable, str(self.server)] if command else []
        with (self.folder / "errors.txt").open("w+") as errors:
            parameters = StdioServerParameters(
                command=sys.executable, args=[*self.arguments(*options), *program], cwd=self.folder
            )
            session = asyncio.run(_session(stdio_client(parameters, errlog=errors), calls, metadata))
            errors.seek(0)
            self.errors = errors.read()
        return session

    def over_http(
        self, url: str, *options: str, calls: Calls, metadata: dict[str, Any] | None = None
    ) -> Session:
        from mcp.client.streamable_http import streamable_http_client

        with self.proxy("--http", url, *options) as proxy_url:
            return asyncio.run(_session(streamable_http_client(proxy_url), calls, metadata))

    @contextlib.contextmanager
    def proxy(self, *options: str) -> Iterator[str]:
        """Run the proxy over HTTP, and yield its URL."""
        with (self.folder / "errors.txt").open("w+") as errors:
            process = subprocess.Popen(
                [sys.executable, *self.arguments(*options)],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
            assert process.stdout is not None
            try:
                line = process.stdout.readline()
                assert line.startswith("the tool proxy is ready at "), (
                    self.folder / "errors.txt"
                ).read_text()
                yield line.split()[-1]
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait()
                process.stdout.close()
                errors.seek(0)
                self.errors = errors.read()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    pytest.importorskip("mcp")
    desk = Desk(tmp_path)
    desk.write()
    return desk


@pytest.fixture
def plain_desk(tmp_path: Path) -> Desk:
    """A server without the library of the protocol, before the library's client."""
    pytest.importorskip("mcp")
    desk = Desk(tmp_path, program=PLAIN_SERVER)
    desk.write()
    return desk


@pytest.fixture
def running(desk: Desk) -> Iterator[Callable[[], str]]:
    """Start the server over HTTP and return its URL."""
    processes: list[subprocess.Popen[bytes]] = []

    def start() -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([sys.executable, str(desk.server), str(port)], stderr=subprocess.DEVNULL)
        processes.append(process)
        for _ in range(1_200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        return f"http://127.0.0.1:{port}/mcp"

    yield start
    for process in processes:
        process.terminate()
        process.wait()


def recorded(path: Path) -> list[dict[str, Any]]:
    """Return the exchanges of a recording."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
